# SPDX-License-Identifier: Apache-2.0
# configure.ac, the first entry of CHANGES and that of debian/changelog name one version, and agree on whether it is released.
. "${srcdir:-.}/t/guards/guard.sh"

# Each is a line "VERSION released" or "VERSION not released"
sed -nE '1s/^mod_vault ([0-9.]+) \(not released\)$/\1 not released/p; 1s/^mod_vault ([0-9.]+) \([0-9]{4}-[0-9]{2}-[0-9]{2}\)$/\1 released/p' CHANGES | list "CHANGES"
sed -nE '1s/^mod-vault \(([0-9.]+)\) UNRELEASED;.*/\1 not released/p; 1s/^mod-vault \(([0-9.]+)\) [a-z]+;.*/\1 released/p' debian/changelog | list "debian/changelog"
sed -nE 's/^AC_INIT\(\[mod_vault\], \[([0-9.]+)\].*/\1/p' configure.ac | list "configure.ac"
sed 's/ .*//' "$(file_of "CHANGES")" | list "the version in CHANGES"

all_in "CHANGES" "debian/changelog" "the first entry of CHANGES says this, and that of debian/changelog does not"
all_in "configure.ac" "the version in CHANGES" "configure.ac has this version, and the first entry of CHANGES another one"
guard_end
