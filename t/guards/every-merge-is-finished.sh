# SPDX-License-Identifier: Apache-2.0
# No file has the markers that git leaves where two changes of the same lines met. Several tools accept them silently: configure printed them.
. "${srcdir:-.}/t/guards/guard.sh"

set -- $(find * -type f ! -path 'build*' ! -path 'autom4te.cache/*' ! -path '*/node_modules/*' ! -path 't/run/*' ! -name '*.o' ! -name '*.log' ! -name '*~' | sort)
printf '%s\n' "$@" | list "files"
grep -LE '^(<<<<<<< |>>>>>>> )' "$@" | list "files without markers of a merge"
all_in "files" "files without markers of a merge" "a merge is not finished there"
guard_end
