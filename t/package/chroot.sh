#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: chroot.sh FOLDER, as root
# Installs the packages in FOLDER in a fresh chroot of this Debian, lets debian/tests/live-page use them, and removes them. mmdebstrap makes the
# chroot in namespaces of its own: its mounts and processes end with it, however it ends, and it removes the chroot. The network of the test is a
# namespace as well, so that httpd has port 80.
set -u
packages=$(cd "$1" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd) || exit 1
top=$(cd "$here/../.." && pwd) || exit 1
. "$top/scripts/lib.sh"
. /etc/os-release
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

# The sources and the settings that apt has here, without those of other archives. What apt knows of an archive comes by an update.
apt update >/dev/null
apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' "Origin: ${NAME%% *}" |
    awk -v name="$VERSION_CODENAME" 'index($3, name) == 1' | sort -u >"$work/sources.list"
apt-config dump | grep '^Acquire::' >"$work/apt.conf"
[ -s "$work/sources.list" ] || {
    echo "apt knows no archive of $NAME $VERSION_CODENAME"
    echo '# tests: 0 passed, 1 failed'
    exit 1
}

if TMPDIR=/var/tmp mmdebstrap --quiet --mode=root --variant=minbase --format=null --include=apache2 --aptopt="$work/apt.conf" \
    --customize-hook="cp -R '$packages' \"\$1/srv/packages\"" \
    --customize-hook="cp -R '$top/debian/tests' \"\$1/srv/tests\" && cp '$here/in-chroot.sh' \"\$1/srv\"" \
    --customize-hook='chroot "$1" sh /srv/in-chroot.sh install' \
    --customize-hook='unshare --net sh -c "ip link set lo up && exec chroot \"\$0\" sh /srv/tests/live-page" "$1"' \
    --customize-hook='chroot "$1" sh /srv/in-chroot.sh remove' \
    "$VERSION_CODENAME" /dev/null "$work/sources.list"; then
    echo 'ok - the chroot was made, used and removed'
    echo '# tests: 1 passed, 0 failed'
else
    echo 'not ok - the chroot was made, used and removed'
    echo '# tests: 0 passed, 1 failed'
    exit 1
fi
