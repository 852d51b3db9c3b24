#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: in-chroot.sh install|remove, in the chroot that chroot.sh makes
# Installs the packages in /srv/packages by apt, with nothing that their Depends lines do not name, or removes them: nothing is left then.
set -u
export DEBIAN_FRONTEND=noninteractive LC_ALL=C
. /srv/tests/ok.sh

apt() {
    apt-get -q -y --no-install-recommends "$@"
}

# What packages bring, not what apt and dpkg keep for themselves, nor what apache2 remembers of modules that are its own.
files() {
    find / -xdev \( -path /run -o -path /srv -o -path /tmp -o -path /var/cache -o -path /var/lib/apt -o -path /var/lib/dpkg -o -path /var/log \) -prune \
        -o ! -path /etc/ld.so.cache \( ! -path '/var/lib/apache2/*' -o -name '*vault*' \) -print | sort
}

libraries_are_there() {
    for file in /usr/bin/vaultctl $(dpkg -L libapache2-mod-vault | grep '/feeds/.*\.so$'); do
        ldd "$file" || return 1
    done | awk '/not found/ {missing = 1; print} END {exit missing}'
}

# Without the site's database the folder goes as well.
purge_again() {
    rm /var/lib/mod_vault/site.db && DPKG_MAINTSCRIPT_PACKAGE=libapache2-mod-vault DPKG_MAINTSCRIPT_NAME=postrm sh /srv/postrm purge
}

no_link_is_left() {
    ! ls -d /etc/apache2/mods-enabled/vault.*
}

nothing_is_left() {
    files >/srv/after
    diff /srv/before /srv/after
}

if [ "$1" = install ]; then
    files >/srv/before
    ok 'apt installs the module and vaultctl' apt install /srv/packages/libapache2-mod-vault_*.deb /srv/packages/vaultctl_*.deb
    ok 'their libraries are there' libraries_are_there
    ok 'vaultctl is of the version of its package' is "$(vaultctl --version | grep -oE '[0-9]+\.[0-9.]*[0-9]' | head -n 1)" "$(dpkg-query -W -f '${Version}' vaultctl)"
    ok 'the folder of databases is of httpd alone' is "$(stat -c '%U %G %a' /var/lib/mod_vault)" 'www-data www-data 750'
    ok 'what -dev depends on can be installed' apt install --simulate /srv/packages/libapache2-mod-vault-dev_*.deb
    # shellcheck disable=SC2046 # packages are words
    ok 'apt installs what the test needs' apt install $(sed -n 's/^Depends: //p' /srv/tests/control | tr -d ,)
else
    ok 'apt removes the module' apt remove libapache2-mod-vault
    ok '... which is not enabled any more' no_link_is_left
    ok '... and httpd can go on without it' apache2ctl configtest
    touch /var/lib/mod_vault/site.db
    cp /var/lib/dpkg/info/libapache2-mod-vault.postrm /srv/postrm
    ok 'apt purges it, and what it needed' apt purge --auto-remove libapache2-mod-vault vaultctl curl libdbd-sqlite3 sqlite3
    ok 'a database of the site stays' test -f /var/lib/mod_vault/site.db
    ok 'when it has gone, a purge takes its folder away' purge_again
    ok 'nothing is left' nothing_is_left
fi
all_passed
