/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the rates: how many a second, of whom, and what a clock that jumps does. */
#include <pthread.h>

#include "fixture.h"
#include "rate.h"
#include "unit.h"

#define NOW apr_time_from_sec(1000000)
#define ANNA 7
#define BERT 8

static vault_rates_t *begin(fixture_t *f)
{
    vault_rates_t *rates;

    fixture_begin(f, 16, 2, 0);
    CU_ASSERT_FATAL(vault_rates_create(&rates, f->segment) == APR_SUCCESS);
    return rates;
}

/* How many of `tries` at that moment are admitted. */
static int admitted(vault_rates_t *rates, apr_uint32_t client, unsigned per_second, apr_time_t now, int tries)
{
    int n = 0;

    while (tries--) {
        n += vault_rates_admit(rates, client, per_second, now);
    }
    return n;
}

static void a_second_s_worth_at_once_and_no_more(void)
{
    static const struct row_t {
        apr_time_t later; /* microseconds after the first */
        int admitted;
        const char *why;
    } rows[] = {
        {0, 10, "a second's worth at once"},
        {0, 0, "and then none"},
        {99999, 0, "nor before a tenth of a second"},
        {100000, 1, "then one"},
        {350000, 2, "and as many as time has come"},
        {5000000, 10, "what was not used is not kept for longer than a second"},
    };
    fixture_t f;
    vault_rates_t *rates = begin(&f);
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_ROW(admitted(rates, ANNA, 10, NOW + rows[i].later, 20) == rows[i].admitted, rows[i].why);
    }
    CU_ASSERT_EQUAL(admitted(rates, BERT, 10, NOW, 20), 10); /* another client */
    CU_ASSERT_EQUAL(admitted(rates, 9, 1, NOW, 20), 1);
    fixture_end(&f);
}

static void a_clock_that_was_set_back_stops_nobody(void)
{
    fixture_t f;
    vault_rates_t *rates = begin(&f);

    CU_ASSERT_EQUAL(admitted(rates, ANNA, 10, NOW, 20), 10);
    CU_ASSERT_EQUAL(admitted(rates, ANNA, 10, NOW - apr_time_from_sec(3600), 20), 10);
    fixture_end(&f);
}

typedef struct race_t {
    vault_rates_t *rates;
    int admitted;
} race_t;

static void *ask(void *baton)
{
    race_t *race = baton;

    race->admitted = admitted(race->rates, ANNA, 100000, NOW, 100000);
    return NULL;
}

static void two_at_once_get_no_more_than_one(void)
{
    fixture_t f;
    race_t races[2];
    pthread_t thread;

    races[0].rates = races[1].rates = begin(&f);
    CU_ASSERT_FATAL(pthread_create(&thread, NULL, ask, &races[0]) == 0);
    ask(&races[1]);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(races[0].admitted + races[1].admitted, 100000);
    fixture_end(&f);
}

void vault_rate_suite(void)
{
    CU_pSuite suite = CU_add_suite("rate", NULL, NULL);

    CU_add_test(suite, "a_second_s_worth_at_once_and_no_more", a_second_s_worth_at_once_and_no_more);
    CU_add_test(suite, "a_clock_that_was_set_back_stops_nobody", a_clock_that_was_set_back_stops_nobody);
    CU_add_test(suite, "two_at_once_get_no_more_than_one", two_at_once_get_no_more_than_one);
}
