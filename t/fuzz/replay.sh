# SPDX-License-Identifier: Apache-2.0
# Feeds every fuzz target that is built the inputs kept for it, t/fuzz/seeds/NAME/*: what broke it once must not break it again.
passed=0
failed=0
for target in $FUZZ_TARGETS; do
    name=$(basename "$target" _fuzz)
    for seed in "$abs_srcdir/t/fuzz/seeds/$name"/*; do
        if [ ! -f "$seed" ]; then
            echo "not ok - $name: there are no inputs in t/fuzz/seeds/$name"
            failed=$((failed + 1))
        elif "$abs_builddir/$target" "$seed"; then
            passed=$((passed + 1))
        else
            echo "not ok - $name: fails on $seed"
            failed=$((failed + 1))
        fi
    done
done
echo "# tests: $passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" != 0 ]
