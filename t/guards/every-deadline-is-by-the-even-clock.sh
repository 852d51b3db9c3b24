# SPDX-License-Identifier: Apache-2.0
# The module takes the time from vault_now() alone: what one file writes by one clock and another compares by the other expires at once, or
# never. Templates, bundles and files of outputs, whose age is compared with times of files, and what servers share are the exceptions.
. "${srcdir:-.}/t/guards/guard.sh"

grep -rl --include='*.c' 'apr_time_now()' mod_vault | list "files that ask for wall-clock time"
grep -rl --include='*.c' 'vault_now()' mod_vault | list "files that ask for the time"
printf '%s\n' mod_vault/bundle/bundle_files.c mod_vault/recording/judge.c mod_vault/recording/recording.c mod_vault/socache/socache.c mod_vault/template/templates.c | list "files that compare with times of others"
all_in "files that ask for wall-clock time" "files that compare with times of others" "apr_time_now(), where vault_now() of now.h is meant"
all_in "files that compare with times of others" "files that ask for wall-clock time" "this guard's exception is none any more"
guard_end
