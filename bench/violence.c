/* SPDX-License-Identifier: Apache-2.0 */
/* Signals to the server: see violence.h. */
#include "violence.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "wire.h"

#define CHILDREN_MAX 256

violence_counts_t violence_counts;

static int parent;
static const char *varied;

static void send_signal(int pid, int number)
{
    if (kill(pid, number) != 0 && errno != ESRCH) {
        wire_die("process %d: %s", pid, strerror(errno));
    }
}

/* Those that serve, by the status: httpd may have other children. */
static int list_children(int pids[CHILDREN_MAX])
{
    const char *line = control_get("/vault/status?auto");
    int count = 0, number, pid;

    while (line != NULL && count < CHILDREN_MAX) {
        if (sscanf(line, "Child%dPid: %d", &number, &pid) == 2) {
            pids[count++] = pid;
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return count;
}

static void kill_child(unsigned which)
{
    int pids[CHILDREN_MAX], count = list_children(pids);

    if (count > 0) {
        send_signal(pids[which % (unsigned)count], SIGKILL);
        violence_counts.kills++;
    }
}

static void restart(void)
{
    send_signal(parent, SIGUSR1);
    violence_counts.restarts++;
}

static void reload(int poll_timeout, int page_timeout, int runs)
{
    FILE *file = varied != NULL ? fopen(varied, "we") : NULL;

    if (varied != NULL && file == NULL) {
        wire_die("%s: %s", varied, strerror(errno));
    }
    if (file != NULL) {
        fprintf(file, "VaultPageTimeout %d\nVaultLongPollRuns %d\n", page_timeout, runs);
        fprintf(file, "<Location \"/vault/poll\">\nVaultLongPollTimeout %d\n</Location>\n", poll_timeout);
        fclose(file);
        violence_counts.reloads++;
    }
    restart();
}

void violence_start(int httpd, const char *file)
{
    parent = httpd;
    varied = file;
}

void violence_act(const plan_act_t *act)
{
    static const int timeouts[] = {1, 2, 60, 60};

    if (act->kind == PLAN_KILL) {
        kill_child(act->which);
    }
    else if (act->kind == PLAN_RESTART) {
        restart();
    }
    else if (act->kind == PLAN_RELOAD) {
        reload(timeouts[act->which % 4], 30, 1 + (int)(act->how % 4));
    }
}

void violence_settle(int poll_timeout, int page_timeout)
{
    reload(poll_timeout, page_timeout, 2);
}
