dnl SPDX-License-Identifier: Apache-2.0
dnl The module that connects clusters by NATS needs libnats; without it everything else is still built.
AC_DEFUN([VAULT_NATS], [
AC_ARG_WITH([nats], [AS_HELP_STRING([--without-nats],
    [do not build the module for clusters (default: if libnats is found)])], [], [with_nats=check])
vault_nats="no (--without-nats)"
AS_IF([test "x$with_nats" != xno],
    [PKG_CHECK_MODULES([NATS], [libnats >= 3.0], [vault_nats=yes],
        [vault_nats="no (libnats was not found; Debian: libnats-dev)"
         AS_IF([test "x$with_nats" != xcheck],
            [AC_MSG_ERROR([--with-nats: libnats 3.0 or later was not found by pkg-config. Install it (Debian: libnats-dev), or leave the module for clusters out with --without-nats.])])])])
AM_CONDITIONAL([NATS], [test "$vault_nats" = yes])
])
