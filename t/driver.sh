# SPDX-License-Identifier: Apache-2.0
# Runs one script of `make check`, as automake's manual says under "Custom Test Drivers". It also prints which tests of a script failed: the
# last lines of a log name them.
while [ "$1" != -- ]; do
    case $1 in
    --test-name) name=$2 ;;
    --log-file) log=$2 ;;
    --trs-file) trs=$2 ;;
    esac
    shift 2
done
shift
trap 'rm -f "$log" "$trs"; exit 130' INT TERM HUP

"$@" >"$log" 2>&1
code=$?
again=yes
case $code in
0) result=PASS again=no ;;
77) result=SKIP again=no ;;
99) result=ERROR ;;
*) result=FAIL ;;
esac
echo "$result $name (exit status: $code)" >>"$log"
echo "$result: $name"
case $result in
FAIL | ERROR) grep -aE '^(not ok |# tests: )' "$log" | cut -c 1-200 ;;
esac
{
    echo ":test-result: $result"
    echo ":global-test-result: $result"
    echo ":recheck: $again"
    [ "$result" = PASS ] && echo ":copy-in-global-log: no" || echo ":copy-in-global-log: yes"
} >"$trs"
