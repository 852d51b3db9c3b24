dnl SPDX-License-Identifier: Apache-2.0
dnl The module that keeps pages in Redis needs hiredis; without it everything else is still built.
AC_DEFUN([VAULT_REDIS], [
AC_ARG_WITH([redis], [AS_HELP_STRING([--without-redis],
    [do not build the module for a page store (default: if hiredis is found)])], [], [with_redis=check])
vault_redis="no (--without-redis)"
AS_IF([test "x$with_redis" != xno],
    [PKG_CHECK_MODULES([REDIS], [hiredis >= 0.14], [vault_redis=yes],
        [vault_redis="no (hiredis was not found; Debian: libhiredis-dev)"
         AS_IF([test "x$with_redis" != xcheck],
            [AC_MSG_ERROR([--with-redis: hiredis 0.14 or later was not found by pkg-config. Install it (Debian: libhiredis-dev), or leave the module for a page store out with --without-redis.])])])])
AM_CONDITIONAL([REDIS], [test "$vault_redis" = yes])
])
