dnl SPDX-License-Identifier: Apache-2.0
dnl What `make check` needs. Nothing here is an error: a check that cannot run says so, loudly.
AC_DEFUN([VAULT_TEST_TOOLS], [
PKG_CHECK_MODULES([CUNIT], [cunit],
    [vault_unit_tests=yes],
    [vault_unit_tests="no (CUnit was not found; Debian: libcunit1-dev)"])
AM_CONDITIONAL([UNIT_TESTS], [test "$vault_unit_tests" = yes])

AC_PATH_PROG([PERL], [perl])
AC_PATH_PROGS([CLANG], [clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14])
AC_MSG_CHECKING([for Apache::Test])
AS_IF([test -n "$PERL" && $PERL -MApache::TestRun -e 1 >/dev/null 2>&1],
    [vault_apache_test=yes], [vault_apache_test=no])
AC_MSG_RESULT([$vault_apache_test])
AS_IF([test -z "$HTTPD"], [vault_httpd_tests="no (httpd was not found; give --with-httpd=PATH)"],
      [test "$vault_apache_test" = no],
          [vault_httpd_tests="no (the Perl module Apache::Test was not found; Debian: libapache2-mod-perl2)"],
      [vault_httpd_tests="yes, with $HTTPD"])
AC_SUBST([vault_apache_test])
])
