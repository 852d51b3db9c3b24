dnl SPDX-License-Identifier: Apache-2.0
dnl The module for scripts of mod_lua needs the headers of the Lua that mod_lua is linked with; without it everything else is still built.
AC_DEFUN([VAULT_LUA], [
AC_ARG_WITH([lua], [AS_HELP_STRING([--with-lua=PACKAGE],
    [the Lua of mod_lua as pkg-config knows it, for example lua5.3 (default: the version that mod_lua.so is linked with)])],
    [], [with_lua=check])
AC_ARG_WITH([lua-cmoddir], [AS_HELP_STRING([--with-lua-cmoddir=DIR],
    [where Lua's C modules are installed (default: LIBDIR/lua/VERSION)])], [], [with_lua_cmoddir=yes])
vault_lua_version=`ldd $APACHE_LIBEXECDIR/mod_lua.so 2>/dev/null | $SED -n 's/.*liblua-\{0,1\}\(5\.@<:@0-9@:>@\).*/\1/p' | head -n 1`
AS_IF([test -z "$vault_lua_version"], [vault_lua_version=5.3])
AS_CASE([$with_lua],
    [no], [vault_lua="no (--without-lua)"],
    [check|yes|""], [VAULT_LUA_PACKAGE([lua$vault_lua_version lua-$vault_lua_version])],
    [VAULT_LUA_PACKAGE([$with_lua])])
AS_IF([test "$vault_lua" != yes && test "x$with_lua" != xno && test "x$with_lua" != xcheck],
    [AC_MSG_ERROR([Lua was asked for (--with-lua=$with_lua), but pkg-config knows no $vault_lua_packages. Install its headers (Debian: liblua$vault_lua_version-dev), or leave the module for Lua out with --without-lua.])])
AS_CASE([$with_lua_cmoddir],
    [yes|no|""], [luacmoddir='${libdir}'/lua/$vault_lua_version],
    [luacmoddir=$with_lua_cmoddir])
AC_SUBST([luacmoddir])
AC_SUBST([LUA_CFLAGS])
AM_CONDITIONAL([LUA], [test "$vault_lua" = yes])
])

dnl VAULT_LUA_PACKAGE(NAMES): the first of them that pkg-config knows, and that is 5.3 or 5.4.
AC_DEFUN([VAULT_LUA_PACKAGE], [
vault_lua_packages="$1"
vault_lua="no (the headers of Lua $vault_lua_version were not found; Debian: liblua$vault_lua_version-dev)"
AC_MSG_CHECKING([for the Lua of mod_lua])
for vault_package in $vault_lua_packages; do
    AS_IF([$PKG_CONFIG --exists "$vault_package >= 5.3" "$vault_package < 5.5" 2>/dev/null],
        [vault_lua=yes
         LUA_CFLAGS=`$PKG_CONFIG --cflags $vault_package`
         vault_lua_version=`$PKG_CONFIG --modversion $vault_package | $SED 's/^\(@<:@0-9@:>@*\.@<:@0-9@:>@*\).*/\1/'`
         break])
done
AC_MSG_RESULT([$vault_lua])
])
