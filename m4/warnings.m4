dnl SPDX-License-Identifier: Apache-2.0
dnl The warnings that every source is compiled with; --enable-werror makes them errors (for maintainers: compilers differ).
AC_DEFUN([VAULT_WARNINGS], [
AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror],
    [treat warnings as errors (for maintainers)])], [], [enable_werror=no])

VAULT_CFLAGS=
dnl -Wno-unused-parameter: hooks and handlers have the parameters that httpd gives them, used or not.
for vault_flag in -std=gnu11 -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith \
    -Wwrite-strings -Wno-unused-parameter
do
    VAULT_TRY_CFLAG([$vault_flag])
done
dnl clang takes offence at APR's offsetof, which every APR_RING expands to. gcc accepts any -Wno-…, so the warning itself is tried.
vault_kept_CFLAGS=$VAULT_CFLAGS
VAULT_TRY_CFLAG([-Wnull-pointer-subtraction])
AS_IF([test "x$VAULT_CFLAGS" != "x$vault_kept_CFLAGS"], [VAULT_CFLAGS="$vault_kept_CFLAGS -Wno-null-pointer-subtraction"])
AS_IF([test "x$enable_werror" = xyes], [VAULT_CFLAGS="$VAULT_CFLAGS -Werror"])
AC_SUBST([VAULT_CFLAGS])
])

dnl VAULT_TRY_CFLAG(FLAG): add it to VAULT_CFLAGS if the compiler knows it.
AC_DEFUN([VAULT_TRY_CFLAG], [
vault_saved_CFLAGS=$CFLAGS
CFLAGS="$CFLAGS -Werror $1"
AC_MSG_CHECKING([whether $CC takes $1])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
    [AC_MSG_RESULT([yes])
     VAULT_CFLAGS="$VAULT_CFLAGS $1"],
    [AC_MSG_RESULT([no])])
CFLAGS=$vault_saved_CFLAGS
])
