dnl SPDX-License-Identifier: Apache-2.0
dnl What apxs and apr-1-config know: headers, compiler flags, where modules go, where httpd is.
AC_DEFUN([VAULT_APACHE], [
AC_ARG_WITH([apxs], [AS_HELP_STRING([--with-apxs=PATH],
    [httpd's apxs (default: apxs or apxs2 in PATH)])], [], [with_apxs=yes])
AS_CASE([$with_apxs],
    [no], [AC_MSG_ERROR([mod_vault cannot be built without apxs.])],
    [yes|""], [AC_PATH_PROGS([APXS], [apxs apxs2], [], [$PATH:/usr/sbin:/usr/local/apache2/bin])
        AS_IF([test -z "$APXS"],
            [AC_MSG_ERROR([apxs was not found in PATH. Install the development files of httpd (Debian: apache2-dev; Fedora: httpd-devel) or give --with-apxs=/path/to/apxs.])])],
    [AS_IF([test -f "$with_apxs" && test -x "$with_apxs"], [],
        [AC_MSG_ERROR([--with-apxs=$with_apxs: this is not a program. The path of apxs itself is wanted, for example /usr/bin/apxs.])])
     APXS=$with_apxs])
AC_SUBST([APXS])

APACHE_INCLUDEDIR=`$APXS -q INCLUDEDIR 2>/dev/null`
AS_IF([test -f "$APACHE_INCLUDEDIR/httpd.h"], [],
    [AC_MSG_ERROR([$APXS -q INCLUDEDIR says "$APACHE_INCLUDEDIR", but there is no httpd.h. Install the development files of httpd (Debian: apache2-dev).])])
AC_SUBST([APACHE_INCLUDEDIR])

VAULT_APACHE_APR
VAULT_APACHE_VERSION
VAULT_APACHE_PLACES
])

dnl APR as httpd was built with it.
AC_DEFUN([VAULT_APACHE_APR], [
AC_ARG_WITH([apr-config], [AS_HELP_STRING([--with-apr-config=PATH],
    [apr-1-config (default: the one apxs names, or in PATH)])], [], [with_apr_config=yes])
AS_CASE([$with_apr_config],
    [yes|no|""], [APR_CONFIG=`$APXS -q APR_CONFIG 2>/dev/null`
        AS_IF([test -x "$APR_CONFIG"], [], [AC_PATH_PROGS([APR_CONFIG], [apr-1-config apr-config])])],
    [APR_CONFIG=$with_apr_config])
AS_IF([test -n "$APR_CONFIG" && test -x "$APR_CONFIG"], [],
    [AC_MSG_ERROR([apr-1-config was not found. Install the development files of APR (Debian: libapr1-dev) or give --with-apr-config=/path/to/apr-1-config.])])
APU_CONFIG=`$APXS -q APU_CONFIG 2>/dev/null`
AS_IF([test -x "$APU_CONFIG"], [], [AC_PATH_PROGS([APU_CONFIG], [apu-1-config apu-config])])
AS_IF([test -x "$APU_CONFIG"], [],
    [AC_MSG_ERROR([apu-1-config was not found. Install the development files of APR-util (Debian: libaprutil1-dev).])])
APR_CPPFLAGS="`$APR_CONFIG --includes --cppflags` `$APU_CONFIG --includes`"
APR_LIBS="`$APU_CONFIG --link-ld` `$APR_CONFIG --link-ld --libs`"
dnl apr-config repeats itself; a command line that can be read helps whoever looks at a failure.
APR_CPPFLAGS=`echo $APR_CPPFLAGS | tr ' ' '\n' | sort -u | tr '\n' ' '`
AC_SUBST([APR_CPPFLAGS])
AC_SUBST([APR_LIBS])
])

dnl 2.4 is needed; from 2.4.63 on a poll can wait without a thread.
AC_DEFUN([VAULT_APACHE_VERSION], [
vault_saved_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$CPPFLAGS -I$APACHE_INCLUDEDIR $APR_CPPFLAGS"
AC_MSG_CHECKING([for httpd 2.4])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include "httpd.h"
#include "ap_mmn.h"
#if AP_SERVER_MAJORVERSION_NUMBER != 2 || AP_SERVER_MINORVERSION_NUMBER < 4
#error "not 2.4"
#endif]], [])], [AC_MSG_RESULT([yes])],
    [AC_MSG_RESULT([no])
     AC_MSG_ERROR([the headers in $APACHE_INCLUDEDIR do not compile or are not those of httpd 2.4; config.log has what the compiler said.])])
AC_MSG_CHECKING([whether httpd can wait for a descriptor without a thread])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#include "httpd.h"
#include "ap_mpm.h"
static int wanted = AP_MPMQ_CAN_WAITIO + CONN_STATE_ASYNC_WAITIO;]], [[return wanted;]])],
    [vault_parking=yes], [vault_parking="no (httpd 2.4.63 or later can)"])
AC_MSG_RESULT([$vault_parking])
CPPFLAGS=$vault_saved_CPPFLAGS
])

dnl Where modules go, and which httpd tests them.
AC_DEFUN([VAULT_APACHE_PLACES], [
AC_ARG_WITH([apache-libexecdir], [AS_HELP_STRING([--with-apache-libexecdir=DIR],
    [where modules are installed (default: as apxs says)])], [], [with_apache_libexecdir=yes])
AS_CASE([$with_apache_libexecdir],
    [yes|no|""], [apachemoduledir=`$APXS -q LIBEXECDIR 2>/dev/null`],
    [apachemoduledir=$with_apache_libexecdir])
AS_IF([test -z "$apachemoduledir"],
    [AC_MSG_ERROR([$APXS -q LIBEXECDIR says nothing. Give --with-apache-libexecdir=DIR, the folder of httpd's modules.])])
AC_SUBST([apachemoduledir])
dnl The modules of httpd itself, for the demo and the tests.
APACHE_LIBEXECDIR=`$APXS -q LIBEXECDIR 2>/dev/null`
AC_SUBST([APACHE_LIBEXECDIR])

AC_ARG_WITH([httpd], [AS_HELP_STRING([--with-httpd=PATH],
    [the httpd that the tests start (default: as apxs says)])], [], [with_httpd=yes])
AS_CASE([$with_httpd],
    [no], [HTTPD=],
    [yes|""], [HTTPD=`$APXS -q SBINDIR 2>/dev/null`/`$APXS -q TARGET 2>/dev/null`
        AS_IF([test -f "$HTTPD" && test -x "$HTTPD"], [],
            [AS_UNSET([HTTPD])
             AC_PATH_PROGS([HTTPD], [httpd apache2], [], [$PATH:/usr/sbin:/usr/local/apache2/bin])])],
    [AS_IF([test -f "$with_httpd" && test -x "$with_httpd"], [],
        [AC_MSG_ERROR([--with-httpd=$with_httpd: this is not a program. The path of httpd itself is wanted, for example /usr/sbin/apache2.])])
     HTTPD=$with_httpd])
AC_SUBST([HTTPD])
])
