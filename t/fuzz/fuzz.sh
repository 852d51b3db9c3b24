# SPDX-License-Identifier: Apache-2.0
# Makes up inputs for fuzz targets by libFuzzer, each for TIME seconds (60), from those kept in t/fuzz/seeds; without words for all of
# them. Everything is built once more for that, by clang, in t/fuzz/clang. What breaks a target stays there, and belongs among the seeds.
set -u

srcdir=$(cd "$(dirname "$0")/../.." && pwd)
[ -n "${CLANG:-}" ] || { echo "make fuzz needs clang with libFuzzer, and configure did not find it (Debian: clang)."; exit 1; }
echo 'int LLVMFuzzerTestOneInput(void){return 0;}' | "$CLANG" -fsanitize=fuzzer,address,undefined -x c - -o /dev/null ||
    { echo "$CLANG has no libFuzzer, or no sanitizers (Debian: libclang-rt-dev of its version)."; exit 1; }

mkdir -p t/fuzz/clang && cd t/fuzz/clang || exit 1
[ -f Makefile ] || "$srcdir/configure" -q --without-httpd CC="$CLANG" CPPFLAGS=-DFUZZER \
    CFLAGS='-g -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined' || exit 1
${MAKE:-make} -s fuzz-targets LDFLAGS=-fsanitize=fuzzer || exit 1
failed=0
known=" $(sed 's|t/fuzz/||g; s|_fuzz||g' t/fuzz/targets) "
for word in "$@"; do
    case "$known" in
    *" $word "*) ;;
    *) echo "make fuzz knows no \"$word\"; there are$known"; exit 1 ;;
    esac
done
for target in $(cat t/fuzz/targets); do
    name=$(basename "$target" _fuzz)
    case " ${*:-$name} " in
    *" $name "*) ;;
    *) continue ;;
    esac
    mkdir -p "inputs/$name"
    echo "$name: ${TIME:-60} seconds"
    "$target" -max_total_time="${TIME:-60}" -timeout=10 -artifact_prefix="$name-" "inputs/$name" "$srcdir/t/fuzz/seeds/$name" >"$name.log" 2>&1 ||
        { tail -n 40 "$name.log"; failed=1; }
done
exit "$failed"
