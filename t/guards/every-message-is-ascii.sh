# SPDX-License-Identifier: Apache-2.0
# What the programs say is ASCII: httpd writes other bytes into its log and onto the terminal as \xe2\x80\xa6. Comments are free, and so are
# names and values of a site, which come from elsewhere.
. "${srcdir:-.}/t/guards/guard.sh"

# Those of the sources that have other bytes outside of their comments.
beyond_ascii() {
    awk 'FNR == 1 { within = 0 }
    {
        rest = $0
        code = ""
        while (rest != "") {
            if (within) {
                end = index(rest, "*/")
                rest = end ? substr(rest, end + 2) : ""
                within = !end
            } else if (match(rest, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)*\047|\/\*/)) {
                within = substr(rest, RSTART, RLENGTH) == "/*"
                code = code substr(rest, 1, RSTART + RLENGTH - 1)
                rest = substr(rest, RSTART + RLENGTH)
            } else {
                code = code rest
                rest = ""
            }
        }
        if (code ~ /[\200-\377]/) print FILENAME
    }' "$@" | sort -u
}

set -- $(find include mod_vault -name '*.[ch]') feeds/*/*.[ch] lua/*.[ch] nats/*.[ch] redis/*.[ch] vaultctl/*.[ch] examples/*/*.[ch]
printf '%s\n' "$@" | list "sources"
{
    printf '%s\n' "$@"
    beyond_ascii "$@"
} | sort | uniq -u | list "sources that say ASCII only"
all_in "sources" "sources that say ASCII only" "it says something beyond ASCII outside of its comments"
guard_end
