# SPDX-License-Identifier: Apache-2.0
# What the guards share: two lists are compared, and a list that is empty is itself a failure.
# Sourced; $srcdir is the top of the sources.
LC_ALL=C
export LC_ALL
guard_failures=0
guard_checks=0
guard_dir=$(mktemp -d) || exit 99
trap 'rm -rf "$guard_dir"' EXIT
cd "${srcdir:-.}" || exit 99

complain() {
    echo "$*"
    guard_failures=$((guard_failures + 1))
}

# The file of a list; its name may have slashes and spaces.
file_of() {
    echo "$guard_dir/$(echo "$1" | tr '/ ' '__').list"
}

# list NAME <lines: keep them, sorted, each once; an empty list has nothing to check and fails
list() {
    sort -u >"$(file_of "$1")"
    [ -s "$(file_of "$1")" ] || complain "nothing was found for \"$1\": this guard checks nothing"
}

# all_in A B SENTENCE: each line of A must be in B
all_in() {
    guard_checks=$((guard_checks + $(wc -l <"$(file_of "$1")")))
    comm -23 "$(file_of "$1")" "$(file_of "$2")" >"$guard_dir/missing"
    while IFS= read -r line; do
        complain "$line: $3"
    done <"$guard_dir/missing"
}

# The text of Makefile.am and of every fragment that it includes, at any depth.
makefiles() {
    makefile_text Makefile.am
}

makefile_text() {
    cat "$1"
    sed -n 's|^include \$(srcdir)/||p' "$1" | while IFS= read -r fragment; do
        makefile_text "$fragment"
    done
}

guard_end() {
    [ "$guard_failures" = 0 ] || echo "not ok - $(basename "$0" .sh)"
    echo "# tests: $((guard_checks > guard_failures ? guard_checks - guard_failures : 0)) passed, $guard_failures failed"
    [ "$guard_failures" = 0 ] && [ "$guard_checks" -gt 0 ]
    exit
}
