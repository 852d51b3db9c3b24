# SPDX-License-Identifier: Apache-2.0
# Every command and option of vaultctl is in docs/vaultctl.md and in the manual page, and the other way round.
. "${srcdir:-.}/t/guards/guard.sh"

grep -oE '^ *\{"[a-z]+", vaultctl_[a-z]+,' vaultctl/vaultctl.c | grep -oE '"[a-z]+"' | tr -d '"' | list "the commands"
tr '\n' ' ' <vaultctl/options.c | grep -oE '\{(2[0-9]+|'"'.'"'), "[a-z-]+"' | grep -oE '"[a-z-]+"' | tr -d '"' | list "the options"
grep -oE '`[a-z]+( |`)' docs/vaultctl.md | tr -d '` ' | list "docs/vaultctl.md, words"
grep -oE '\-\-[a-z][a-z-]+' docs/vaultctl.md | sed 's/^--//' | list "docs/vaultctl.md, options"
grep -oE '^\.It Cm [a-z]+' vaultctl/vaultctl.1 | sed 's/.* //' | list "vaultctl.1, commands"
grep -oE 'Fl Fl [a-z-]+' vaultctl/vaultctl.1 | sed 's/.* //' | list "vaultctl.1, options"
{ cat "$(file_of "the options")"; echo version; } | list "the options and --version"

all_in "the commands" "docs/vaultctl.md, words" "this command is not in docs/vaultctl.md"
all_in "the commands" "vaultctl.1, commands" "this command is not in vaultctl/vaultctl.1"
all_in "vaultctl.1, commands" "the commands" "vaultctl/vaultctl.1 has this command, but there is none"
all_in "the options" "docs/vaultctl.md, options" "this option is not in docs/vaultctl.md"
all_in "the options" "vaultctl.1, options" "this option is not in vaultctl/vaultctl.1"
all_in "vaultctl.1, options" "the options and --version" "vaultctl/vaultctl.1 has this option, but there is none"
all_in "docs/vaultctl.md, options" "the options and --version" "docs/vaultctl.md has this option, but there is none"
guard_end
