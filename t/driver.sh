# SPDX-License-Identifier: Apache-2.0
# automake's driver of tests, which also prints which tests of a failed script failed: the last lines of a log name them.
sh "$abs_srcdir/build-aux/test-driver" "$@"
code=$?
while [ $# -gt 0 ]; do
    case $1 in
    --log-file) log=$2 ;;
    --trs-file) trs=$2 ;;
    esac
    shift
done
grep -qE '^:test-result: (PASS|SKIP)' "$trs" || grep -aE '^(not ok |# tests: )' "$log" | cut -c 1-200
exit "$code"
