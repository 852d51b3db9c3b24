# SPDX-License-Identifier: Apache-2.0
# What scripts/demo and scripts/test share: packages, a copy of the sources, a build. Sourced; $top is the top of the sources.

say() {
    printf '%s\n' "$*"
}

die() {
    printf '%s: %s\n' "$(basename "$0")" "$*" >&2
    exit 1
}

absolute() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s\n' "$PWD/$1" ;;
    esac
}

# ---------------------------------------------------------------- packages
missing=

# need PACKAGE COMMAND…: remember the package when the command fails. What is there already, wherever it came from, is not asked of apt.
need() {
    package=$1
    shift
    "$@" >/dev/null 2>&1 || missing="$missing $package"
}

apache_tool() {
    PATH=$PATH:/usr/sbin:/usr/local/apache2/bin command -v "$1" || PATH=$PATH:/usr/sbin:/usr/local/apache2/bin command -v "$2"
}

libdbi_driver() {
    for file in /usr/lib/*/dbd/libdbd"$1".so /usr/lib/dbd/libdbd"$1".so /usr/lib64/dbd/libdbd"$1".so /usr/local/lib/dbd/libdbd"$1".so; do
        [ -f "$file" ] && return 0
    done
    return 1
}

# Not the package apache2: it starts a server on port 80 and writes into /etc. The program and its modules are in apache2-bin.
need_to_build() {
    need autoconf command -v autoreconf
    need automake command -v automake
    need libtool command -v libtoolize
    need make command -v make
    need gcc sh -c 'command -v cc || command -v gcc'
    need libc6-dev test -f /usr/include/stdlib.h
    need pkg-config command -v pkg-config
    need perl perl -MIO::Socket::INET -MJSON::PP -e 1
    need apache2-bin apache_tool httpd apache2
    need apache2-dev apache_tool apxs apxs2
    need libapr1-dev apache_tool apr-1-config apr-config
    need libaprutil1-dev apache_tool apu-1-config apu-config
    need libjansson-dev pkg-config --exists 'jansson >= 2.10'
    need zlib1g-dev pkg-config --exists zlib
    need libbrotli-dev pkg-config --exists libbrotlienc libbrotlidec
    need libdbi-dev pkg-config --exists dbi
    need libdbd-sqlite3 libdbi_driver sqlite3
    need libsqlite3-dev pkg-config --exists 'sqlite3 >= 3.35'
    need libpq-dev pkg-config --exists 'libpq >= 12'
    need libmariadb-dev pkg-config --exists libmariadb
    need liblua5.3-dev pkg-config --exists lua5.3
    need libcurl4-openssl-dev pkg-config --exists 'libcurl >= 7.85'
    need libnats-dev pkg-config --exists libnats
    need libhiredis-dev pkg-config --exists 'hiredis >= 0.14'
}

need_to_test() {
    need libcunit1-dev pkg-config --exists cunit
    need libapache2-mod-perl2 perl -MApache::TestRun -e 1
    need libio-socket-ssl-perl perl -MIO::Socket::SSL -e 1
    need libprotocol-http2-perl perl -MProtocol::HTTP2::HeaderCompression -e 1
    need openssl command -v openssl
    need libfaketime ls /usr/lib/*/faketime/libfaketimeMT.so.1
    need xz-utils command -v xz
    need sqlite3 command -v sqlite3
    need spin command -v spin
    need libdbd-pgsql libdbi_driver pgsql
    need libdbd-mysql libdbi_driver mysql
    need postgresql server_program initdb /usr/lib/postgresql/*/bin
    need mariadb-server-core server_program mariadbd
    need mariadb-client-core server_program mariadb
    need nodejs command -v node
    need esbuild command -v esbuild
    need nats-server server_program nats-server
    need minify command -v minify
    need redis-server command -v redis-server
    need curl command -v curl
    need npm command -v npm
    need php-fpm ls /usr/sbin/php-fpm*
    need php-symfony-http-kernel test -f /usr/share/php/Symfony/Component/HttpKernel/autoload.php
    need php-symfony-routing test -f /usr/share/php/Symfony/Component/Routing/autoload.php
    need php-illuminate-events test -f /usr/share/php/Illuminate/Events/autoload.php
    need php-illuminate-routing test -f /usr/share/php/Illuminate/Routing/autoload.php
    need composer command -v composer
    need ruby-rack ruby -rrack -e 1
    need puma command -v puma
    need php-mysql sh -c 'php -m | grep -qx mysqli'
    need python3-waitress /usr/bin/python3 -c 'import waitress'
    need python3-django /usr/bin/python3 -c 'import django'
    need python3-psycopg2 /usr/bin/python3 -c 'import psycopg2'
    need chromium chromium_program
    need firefox-esr firefox_program
    need build-essential dpkg -s build-essential
    need debhelper command -v dh
    need git command -v git
    need iproute2 server_program tc
    need lintian command -v lintian
    need mmdebstrap command -v mmdebstrap
}

# server_program NAME [FOLDER…]: there, or where programs are looked for
server_program() {
    program=$1
    shift
    for folder in /usr/sbin /usr/local/sbin "$@"; do
        [ -x "$folder/$program" ] && return 0
    done
    command -v "$program"
}

# first_program NAME…: where the first of them is that is there
first_program() {
    for name in "$@"; do
        [ -n "$name" ] && command -v "$name" && return 0
    done
    return 1
}

chromium_program() {
    first_program "${CHROMIUM:-}" chromium chromium-browser google-chrome
}

firefox_program() {
    first_program "${FIREFOX:-}" firefox-esr firefox
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    else
        sudo "$@"
    fi
}

apt() {
    as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"
}

# The package of a server starts it. A policy that says no, there as long as packages are installed, is Debian's way to ask it not to.
# In a shell of its own, which takes the policy away however it ends.
install_packages() (
    policy=/usr/sbin/policy-rc.d
    if [ ! -e "$policy" ]; then
        trap 'as_root rm -f "$policy"' EXIT
        trap 'exit 130' INT
        trap 'exit 143' TERM HUP
        printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null && as_root chmod 755 "$policy" || exit 1
    fi
    apt update && apt install --no-install-recommends "$@"
)

# Install the packages that need() found missing. If there are none, does nothing and needs no rights.
install_missing() {
    [ -n "$missing" ] || return 0
    say "Installing:$missing"
    command -v apt-get >/dev/null 2>&1 ||
        die "these Debian packages, or what they are called here, are missing, and there is no apt-get to install them:$missing"
    [ "$(id -u)" = 0 ] || command -v sudo >/dev/null 2>&1 ||
        die "these packages are missing; install them as root or install sudo: apt-get install$missing"
    # shellcheck disable=SC2086 # packages are words
    install_packages $missing >"$1" 2>&1 || {
        tail -n 20 "$1" >&2
        die "apt-get could not install:$missing (all it said is in $1)"
    }
    missing=
}

# unpack_packages TO LOG PACKAGE…: the files of these Debian packages, without installing them or what they depend on. Links into packages
# that are not among them are removed.
unpack_packages() {
    unpack_to=$1
    unpack_log=$2
    shift 2
    [ "$*" != "$(cat "$unpack_to/.packages" 2>/dev/null)" ] || return 0
    rm -rf "$unpack_to"
    mkdir -p "$unpack_to/deb" || exit 1
    (
        cd "$unpack_to/deb" || exit 1
        apt-get -q download "$@" || { apt update && apt-get -q download "$@"; } || exit 1
        for package in *.deb; do
            dpkg-deb -x "$package" "$unpack_to" || exit 1
        done
        find "$unpack_to" -xtype l -delete
    ) >"$unpack_log" 2>&1 || {
        tail -n 20 "$unpack_log" >&2
        die "the packages $* could not be fetched (all that was said is in $unpack_log)"
    }
    rm -rf "$unpack_to/deb"
    printf '%s\n' "$*" >"$unpack_to/.packages"
}

# ---------------------------------------------------------------- sources and builds

# writable_folder DIR: make it, or say why not.
writable_folder() {
    mkdir -p "$1" 2>/dev/null || die "the folder $1 cannot be made; choose another with BUILD=/some/where"
    [ -w "$1" ] || die "the folder $1 belongs to $(stat -c %U "$1"); remove it or choose another with BUILD=/some/where"
}

# The files of the source tree: as the list says if it is itself a copy, as git sees them, or all but what a build makes.
source_files() {
    if [ -f "$top/.files" ]; then
        cat "$top/.files"
    elif git -C "$top" rev-parse --is-inside-work-tree >/dev/null 2>&1 && [ -e "$top/.git" ]; then
        (cd "$top" && git ls-files --cached --others --exclude-standard)
    else
        (cd "$top" && find . \( -name .git -o -name 'build' -o -path './build-[!a]*' -o -name node_modules -o -name autom4te.cache \) -prune \
            -o -type f -print | sed 's|^\./||')
    fi | sort | while IFS= read -r file; do
        [ -f "$top/$file" ] && printf '%s\n' "$file"
    done
}

# copy_sources TO: bring a copy of the sources up to date; the tree itself stays as it is, autoreconf's files included.
copy_sources() {
    mkdir -p "$1" || exit 1
    source_files >"$1/.files.new"
    if [ -f "$1/.files" ]; then
        comm -23 "$1/.files" "$1/.files.new" | while IFS= read -r file; do
            rm -f "$1/$file"
        done
    fi
    tar -C "$top" -cf - -T "$1/.files.new" | tar -C "$1" -xpf - || die "the sources could not be copied to $1"
    mv "$1/.files.new" "$1/.files"
}

# build SOURCE TO [configure arguments]: only what has changed, or only $build_targets. What the tools say goes to TO/build.log.
build() {
    build_source=$1
    build_to=$2
    shift 2
    mkdir -p "$build_to" || exit 1
    build_steps "$@" >"$build_to/build.log" 2>&1 && return 0
    tail -n 30 "$build_to/build.log" >&2
    say "The build failed; all it said is in $build_to/build.log" >&2
    return 1
}

# make_configure SOURCE: unless it is there and newer than what it is made of. Not twice at once.
make_configure() {
    if [ ! -f "$1/configure" ] || [ -n "$(find "$1" \( -name node_modules -o -path "$1/t/run" \) -prune \
        -o \( -name Makefile.am -o -name '*.m4' -o -name configure.ac \) ! -name aclocal.m4 -type f -newer "$1/configure" -print)" ]; then
        (cd "$1" && autoreconf -i && touch configure)
    fi
}

build_steps() {
    make_configure "$build_source" || return 1
    if [ ! -f "$build_to/.arguments" ] || [ "$*" != "$(cat "$build_to/.arguments")" ] ||
        [ "$build_source/configure" -nt "$build_to/config.status" ]; then
        rm -f "$build_to/.arguments"
        (cd "$build_to" && "$build_source/configure" -q "$@") || return 1
        printf '%s\n' "$*" >"$build_to/.arguments"
    fi
    # shellcheck disable=SC2086 # targets are words
    make -C "$build_to" -j"$(nproc 2>/dev/null || echo 2)" ${build_targets:-all}
}
