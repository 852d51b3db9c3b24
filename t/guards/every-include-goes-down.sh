# SPDX-License-Identifier: Apache-2.0
# Folders are layers: mod_vault/layers.txt says which folder may include which others, and every include is one of those. A folder includes none
# that includes it, by however many steps. Includes of the module carry the folder: "page/state.h".
. "${srcdir:-.}/t/guards/guard.sh"

edges=$guard_dir/edges
srcdir=. sh scripts/include-graph --edges >"$edges" || complain "scripts/include-graph failed"
grep -v '^ *#' mod_vault/layers.txt | grep . >"$guard_dir/layers"

awk '{print $3 ": " $4}' "$edges" | list "includes"
awk '$3 ~ /^mod_vault\// {print $3}' "$edges" | list "files of the module with includes"

# Each file is in a folder of the table.
awk '$1 == "?" {print $3} $2 == "?" {print $5}' "$edges" | sort -u >"$guard_dir/nowhere"
while IFS= read -r file; do
    complain "$file: mod_vault/layers.txt has no line for its folder"
done <"$guard_dir/nowhere"

# What is included is in the table, and what the table says of the module is included.
awk '$1 != $2 && $1 != "?" && $2 != "?" {print $1 " includes " $2}' "$edges" | list "folders that include others"
awk '{from = $1; sub(/:$/, "", from); for (i = 2; i <= NF; i++) print from " includes " $i}' "$guard_dir/layers" | list "mod_vault/layers.txt"
all_in "folders that include others" "mod_vault/layers.txt" "mod_vault/layers.txt does not allow that; see: make include-graph"
awk 'NR == FNR {allowed[$0]; next} $1 != $2 && !(($1 " includes " $2) in allowed) {print "    " $3 ": " $4}' \
    "$(file_of "mod_vault/layers.txt")" "$edges"
while read -r from rest; do
    [ "$from" = mod_vault ] || [ -d "mod_vault/$from" ] && echo "$from $rest"
done <"$(file_of "mod_vault/layers.txt")" | list "lines of the module"
all_in "lines of the module" "folders that include others" "mod_vault/layers.txt allows that, and no file does it any more"

# The table only allows what is above; and, whatever it allows, no folder includes itself by way of others.
awk '{
    from = $1
    sub(/:$/, "", from)
    for (i = 2; i <= NF; i++) if (!($i in above) && $i != "httpd") print from " includes " $i
    above[from] = 1
}' "$guard_dir/layers" >"$guard_dir/upward"
while IFS= read -r line; do
    complain "$line: mod_vault/layers.txt has that folder further down"
done <"$guard_dir/upward"
awk '$1 != $2 {print $1, $2}' "$edges" | sort -u | tsort >/dev/null 2>"$guard_dir/cycles" ||
    complain "folders include each other: $(sed '1d; s/^tsort: //' "$guard_dir/cycles" | tr '\n' ' ')"

# Within a folder a header may be included by another one, and not the other way round as well.
awk '$3 ~ /\.h$/ && $5 ~ /\.h$/ {print $3, $5}' "$edges" | sort -u >"$guard_dir/headers"
sed 's/ / includes /' "$guard_dir/headers" | list "headers that include others"
tsort "$guard_dir/headers" >/dev/null 2>"$guard_dir/cycles" ||
    complain "headers include each other: $(sed '1d; s/^tsort: //' "$guard_dir/cycles" | tr '\n' ' ')"

# Which file an include means must not depend on where it stands.
awk '$3 ~ /^(mod_vault|feeds)\// && $2 != "httpd" {
    path = $5
    sub(/^(mod_vault|include|feeds)\//, "", path)
    if (path != $4) print $3 ": " $4 " is to be written " path
}' "$edges" >"$guard_dir/short"
while IFS= read -r line; do
    complain "$line"
done <"$guard_dir/short"

# Feeds resolve no symbol of the module, so what they use of base/ is in its headers alone.
awk '$3 ~ /^feeds\// && $2 == "base" {print $5}' "$edges" | sort -u | while IFS= read -r header; do
    [ ! -e "${header%.h}.c" ] || echo "$header"
done >"$guard_dir/linked"
while IFS= read -r line; do
    complain "$line: feeds include it, and its functions are not in the header"
done <"$guard_dir/linked"
guard_end
