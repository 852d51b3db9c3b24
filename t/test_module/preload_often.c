/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_often.c
 * Loaded before a program's libraries (LD_PRELOAD): the program reads its arguments from its standard input, a line for
 * each run, separated by tabs. It runs once for each line, in a process of its own, so that a test that runs it
 * hundreds of times does not load its libraries as often. It writes "CODE\n" or "signal N\n" when a run has ended.
 * The first two arguments name the files for what the run prints and for its errors.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_MAX 64

typedef int main_fn(int argc, char **argv, char **environment);
typedef int start_fn(main_fn *start, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld)(void),
                     void *stack);

int __libc_start_main(main_fn *start, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld)(void),
                      void *stack);

static main_fn *program;

static void redirect(int to, const char *path, int flags)
{
    int file = open(path, flags, 0644);

    if (file < 0 || dup2(file, to) < 0) {
        _exit(126);
    }
    close(file);
}

/* In the process of the run. */
static void run(char *line, char **argv, char **environment)
{
    char *words[WORDS_MAX + 1], *rest = line;
    int count = 0;

    while (rest && count < WORDS_MAX) {
        words[count++] = strsep(&rest, "\t");
    }
    words[count] = NULL;
    if (count < 2) {
        _exit(126);
    }
    redirect(0, "/dev/null", O_RDONLY);
    redirect(1, words[0], O_WRONLY | O_CREAT | O_TRUNC);
    redirect(2, words[1], O_WRONLY | O_CREAT | O_TRUNC);
    words[1] = argv[0];
    exit(program(count - 1, words + 1, environment));
}

static int run_often(int argc, char **argv, char **environment)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    int status;

    while ((length = getline(&line, &size, stdin)) > 0) {
        pid_t pid;

        line[length - 1] = '\0';
        if ((pid = fork()) == 0) {
            run(line, argv, environment);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid) {
            return 125;
        }
        if (WIFSIGNALED(status)) {
            printf("signal %d\n", WTERMSIG(status));
        }
        else {
            printf("%d\n", WEXITSTATUS(status));
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}

int __libc_start_main(main_fn *start, int argc, char **argv, void (*init)(void), void (*fini)(void), void (*rtld)(void),
                      void *stack)
{
    start_fn *real;
    void *found = dlsym(RTLD_NEXT, "__libc_start_main");

    memcpy(&real, &found, sizeof(real));
    program = start;
    return real(run_often, argc, argv, init, fini, rtld, stack);
}
