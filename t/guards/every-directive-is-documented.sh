# SPDX-License-Identifier: Apache-2.0
# Every directive of the source is in the manual (docs/directives.md, as a heading) and in the reference configuration
# (conf/vault.conf.in, active or commented out), and the other way round.
. "${srcdir:-.}/t/guards/guard.sh"

find mod_vault -name '*.c' -exec cat {} + | tr '\n' ' ' | grep -oE 'AP_INIT_[A-Z0-9_]+ *\( *"Vault[A-Za-z]+"' | grep -oE 'Vault[A-Za-z]+' | list "the source"
cat docs/directives.md | grep -E '^#+ ' | grep -oE '\bVault[A-Z][A-Za-z]+' | list "docs/directives.md"
cat conf/vault.conf.in | grep -oE '^ *#?Vault[A-Z][A-Za-z]+ ' | grep -oE 'Vault[A-Za-z]+' | list "conf/vault.conf.in"

all_in "the source" "docs/directives.md" "this directive has no heading in docs/directives.md"
all_in "the source" "conf/vault.conf.in" "this directive is not in conf/vault.conf.in"
all_in "docs/directives.md" "the source" "docs/directives.md has a heading for this, but there is no such directive"
all_in "conf/vault.conf.in" "the source" "conf/vault.conf.in has this, but there is no such directive"
guard_end
