dnl SPDX-License-Identifier: Apache-2.0
dnl vaultctl asks the server by libcurl; without it everything else is still built. 7.85 knows protocols by name.
AC_DEFUN([VAULT_CURL], [
AC_ARG_WITH([vaultctl], [AS_HELP_STRING([--without-vaultctl],
    [do not build the command-line program])], [], [with_vaultctl=yes])
vault_vaultctl=no
AS_IF([test "x$with_vaultctl" != xno],
    [PKG_CHECK_MODULES([CURL], [libcurl >= 7.85], [vault_vaultctl=yes],
        [AC_MSG_ERROR([libcurl 7.85 or later was not found by pkg-config. Install it (Debian: libcurl4-openssl-dev), or leave the command-line program out with --without-vaultctl.])])])
AC_SUBST([CURL_CFLAGS])
AC_SUBST([CURL_LIBS])
AM_CONDITIONAL([VAULTCTL], [test "$vault_vaultctl" = yes])

dnl Where bash-completion looks, if that lies below our prefix or pkg-config's; else the usual folder below datadir.
AC_ARG_WITH([bash-completion-dir], [AS_HELP_STRING([--with-bash-completion-dir=DIR],
    [where the completion of vaultctl for bash is installed; "no": nowhere (default: DATADIR/bash-completion/completions)])],
    [], [with_bash_completion_dir=yes])
AS_CASE([$with_bash_completion_dir],
    [yes|""], [vault_completions=`$PKG_CONFIG --define-variable=prefix='${prefix}' --define-variable=datadir='${datadir}' --variable=completionsdir bash-completion 2>/dev/null`
        AS_CASE([$vault_completions],
            ['${'*], [bashcompletiondir=$vault_completions],
            [bashcompletiondir='${datadir}/bash-completion/completions'])],
    [bashcompletiondir=$with_bash_completion_dir])
AC_SUBST([bashcompletiondir])
AM_CONDITIONAL([BASH_COMPLETION], [test "$vault_vaultctl" = yes && test "x$with_bash_completion_dir" != xno])
])
