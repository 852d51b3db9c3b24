# SPDX-License-Identifier: Apache-2.0
# Tests in shell, for the tests of the packages. Sourced.
passed=0
failed=0

# ok SENTENCE COMMAND…: a test; what the command says is shown if it fails
ok() {
    sentence=$1
    shift
    if said=$("$@" 2>&1); then
        echo "ok - $sentence"
        passed=$((passed + 1))
    else
        echo "not ok - $sentence"
        printf '%s\n' "$said" | sed 's/^/#   /'
        failed=$((failed + 1))
    fi
}

# is GOT WANTED
is() {
    echo "got \"$1\" instead of \"$2\""
    [ "$1" = "$2" ]
}

# The last command of a script: how many tests there were, and whether all passed.
all_passed() {
    echo "# tests: $passed passed, $failed failed"
    [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
}
