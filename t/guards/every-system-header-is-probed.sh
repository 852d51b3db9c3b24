# SPDX-License-Identifier: Apache-2.0
# configure probes what the code includes of Linux: m4/system.m4 names each such header, and no other.
. "${srcdir:-.}/t/guards/guard.sh"

# POSIX has these, and APR needs them.
posix='sys/(ioctl|resource|socket|stat|types|wait)'
find feeds include lua mod_vault nats redis vaultctl -name '*.[ch]' -exec sed -nE 's/^#include <((sys|linux)\/[a-z_]+)\.h>.*/\1/p' {} + |
    grep -vxE "$posix" | list "headers of Linux that the code includes"
grep -oE '#include <(sys|linux)/[a-z_]+' m4/system.m4 | sed 's/.*<//' | grep -vxE "$posix" | list "m4/system.m4"
all_in "headers of Linux that the code includes" "m4/system.m4" "a source includes this header, but m4/system.m4 does not probe what it is for"
all_in "m4/system.m4" "headers of Linux that the code includes" "m4/system.m4 probes this header, but no source includes it"
guard_end
