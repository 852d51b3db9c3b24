# SPDX-License-Identifier: Apache-2.0
# Every C file, every part of the client, every page of the manual and every file of an integration is listed in Makefile.am
# or in the fragment of a folder, which Makefile.am includes, and each file that is listed exists.
. "${srcdir:-.}/t/guards/guard.sh"

find bench examples feeds include lua mod_vault nats redis t vaultctl -name '*.[ch]' ! -path '*/node_modules/*' ! -path 't/run/*' | list "the tree"
makefiles | grep -vE '^[[:space:]]*#' | grep -oE '[A-Za-z0-9_./-]+\.[ch]\b' | grep / |
    list "Makefile.am"

all_in "the tree" "Makefile.am" "this source is not listed in Makefile.am: it is neither built nor distributed"
all_in "Makefile.am" "the tree" "Makefile.am lists this source, but it does not exist"

find client -name '*.js' ! -name vault.js | list "the client"
makefiles | grep -oE '\bclient/[A-Za-z0-9_-]+\.js' | grep -v vault.js | list "the client in Makefile.am"
all_in "the client" "the client in Makefile.am" "this part of the client is not listed in Makefile.am: it is neither in vault.js nor distributed"
all_in "the client in Makefile.am" "the client" "Makefile.am lists this part of the client, but it does not exist"

find docs -name '*.md' | list "the manual"
makefiles | grep -oE '\bdocs/[A-Za-z0-9_-]+\.md' | list "the manual in Makefile.am"
all_in "the manual" "the manual in Makefile.am" "this page of the manual is not listed in Makefile.am: it is neither installed nor distributed"
all_in "the manual in Makefile.am" "the manual" "Makefile.am lists this page of the manual, but it does not exist"

find integrations -mindepth 2 -type f ! -path '*/tests/*' ! -path '*/__pycache__/*' ! -path '*/node_modules/*' | list "the integrations"
makefiles | grep -vE '^include ' | grep -oE '\bintegrations/[A-Za-z0-9_./-]+' | list "the integrations in Makefile.am"
all_in "the integrations" "the integrations in Makefile.am" "this file of an integration is not listed in Makefile.am: it is not installed"
all_in "the integrations in Makefile.am" "the integrations" "Makefile.am lists this file of an integration, but it does not exist"
guard_end
