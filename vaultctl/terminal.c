/* SPDX-License-Identifier: Apache-2.0 */
/* Reads keys without Enter: see terminal.h. */
#include "terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

static struct termios before, live;
static volatile sig_atomic_t changed;

/* Async-signal-safe. */
static void restore(void)
{
    if (changed) {
        tcsetattr(STDIN_FILENO, TCSANOW, &before);
    }
}

/* Ends by the same signal, so that the parent process sees it. The handler has been reset, and the signal is
 * not blocked. */
static void end_by(int signal)
{
    restore();
    raise(signal);
}

/* Ctrl-Z: restores the terminal for the shell, and changes it again when the program continues. */
static void stop(int signal)
{
    int error = errno;

    restore();
    raise(SIGSTOP);
    if (changed && tcgetpgrp(STDIN_FILENO) == getpgrp()) {
        tcsetattr(STDIN_FILENO, TCSANOW, &live);
    }
    errno = error;
}

static void catch (int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, NULL);
}

void vaultctl_terminal_begin(void)
{
    static const int ends[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO) || tcgetpgrp(STDIN_FILENO) != getpgrp() ||
        tcgetattr(STDIN_FILENO, &before) != 0) {
        return;
    }
    live = before;
    live.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
    live.c_cc[VMIN] = 1;
    live.c_cc[VTIME] = 0;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        catch (ends[i], end_by, (int)(SA_RESETHAND | SA_NODEFER));
    }
    catch (SIGTSTP, stop, SA_RESTART);
    changed = 1;
    tcsetattr(STDIN_FILENO, TCSANOW, &live);
}

int vaultctl_terminal_wait(apr_interval_time_t time)
{
    apr_time_t end = apr_time_now() + time;
    struct pollfd input = {.fd = changed ? STDIN_FILENO : -1, .events = POLLIN};
    unsigned char key;

    while (time > 0) {
        if (poll(&input, 1, (int)apr_time_as_msec(time + 999)) > 0) {
            if (read(STDIN_FILENO, &key, 1) == 1) {
                return key;
            }
            input.fd = -1; /* the input has ended, so there will be no keys */
        }
        time = end - apr_time_now();
    }
    return 0;
}

void vaultctl_terminal_end(void)
{
    restore();
    changed = 0;
}
