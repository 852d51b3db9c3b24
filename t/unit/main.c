/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the suites of unit.h, all, those named, or all but those named after --without. Prints
 * the names of the tests that failed, and how many passed and failed. */
#include "unit.h"

#include <stdio.h>
#include <string.h>

#include <CUnit/Basic.h>

#include "apr_general.h"

#ifdef VAULT_DATABASE_FEED
#include <dbi/dbi.h>

/* libdbi's drivers stay loaded until the end, so that the leak checker can name them: t/unit/leaks.txt. */
static void keep_drivers_loaded(void)
{
    static dbi_inst kept;

    dbi_initialize_r(NULL, &kept);
}
#else
static void keep_drivers_loaded(void)
{
}
#endif

#define ROW(name) {#name, vault_##name##_suite},
static const struct {
    const char *name;
    void (*add)(void);
} suites[] = {VAULT_SUITES(ROW)};
#undef ROW

static int wanted(const char *name, int argc, char **argv)
{
    int all_but = argc < 2 || strcmp(argv[1], "--without") == 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0) {
            return !all_but;
        }
    }
    return all_but;
}

/** @return how many suites were asked for and are there; -1 when one added nothing to CUnit */
static int add_wanted(int argc, char **argv)
{
    int added = 0;

    for (size_t i = 0; i < sizeof suites / sizeof suites[0]; i++) {
        unsigned before = CU_get_registry()->uiNumberOfTests;

        if (!wanted(suites[i].name, argc, argv)) {
            continue;
        }
        suites[i].add();
        if (CU_get_registry()->uiNumberOfTests == before) {
            fprintf(stderr, "unit: the suite %s has no tests: %s\n", suites[i].name, CU_get_error_msg());
            return -1;
        }
        added++;
    }
    return added;
}

/* A test's failures follow each other in CUnit's list. */
static void print_failed_tests(void)
{
    const CU_Test *last = NULL;

    for (const CU_FailureRecord *failure = CU_get_failure_list(); failure != NULL; failure = failure->pNext) {
        if (failure->pTest != NULL && failure->pTest != last) {
            printf("not ok - %s: %s\n", failure->pSuite->pName, failure->pTest->pName);
        }
        last = failure->pTest;
    }
}

/** @return the exit code: 0 only when tests ran and none failed */
static int run_and_count(void)
{
    unsigned run, failed, suites_failed;

    CU_basic_set_mode(CU_BRM_VERBOSE);
    if (CU_basic_run_tests() != CUE_SUCCESS) {
        fprintf(stderr, "unit: %s\n", CU_get_error_msg());
    }
    run = CU_get_number_of_tests_run();
    failed = CU_get_number_of_tests_failed();
    suites_failed = CU_get_number_of_suites_failed();
    print_failed_tests();
    printf("# tests: %u passed, %u failed\n", run - failed, failed + suites_failed);
    return run == 0 || failed + suites_failed > 0;
}

int main(int argc, char **argv)
{
    int added, code = 1;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (apr_initialize() != APR_SUCCESS || CU_initialize_registry() != CUE_SUCCESS) {
        fprintf(stderr, "unit: APR or CUnit cannot be initialised\n");
        return 1;
    }
    keep_drivers_loaded();
    added = add_wanted(argc, argv);
    if (added == 0) {
        fprintf(stderr, "unit: no such suite; the suites are in t/unit/unit.h\n");
    }
    else if (added > 0) {
        code = run_and_count();
    }
    CU_cleanup_registry();
    apr_terminate();
    return code;
}
