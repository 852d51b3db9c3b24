# SPDX-License-Identifier: Apache-2.0
# Every public method of integrations/node/vault.mjs is in vault.d.ts, and the other way round.
. "${srcdir:-.}/t/guards/guard.sh"

# The methods that a file has at the first level of its class, with "static" or "get" before them.
methods_of() {
    grep -oE '^    (static |get )?(async )?[a-z][A-Za-z]*\(' "$1" | sed 's/async //; s/^ *//; s/($//' | grep -vE '^(for|if|catch|while|switch|return)$'
}

sed -n '/^export class/,/^}/p' integrations/node/vault.mjs >"$guard_dir/class.mjs"
sed -n '/^export class/,/^}/p' integrations/node/vault.d.ts >"$guard_dir/class.d.ts"
methods_of "$guard_dir/class.mjs" | list "vault.mjs"
methods_of "$guard_dir/class.d.ts" | list "vault.d.ts"
all_in "vault.mjs" "vault.d.ts" "vault.d.ts does not declare this method"
all_in "vault.d.ts" "vault.mjs" "vault.d.ts declares this method, and there is none"
guard_end
