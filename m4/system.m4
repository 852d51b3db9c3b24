dnl SPDX-License-Identifier: Apache-2.0
dnl What the code asks of the system, beyond C11, POSIX and APR: each is probed, so that configure names what is missing.
AC_DEFUN([VAULT_SYSTEM], [
vault_system_CPPFLAGS=$CPPFLAGS
vault_system_LIBS=$LIBS
CPPFLAGS="$CPPFLAGS $APR_CPPFLAGS"
LIBS="$LIBS -lpthread"

VAULT_NEED([memfd_create], [[#include <sys/mman.h>]], [[(void)memfd_create("a", MFD_CLOEXEC)]],
    [feeds share memory between processes with it: Linux 3.17 and glibc 2.27 or musl 1.1.20 have it])
VAULT_NEED([mremap], [[#include <sys/mman.h>]], [[(void)mremap(0, 1, 2, MREMAP_MAYMOVE)]],
    [texts grow with it: Linux has it])
VAULT_NEED([pidfd_open], [[#include <sys/syscall.h>
#include <unistd.h>]], [[(void)syscall(SYS_pidfd_open, 1, 0)]],
    [a process learns with it that the reader of a change log has ended: the headers of Linux 5.3 or later name it])
VAULT_NEED([futex], [[#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>]], [[(void)syscall(SYS_futex, 0, FUTEX_WAIT, 0, 0, 0, 0)]],
    [writers wait with it for the reader of a change log: the headers of Linux have it])
VAULT_NEED([eventfd], [[#include <sys/eventfd.h>]], [[(void)eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)]],
    [threads and processes wake each other with it: Linux 2.6.27 or later has it])
VAULT_NEED([epoll], [[#include <sys/epoll.h>]], [[(void)epoll_create1(EPOLL_CLOEXEC); return EPOLLRDHUP]],
    [the module watches waiting clients with it: Linux 2.6.27 or later has it])
VAULT_NEED([inotify], [[#include <sys/inotify.h>]], [[(void)inotify_init1(IN_CLOEXEC | IN_NONBLOCK)]],
    [the database feed learns with it of writes to a SQLite file: Linux 2.6.27 or later has it])
VAULT_NEED([SIOCOUTQ], [[#include <linux/sockios.h>
#include <sys/ioctl.h>]], [[int n; (void)ioctl(0, SIOCOUTQ, &n)]],
    [the module learns with it what a client has not yet read: the headers of Linux have it])
VAULT_NEED([POLLRDHUP], [[#include <poll.h>]], [[return POLLRDHUP]],
    [the module learns with it that a client hung up: Linux with _GNU_SOURCE has it])
VAULT_NEED([robust mutexes], [[#include <pthread.h>]],
    [[pthread_mutexattr_t a; (void)pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST); (void)pthread_mutex_consistent(0)]],
    [a lock that a killed process held goes on with them: POSIX.1-2008 has them])
VAULT_NEED([condition variables with CLOCK_MONOTONIC], [[#include <pthread.h>
#include <time.h>]], [[pthread_condattr_t a; (void)pthread_condattr_setclock(&a, CLOCK_MONOTONIC)]],
    [waiting does not depend on the clock on the wall with them: POSIX.1-2008 has them])
VAULT_NEED([strchrnul], [[#include <string.h>]], [[return *strchrnul("a", 'b')]],
    [glibc and musl have it])
VAULT_NEED([lock-free 64-bit atomics], [[#include <stdatomic.h>]], [[_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "shared memory needs them")]],
    [processes count in shared memory with them: all 64-bit processors have them])

CPPFLAGS=$vault_system_CPPFLAGS
LIBS=$vault_system_LIBS
])

dnl VAULT_NEED(NAME, INCLUDES, STATEMENTS, WHAT FOR AND WHO HAS IT): an error if a program with the statements does not compile and link.
AC_DEFUN([VAULT_NEED], [
AC_CACHE_CHECK([for $1], [AS_TR_SH([vault_cv_has_$1])],
    [AC_LINK_IFELSE([AC_LANG_PROGRAM([$2], [$3;])], [AS_TR_SH([vault_cv_has_$1])=yes], [AS_TR_SH([vault_cv_has_$1])=no])])
AS_VAR_IF([AS_TR_SH([vault_cv_has_$1])], [yes], [],
    [AC_MSG_ERROR([$1 was not found, and mod_vault cannot be built without it: $4. config.log has what the compiler said.])])
])
