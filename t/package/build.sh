#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# usage: build.sh FOLDER
# Makes a release of these sources in FOLDER, as CONTRIBUTING.md says, builds Debian's packages of its archive and has lintian judge them. The
# packages are in FOLDER/packages then.
set -u
folder=$1
top=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
. "$top/scripts/lib.sh"
. "$top/debian/tests/ok.sh"
tree=$folder/tree
archives=$folder/build/release
export GIT_AUTHOR_NAME=tests GIT_AUTHOR_EMAIL=tests@localhost GIT_COMMITTER_NAME=tests GIT_COMMITTER_EMAIL=tests@localhost
export GIT_CONFIG_GLOBAL=/dev/null BUILD="$folder/build" LC_ALL=C

commit() {
    git -C "$tree" commit -q -a -m "$1"
}

# refuses SENTENCE: no release is made, and this is said.
refuses() {
    ! sh "$tree/scripts/release" >"$folder/said" 2>&1 && grep -F "$1" "$folder/said" && is "$(git -C "$tree" tag)" '' && [ ! -e "$archives" ]
}

unpack() {
    (cd "$archives" && sha256sum -c "mod_vault-$version.tar.xz.sha256") && tar -C "$folder" -xf "$archives/mod_vault-$version.tar.xz"
}

# The unit tests have run elsewhere.
build_packages() {
    (cd "$folder/mod_vault-$version" && DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" dpkg-buildpackage -us -uc)
}

lintian_is_silent() {
    lintian --display-info --pedantic --fail-on error,warning,info,pedantic "$folder/mod-vault_${version}_$(dpkg --print-architecture).changes"
}

make_example() {
    dpkg-deb -x "$folder/packages"/libapache2-mod-vault-dev_*.deb "$folder/dev" || return 1
    example=$folder/dev/usr/share/doc/libapache2-mod-vault/examples/feed
    PKG_CONFIG_PATH=$(echo "$folder"/dev/usr/lib/*/pkgconfig) CPATH=$folder/dev/usr/include make -C "$example" && [ -f "$example/vault_feed_lines.so" ]
}

rm -rf "$folder"
mkdir -p "$folder/packages" || exit 1
copy_sources "$tree"
rm "$tree/.files"
version=$(sed -nE 's/^AC_INIT\(\[mod_vault\], \[([0-9.]+)\].*/\1/p' "$top/configure.ac")
sed -i "1s/ (.*/ (not released)/" "$tree/CHANGES"
sed -i "1s/) .*;/) UNRELEASED;/" "$tree/debian/changelog"
git -C "$tree" init -q && git -C "$tree" add -A && commit 'all' || exit 1

# ---------------------------------------------------------------- a release
ok 'a version that is not released is refused' refuses 'is not released'
sed -i "1s/ (.*/ ($(date +%Y-%m-%d))/" "$tree/CHANGES"
ok 'changes that are not committed are refused' refuses 'uncommitted changes'
commit 'half a release'
ok 'a changelog that does not agree is refused' refuses 'the versions differ'
sed -i "1s/) .*;/) unstable;/" "$tree/debian/changelog"
commit 'a release'
ok 'a release is made' sh "$tree/scripts/release"
ok '... with a tag of the commit' is "$(git -C "$tree" rev-parse "v$version^{commit}")" "$(git -C "$tree" rev-parse HEAD)"
ok '... and an archive that can be unpacked' unpack
ok '... which has the CHANGES of the commit' cmp "$tree/CHANGES" "$folder/mod_vault-$version/CHANGES"
ok 'a second one of the version is refused' sh -c "sh '$tree/scripts/release' 2>&1 | grep -F 'the tag v$version exists already'"

# ---------------------------------------------------------------- its packages
ok 'dpkg-buildpackage builds the archive' build_packages
ok 'lintian has nothing to say' lintian_is_silent
mv "$folder"/*.deb "$folder/packages"
ok 'the example is built with the package -dev' make_example
all_passed
