/* SPDX-License-Identifier: Apache-2.0 */
/* How often a watcher asks that is told of nothing. */
#include <stdio.h>

#include <CUnit/CUnit.h>

#include "pace.h"
#include "unit.h"

void vault_database_pace_suite(void);

static void test_pace(void)
{
    static const struct {
        int look;
        apr_time_t quiet;
        unsigned written;
        int since, wait;
        const char *why;
    } rows[] = {
        {200, 0, 0, 1000, 200, "others write"},
        {200, 2000, 0, 1000, 200, "a tenth of two seconds"},
        {200, 2010, 0, 1000, 201, "and of a little more"},
        {200, 7000, 0, 1000, 700, "and of seven"},
        {200, 10000, 0, 1000, 1000, "five looks"},
        {200, 3600000, 0, 1000, 1000, "and no more"},
        {10, 3600000, 0, 1000, 50, "who wants news soon has them soon"},
        {600, 3600000, 0, 1000, 1000, "a second at most"},
        {1000, 3600000, 0, 1000, 1000, "or what was asked for"},
        {60000, 3600000, 0, 1000, 60000, "if that is longer"},
        {60000, APR_INT64_C(100000000000), 0, 1000, 60000, "for three years"},
        {200, 3600000, 14, 1000, 1000, "fourteen writes of its own a second are few"},
        {200, 3600000, 32, 1000, 500, "with twice sixteen it looks twice a second"},
        {200, 3600000, 40, 500, 200, "and with eighty as often as ever"},
        {200, 3600000, 4000000000U, 1000, 200, "and no oftener"},
        {200, 5000, 20, 1000, 500, "a tenth of the quiet time is less"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int wait = database_pace(rows[i].look, apr_time_from_msec(rows[i].quiet), rows[i].written,
                                 apr_time_from_msec(rows[i].since));

        if (wait != rows[i].wait) {
            fprintf(stderr, "\n  %s: %d ms, not %d\n", rows[i].why, wait, rows[i].wait);
        }
        CU_ASSERT_EQUAL(wait, rows[i].wait);
    }
}

void vault_database_pace_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_pace", NULL, NULL);

    CU_add_test(suite, "a tenth of the quiet time, within bounds", test_pace);
}
