/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a program with pipes at its standard input, output and error. */
#include "bundle/bundle_tool.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apr_file_info.h"
#include "apr_portable.h"
#include "apr_strings.h"
#include "apr_thread_proc.h"

#include "base/hash.h"
#include "base/now.h"
#include "bundle/bundle_files.h"

#define SEED 0x746f6f6cULL
#define ERRORS_MAX 2000
#define CHUNK 65536
#define DEFAULT_PATH "/usr/local/bin:/usr/bin:/bin"
/* How often the end of a program is checked after it has closed its output. */
#define WAIT_INTERVAL apr_time_from_msec(5)

/* ------------------------------------------------------------------- parsing */

static int is_program(const char *path, apr_finfo_t *info, apr_pool_t *pool)
{
    return apr_stat(info, path, APR_FINFO_MIN | APR_FINFO_IDENT, pool) == APR_SUCCESS && info->filetype == APR_REG &&
           !access(path, X_OK);
}

static const char *find_program(const char *name, apr_finfo_t *info, apr_pool_t *pool)
{
    const char *path = getenv("PATH"), *folder;
    char *rest = NULL, *all;

    if (strchr(name, '/')) {
        return is_program(name, info, pool) ? name : NULL;
    }
    all = apr_pstrdup(pool, path && *path ? path : DEFAULT_PATH);
    for (folder = apr_strtok(all, ":", &rest); folder; folder = apr_strtok(NULL, ":", &rest)) {
        const char *file = apr_pstrcat(pool, folder, "/", name, NULL);
        if (*folder == '/' && is_program(file, info, pool)) {
            return file;
        }
    }
    return NULL;
}

const char *vault_bundle_tool_parse(vault_bundle_tool_t *tool, const char *command, apr_pool_t *pool)
{
    apr_uint64_t program_id[4];
    apr_finfo_t info;
    char **argv;

    if (apr_tokenize_to_argv(command, &argv, pool) != APR_SUCCESS || !argv[0] || !argv[0][0]) {
        return "a command is needed";
    }
    tool->command = command;
    tool->argv = (const char *const *)argv;
    tool->program = find_program(argv[0], &info, pool);
    if (!tool->program || *tool->program != '/') {
        return apr_psprintf(pool,
                            "there is no program \"%s\"; the name of a program in PATH is accepted, or its "
                            "absolute path",
                            argv[0]);
    }
    program_id[0] = (apr_uint64_t)info.device;
    program_id[1] = (apr_uint64_t)info.inode;
    program_id[2] = (apr_uint64_t)info.size;
    program_id[3] = (apr_uint64_t)info.mtime;
    tool->identity = vault_hash(vault_hash_text(SEED, command), program_id, sizeof(program_id));
    tool->version = vault_hash(vault_hash_text(SEED, command), &program_id[2], 2 * sizeof(program_id[0]));
    return NULL;
}

/* ------------------------------------------------------------------- running */

/* One run. */
typedef struct pipes_t {
    apr_proc_t proc;
    int in, out, err; /* the server's ends; -1: closed */
    const char *text; /* what is left to write */
    apr_size_t left;
    char *output; /* what was read */
    apr_size_t output_size, output_capacity;
    apr_size_t errors_size;
    vault_bundle_run_t *run;
    apr_pool_t *pool;
} pipes_t;

static int fd_of(apr_file_t *file)
{
    apr_os_file_t fd = -1;

    return file && apr_os_file_get(&fd, file) == APR_SUCCESS ? fd : -1;
}

/* A program that another thread starts at the same time must not inherit the ends of these pipes that are meant for
 * this program: then this one would not see the end of its input. */
static apr_status_t start(pipes_t *p, const vault_bundle_tool_t *tool)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    apr_procattr_t *attr;
    apr_status_t rv;

    pthread_mutex_lock(&one_at_a_time);
    if ((rv = apr_procattr_create(&attr, p->pool)) == APR_SUCCESS &&
        (rv = apr_procattr_io_set(attr, APR_CHILD_BLOCK, APR_CHILD_BLOCK, APR_CHILD_BLOCK)) == APR_SUCCESS &&
        (rv = apr_procattr_cmdtype_set(attr, APR_PROGRAM_ENV)) == APR_SUCCESS &&
        (rv = apr_procattr_error_check_set(attr, 1)) == APR_SUCCESS) {
        rv = apr_proc_create(&p->proc, tool->program, tool->argv, NULL, attr, p->pool);
    }
    pthread_mutex_unlock(&one_at_a_time);
    if (rv == APR_SUCCESS) {
        p->in = fd_of(p->proc.in);
        p->out = fd_of(p->proc.out);
        p->err = fd_of(p->proc.err);
    }
    return rv;
}

static void end_input(pipes_t *p)
{
    if (p->in >= 0) {
        apr_file_close(p->proc.in);
        p->in = -1;
    }
}

/* A program may end, or close its input, without reading all. Its output and exit code then decide. */
static void write_input(pipes_t *p)
{
    ssize_t n = p->left ? write(p->in, p->text, p->left < CHUNK ? p->left : CHUNK) : 0;

    if (n > 0) {
        p->text += n;
        p->left -= (apr_size_t)n;
    }
    if (!p->left || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        end_input(p);
    }
}

static void grow_output(pipes_t *p)
{
    apr_size_t room = p->output_capacity ? 2 * p->output_capacity : CHUNK;
    char *larger;

    if (p->output_capacity - p->output_size >= CHUNK) {
        return;
    }
    room = room < p->output_size + CHUNK ? p->output_size + CHUNK : room;
    larger = apr_palloc(p->pool, room + 1);
    if (p->output_size) {
        memcpy(larger, p->output, p->output_size);
    }
    p->output = larger;
    p->output_capacity = room;
}

static void read_output(pipes_t *p)
{
    ssize_t n;

    grow_output(p);
    n = read(p->out, p->output + p->output_size, CHUNK);
    if (n > 0) {
        p->output_size += (apr_size_t)n;
    }
    else if (!n || (errno != EAGAIN && errno != EINTR)) {
        p->out = -1;
    }
}

/* Reads standard error. Keeps the first ERRORS_MAX bytes, and discards the rest so that the program does not block. */
static void read_errors(pipes_t *p)
{
    char buffer[1024];
    ssize_t n = read(p->err, buffer, sizeof(buffer));
    apr_size_t kept = n > 0 ? (apr_size_t)n : 0;

    if (!n || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        p->err = -1;
    }
    kept = kept < ERRORS_MAX - p->errors_size ? kept : ERRORS_MAX - p->errors_size;
    memcpy(p->run->errors + p->errors_size, buffer, kept);
    p->errors_size += kept;
    p->run->errors[p->errors_size] = '\0';
}

/* @return 0: the time is up */
static int exchange(pipes_t *p, apr_time_t end)
{
    while (p->out >= 0 && p->output_size <= VAULT_BUNDLE_MAX) {
        struct pollfd fds[3] = {{p->in, POLLOUT, 0}, {p->out, POLLIN, 0}, {p->err, POLLIN, 0}};
        apr_interval_time_t left = end - vault_now();

        if (left <= 0) {
            return 0;
        }
        if (poll(fds, 3, (int)(left / 1000) + 1) < 0 && errno != EINTR) {
            return 0;
        }
        if (p->in >= 0 && fds[0].revents) {
            write_input(p);
        }
        if (p->err >= 0 && fds[2].revents) {
            read_errors(p);
        }
        if (fds[1].revents) {
            read_output(p);
        }
    }
    return 1;
}

/* Wait for the end of a program that has closed its output. @return 0: the time is up, and it was killed */
static int wait_for_end(pipes_t *p, apr_time_t end, int *code, apr_exit_why_e *how)
{
    while (apr_proc_wait(&p->proc, code, how, APR_NOWAIT) == APR_CHILD_NOTDONE) {
        if (vault_now() >= end) {
            kill(p->proc.pid, SIGKILL); /* a program may ignore SIGTERM */
            apr_proc_wait(&p->proc, code, how, APR_WAIT);
            return 0;
        }
        apr_sleep(WAIT_INTERVAL);
    }
    return 1;
}

/* The program has ended: reads what is left in the pipe of its standard error. */
static void drain_errors(pipes_t *p)
{
    struct pollfd fd = {p->err, POLLIN, 0};

    while (p->err >= 0 && poll(&fd, 1, 0) > 0) {
        read_errors(p);
    }
}

static const char *check_exit(const pipes_t *p, int code, apr_exit_why_e how, apr_size_t size)
{
    if (how & (APR_PROC_SIGNAL | APR_PROC_SIGNAL_CORE)) {
        return apr_psprintf(p->pool, "it ended by the signal %d", code);
    }
    if (code) {
        return apr_psprintf(p->pool, "it ended with the exit code %d", code);
    }
    if (size && !p->output_size) {
        return "it has written nothing";
    }
    return NULL;
}

const char *vault_bundle_tool_run(const vault_bundle_tool_t *tool, const char *text, apr_size_t size,
                                  apr_interval_time_t limit, vault_bundle_run_t *run, apr_pool_t *pool)
{
    pipes_t p = {.in = -1, .out = -1, .err = -1, .text = text, .left = size, .run = run, .pool = pool};
    apr_time_t end = vault_now() + limit;
    apr_exit_why_e how = APR_PROC_EXIT;
    int code = 0, in_time;
    apr_status_t rv;
    char why[120];

    run->errors = apr_pcalloc(pool, ERRORS_MAX + 1);
    if ((rv = start(&p, tool)) != APR_SUCCESS) {
        return apr_psprintf(pool, "it cannot be started: %s", apr_strerror(rv, why, sizeof(why)));
    }
    in_time = exchange(&p, end);
    end_input(&p);
    if (p.output_size > VAULT_BUNDLE_MAX) {
        end = 0;
    }
    in_time = wait_for_end(&p, in_time ? end : 0, &code, &how) && in_time;
    drain_errors(&p);
    apr_file_close(p.proc.out);
    apr_file_close(p.proc.err);
    if (p.output_size > VAULT_BUNDLE_MAX) {
        return apr_psprintf(pool, "it writes more than %dM", (int)(VAULT_BUNDLE_MAX >> 20));
    }
    if (!in_time) {
        return apr_psprintf(pool, "it was killed after VaultBundleTimeout %d", (int)apr_time_sec(limit));
    }
    run->text = p.output;
    run->size = p.output_size;
    return check_exit(&p, code, how, size);
}
