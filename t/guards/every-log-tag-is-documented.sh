# SPDX-License-Identifier: Apache-2.0
# Every log tag of the source, VLTNO(nnnnn), is used in one place only and stands in docs/log-messages.md, and the other way round.
. "${srcdir:-.}/t/guards/guard.sh"

find mod_vault feeds -name '*.[ch]' -exec cat {} + | grep -oE 'VLTNO\( *[0-9]+ *\)' | grep -oE '[0-9]+' | sed 's/^/VLT/' >"$guard_dir/uses"
list "the source" <"$guard_dir/uses"
cat docs/log-messages.md | grep -oE '\bVLT[0-9]+' | list "docs/log-messages.md"

all_in "the source" "docs/log-messages.md" "this log tag is not in docs/log-messages.md"
all_in "docs/log-messages.md" "the source" "docs/log-messages.md has this log tag, but nothing logs it"
for tag in $(sort "$guard_dir/uses" | uniq -d); do
    complain "$tag: this log tag is used in several places; each place has its own"
done
for tag in $(grep -vxE 'VLT[0-9]{5}' "$(file_of "the source")"); do
    complain "$tag: a log tag has five digits"
done
guard_end
