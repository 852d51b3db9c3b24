# SPDX-License-Identifier: Apache-2.0
# What a request causes in the error log at notice or above is limited, by vault_log_seldom(): a visitor can repeat any request.
. "${srcdir:-.}/t/guards/guard.sh"

# Limited by themselves: once in the life of a child, and once a minute.
printf '%s\n' 'VLTNO(00034)' 'VLTNO(00231)' | list "lines that limit themselves"

# The calls that log for a request, each with its level and its tag.
for file in $(find mod_vault -name '*.c'); do
    tr '\n' ' ' <"$file" | grep -oE 'ap_log_[rc]error\( *APLOG_MARK, *[^,]+,[^;]*VLTNO\([0-9]+\)' | sed "s#^#$file: #; s/  */ /g"
done | list "lines of requests"
grep -E 'APLOG_MARK, (APLOG_(NOTICE|WARNING|ERR|CRIT|ALERT|EMERG)),' "$(file_of "lines of requests")" | grep -oE 'VLTNO\([0-9]+\)$' |
    list "lines of requests at a level of their own"
all_in "lines of requests at a level of their own" "lines that limit themselves" "a visitor can fill the log with this line: its level must come from vault_log_seldom()"
all_in "lines that limit themselves" "lines of requests at a level of their own" "this guard knows the line, and there is none"
guard_end
