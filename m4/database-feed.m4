dnl SPDX-License-Identifier: Apache-2.0
dnl The database feed needs libdbi and the client libraries of the databases; without it everything else is still built.
AC_DEFUN([VAULT_DATABASE_FEED], [
AC_ARG_WITH([database-feed], [AS_HELP_STRING([--without-database-feed],
    [do not build the feed for databases])], [], [with_database_feed=yes])
AC_ARG_WITH([libdbi], [AS_HELP_STRING([--with-libdbi=DIR],
    [libdbi is in DIR/include and DIR/lib (default: ask pkg-config)])], [], [with_libdbi=yes])
AS_IF([test "x$with_libdbi" = xno], [with_database_feed=no])
vault_database_feed=no
AS_IF([test "x$with_database_feed" != xno], [
    AS_CASE([$with_libdbi],
        [yes|""], [PKG_CHECK_MODULES([DBI], [dbi], [vault_database_feed=yes], [VAULT_DATABASE_FEED_MISSING])],
        [AS_IF([test -f "$with_libdbi/include/dbi/dbi.h"], [],
            [AC_MSG_ERROR([--with-libdbi=$with_libdbi: there is no include/dbi/dbi.h in this folder.])])
         DBI_CFLAGS="-I$with_libdbi/include"
         DBI_LIBS="-L$with_libdbi/lib -ldbi"
         vault_database_feed=yes])
    VAULT_CLIENT_LIBRARY([SQLITE], [sqlite3 >= 3.35], [SQLite 3.35 or later], [libsqlite3-dev])
    VAULT_CLIENT_LIBRARY([PQ], [libpq >= 12], [libpq 12 or later, PostgreSQL's client library,], [libpq-dev])
    VAULT_CLIENT_LIBRARY([MARIADB], [libmariadb], [libmariadb, MariaDB's client library,], [libmariadb-dev])])
AC_SUBST([DBI_CFLAGS])
AC_SUBST([DBI_LIBS])
AM_CONDITIONAL([DATABASE_FEED], [test "$vault_database_feed" = yes])
])

AC_DEFUN([VAULT_DATABASE_FEED_MISSING],
[AC_MSG_ERROR([libdbi was not found by pkg-config. Install it (Debian: libdbi-dev, and libdbd-sqlite3 to run it), give --with-libdbi=DIR, or leave the feed out with --without-database-feed.])])

dnl VAULT_CLIENT_LIBRARY(VARIABLES, MODULE, what it is, Debian's package)
AC_DEFUN([VAULT_CLIENT_LIBRARY],
[PKG_CHECK_MODULES([$1], [$2], [],
    [AC_MSG_ERROR([$3 was not found by pkg-config. Install it (Debian: $4), set $1_CFLAGS and $1_LIBS, or leave the database feed out with --without-database-feed.])])])
