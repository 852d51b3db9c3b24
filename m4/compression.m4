dnl SPDX-License-Identifier: Apache-2.0
dnl Outputs are kept compressed: zlib makes gzip, libbrotlienc makes br. Only brotli can be left out.
AC_DEFUN([VAULT_COMPRESSION], [
PKG_CHECK_MODULES([ZLIB], [zlib], [],
    [AC_MSG_ERROR([zlib was not found by pkg-config. Install it (Debian: zlib1g-dev) or set ZLIB_CFLAGS and ZLIB_LIBS.])])
AC_ARG_WITH([brotli], [AS_HELP_STRING([--without-brotli],
    [do not compress with brotli (default: if libbrotlienc is found)])], [], [with_brotli=check])
vault_brotli="no (--without-brotli)"
AS_IF([test "x$with_brotli" != xno],
    [PKG_CHECK_MODULES([BROTLI], [libbrotlienc], [vault_brotli=yes],
        [vault_brotli="no (libbrotlienc was not found; Debian: libbrotli-dev)"
         AS_IF([test "x$with_brotli" != xcheck],
            [AC_MSG_ERROR([--with-brotli: libbrotlienc was not found by pkg-config. Install it (Debian: libbrotli-dev), or leave brotli out with --without-brotli.])])])])
AS_IF([test "$vault_brotli" = yes], [VAULT_CPPFLAGS="$VAULT_CPPFLAGS -DVAULT_BROTLI"])
dnl The unit tests uncompress what was compressed.
vault_brotli_tests=no
AS_IF([test "$vault_brotli" = yes], [PKG_CHECK_MODULES([BROTLIDEC], [libbrotlidec], [vault_brotli_tests=yes], [:])])
AS_IF([test "$vault_brotli_tests" = yes], [BROTLIDEC_CFLAGS="$BROTLIDEC_CFLAGS -DVAULT_BROTLI_TESTS"])
AC_SUBST([ZLIB_CFLAGS])
AC_SUBST([ZLIB_LIBS])
AC_SUBST([BROTLI_CFLAGS])
AC_SUBST([BROTLI_LIBS])
AC_SUBST([BROTLIDEC_CFLAGS])
AC_SUBST([BROTLIDEC_LIBS])
])
