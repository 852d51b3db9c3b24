# SPDX-License-Identifier: Apache-2.0
# Has SPIN search all that chain.pml, position.pml, ring.pml and memo.pml can do, for small numbers, and sees that each fault that can be switched on
# in them is found.
#   check.sh [--large]     larger numbers as well: some minutes, and 2 GB
# CC: a C compiler. Status 0: all as it should be; 77: spin is not installed.
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
model=$here/chain.pml
large=${1:-}
passed=0
failed=0

command -v spin >/dev/null || {
    echo "spin is not installed: the model is not checked"
    exit 77
}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

# search "FLAGS OF THE COMPILER" "OPTIONS OF THE VERIFIER" DEFINITION…: leaves what was said in $work/log
search() {
    flags=$1
    options=$2
    shift 2
    rm -f "$work"/pan* "$work"/*.trail
    # shellcheck disable=SC2086 # flags and options are words
    (cd "$work" && spin -a "$@" "$model" && ${CC:-cc} $flags -w -DCOLLAPSE -DMEMLIM=4000 -o pan pan.c && ./pan -E $options -m50000 -w23) \
        >"$work/log" 2>&1
}

number() {
    sed -n "s/$1/\1/p" "$work/log" | head -n 1
}

# judge NAME DEFINITION…: is nothing wrong, and has all been seen?
judge() {
    name=$1
    shift
    if [ "$(number '.*errors: \([0-9]*\)$')" = 0 ] && ! grep -qE 'not completed|depth too small|out of memory' "$work/log"; then
        passed=$((passed + 1))
        printf 'ok   %-8s %-36s %9d states %7s s\n' "$name" "$*" "$(number '^ *\([0-9]*\) states, stored.*')" \
            "$(number '.*elapsed time \([0-9.]*\) seconds')"
    else
        failed=$((failed + 1))
        echo "not ok - $name $*: something is wrong with the protocol, or with its model"
        tail -n 25 "$work/log"
    fi
}

# What must always be so, and is shown when nothing can move any more.
holds() {
    search '-O2 -DSAFETY -DNOCLAIM' '' "$@"
    judge holds "$@"
}

# In each run all is shown in the end, in whatever order the processes run.
settles() {
    search -O2 -a "$@"
    judge settles "$@"
}

# finds FAULT DEFINITION…
finds() {
    fault=$1
    shift
    search "${flags_to_find:--O0 -DSAFETY -DNOCLAIM}" "${options_to_find:-}" "-D$fault" "$@"
    found=$(number '^pan:[0-9]*: \(.*\) (at depth.*')
    case $found in
    'assertion violated'* | 'acceptance cycle'*)
        passed=$((passed + 1))
        printf 'ok   finds    %-28s %s\n' "$fault" "$found"
        ;;
    *)
        failed=$((failed + 1))
        echo "not ok - the model does not find $fault with $*"
        tail -n 25 "$work/log"
        ;;
    esac
}

holds -DROWS=2 -DCUTS=1
holds -DROWS=3 -DCUTS=0 -DKILLS=1
holds -DROWS=4 -DCUTS=0 -DPLACES=3
holds -DROWS=2 -DCUTS=0 -DLATE=1
settles -DROWS=3 -DCUTS=0
settles -DROWS=2 -DCUTS=0 -DKILLS=1
if [ "$large" = --large ]; then
    holds -DROWS=3 -DCUTS=1
    holds -DROWS=2 -DCUTS=1 -DKILLS=1
    holds -DROWS=2 -DCUTS=2
    settles -DROWS=2 -DCUTS=1
fi

finds FROM_NOT_CHECKED -DROWS=2 -DCUTS=0 -DLATE=1
finds RELEASE_AT_ACK -DROWS=2 -DCUTS=1
finds NEEDED_MAY_GO -DROWS=3 -DCUTS=1
finds VIEW_RELEASED -DROWS=2 -DCUTS=1
finds TAKEOVER_KEEPS_TIP -DROWS=2 -DCUTS=1
finds ACK_OF_OTHERS_ENDS_NOTHING -DROWS=2 -DCUTS=0 -DLATE=1
finds FULL_IS_NOT_CALLED -DROWS=3 -DCUTS=0
finds NO_FENCE -DROWS=2 -DCUTS=1
finds NUMBER_AGAIN -DROWS=2 -DCUTS=1
finds FROM_IS_BASE -DROWS=2 -DCUTS=1
finds LEARNT_COUNTS_AS_SEEN -DROWS=2 -DCUTS=1
finds TIP_STAYS -DROWS=2 -DCUTS=1
# Here by what is to come in the end alone: -A has assertions hold.
flags_to_find=-O0
options_to_find='-a -A'
finds FULL_IS_NOT_CALLED -DROWS=3 -DCUTS=0

model=$here/position.pml
flags_to_find=
options_to_find=
holds -DBEGINS=5 -DCRASHES=1
holds -DBEGINS=4 -DCRASHES=2 -DKILLS=1
holds -DBEGINS=4 -DCRASHES=1 -DASYNC
if [ "$large" = --large ]; then
    holds -DBEGINS=4 -DCRASHES=2 -DKILLS=1 -DASYNC
    holds -DBEGINS=5 -DCRASHES=1 -DKILLS=1
fi

finds NO_CAP -DBEGINS=5 -DCRASHES=1
finds CAP_TOO_LOW -DBEGINS=2 -DCRASHES=0
finds IN_PROGRESS_SEEN -DBEGINS=3 -DCRASHES=0
finds NO_INCARNATION -DBEGINS=4 -DCRASHES=1 -DASYNC
finds TAILER_GOES_ON -DBEGINS=5 -DCRASHES=1 -DKILLS=1

model=$here/ring.pml
holds -DCHANGES=2
holds -DCHANGES=2 -DCUTS=1 -DKILLS=0
holds -DCHANGES=3 -DKILLS=0
if [ "$large" = --large ]; then
    holds -DCHANGES=2 -DCUTS=1
    holds -DCHANGES=2 -DKILLS=2
    holds -DCHANGES=3
fi

finds NOTIFY_FIRST -DCHANGES=2
finds HEAD_IN_PARTS -DCHANGES=2
finds HEAD_READ_LATE -DCHANGES=2
finds INTEREST_LATE -DCHANGES=2
finds NOT_COMPARED -DCHANGES=2
finds SUCCESSOR_GOES_ON -DCHANGES=2
finds NOBODY_IS_TOLD -DCHANGES=2
finds TAIL_LATE -DCHANGES=3
finds NO_CHECK_AFTER -DCHANGES=3
finds NO_BOOT -DCHANGES=2 -DCUTS=1

model=$here/memo.pml
holds -DROWS=1
holds -DROWS=1 -DNO_CURSOR
holds -DROWS=1 -DEVICTIONS=1 -DLEAVES=1
holds -DROWS=1 -DENTRIES=1 -DFAILS=1
holds -DROWS=1 -DENTRIES=1 -DLOST=1
holds -DROWS=0 -DKILLS=1
holds -DROWS=1 -DKILLS=1 -DPAGES=0 -DREADERS=2
settles -DROWS=1
settles -DROWS=0 -DKILLS=1
if [ "$large" = --large ]; then
    holds -DROWS=2
    holds -DROWS=1 -DKILLS=1
    holds -DROWS=1 -DPAGES=1 -DREADERS=2
    holds -DROWS=1 -DEVICTIONS=1 -DLOST=1
    # What the code does beyond need.
    holds -DROWS=1 -DEVICTIONS=1 -DLEAVES=1 -DHOLD_LATE
    holds -DROWS=1 -DKEEP_UNCHECKED
fi

flags_to_find='-O0 -DSAFETY -DNOCLAIM'
finds STAMP_LATE -DROWS=1
finds FRESH_STAMPS -DROWS=1
finds NOT_CURRENT_AT_USE -DROWS=1
finds CURSOR_NOT_COMPARED -DROWS=1
finds PROPERTY_NOT_COMPARED -DROWS=1
finds ANSWER_NOT_COMPARED -DROWS=1 -DNO_CURSOR
finds FAILED_IS_KEPT -DROWS=1 -DFAILS=1
finds NO_OWN_HOLD -DROWS=1 -DEVICTIONS=2 -DLEAVES=1
finds NOT_FRESH -DROWS=1 -DENTRIES=1 -DEVICTIONS=1 -DLOST=1
finds NO_NUMBER -DROWS=1
finds ARM_LATE -DROWS=1
finds END_NOT_TOLD -DROWS=1
finds NOT_A_LEASE -DROWS=1 -DKILLS=1
finds WAKE_FIRST -DROWS=1 -DKILLS=1
finds WAKE_ONLY -DROWS=1 -DKILLS=1 -DPAGES=1 -DREADERS=1

echo "# tests: $passed passed, $failed failed"
[ "$failed" = 0 ]
