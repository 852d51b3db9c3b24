# SPDX-License-Identifier: Apache-2.0
# What vaultctl prints that is not a word of its own goes through vaultctl/output.c, which replaces what commands a terminal.
. "${srcdir:-.}/t/guards/guard.sh"

# Calls that write as they are told, but for those whose text stands in the call.
grep -nE '\b(v?[fd]?printf|f?puts|f?putc|putchar|fwrite|write|perror|json_dump[a-z_]*)(_unlocked)?\(' vaultctl/*.c |
    list "calls that print"
grep -vE '^[^:]+:[0-9]+: *(f?puts|putchar)\(("|CLEAR\b|'"'"'..?'"'"'\))' "$(file_of "calls that print")" | grep -v '^vaultctl/output\.c:' |
    sort -u >"$guard_dir/others"
while IFS= read -r line; do
    complain "$line: this prints what vaultctl/output.c has not cleaned"
done <"$guard_dir/others"

grep -oE '^[a-z/]+\.c' "$(file_of "calls that print")" | list "sources that print"
printf '%s\n' vaultctl/*.c | list "the sources of vaultctl"
all_in "sources that print" "the sources of vaultctl" "there is no such source"
guard_end
