/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of transactions over a page: whether a method has to read, what a failed or refused one leaves, and what a method sees. */
#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"
#include "page/interest_set.h"
#include "page_txn_scene.h"

/* ------------------------------------------------------------------ to look or not */

static void the_first_run_finds_what_the_view_saw(void)
{
    scene_t s;

    scene_begin(&s);
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT_STRING_EQUAL(vault_page_txn_cursor(s.txn, "c"), "seen by the view");
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "c", "x"), 0);
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "d", "x"), 1); /* of another cursor the view said nothing */
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "c", "y"), 1); /* nor of another interest */
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    commit_round(&s);
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 0);
    CU_ASSERT_EQUAL(ask(&s, "/m", "d", "x"), 0);
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "y"), 0);
    scene_end(&s);
}

/* The stamp is compared with the committed one, never with that captured in this transaction. */
static void every_caller_in_a_run_gets_the_same_answer(void)
{
    scene_t s;
    int i;

    scene_begin(&s);
    notify(&s, "x");
    vault_page_txn_begin(s.txn, "/m");
    for (i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "c", "x"), 1);
    }
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_EQUAL(ask(&s, "/n", "c", "x"), 1); /* another method of the same round */
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 1); /* the same once more: nothing is committed yet */
    commit_round(&s);
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 0);
    scene_end(&s);
}

static void each_method_sees_an_interest_move(void)
{
    scene_t s;

    scene_begin(&s);
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 0);
    CU_ASSERT_EQUAL(ask(&s, "/n", "c", "x"), 0);
    commit_round(&s);
    notify(&s, "x");
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 1);
    commit_round(&s);
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 0);
    CU_ASSERT_EQUAL(ask(&s, "/n", "c", "x"), 1); /* it has not seen it yet */
    commit_round(&s);
    CU_ASSERT_EQUAL(ask(&s, "/n", "c", "x"), 0);
    scene_end(&s);
}

static void after_a_death_everybody_looks(void)
{
    scene_t s;

    scene_begin(&s);
    vault_notifier_all(s.f.notifier, 0);
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 1);
    commit_round(&s);
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 0);
    scene_end(&s);
}

/* The data may have been read after the first capture and before the second. I2. */
static void the_oldest_stamp_counts(void)
{
    scene_t s;
    vault_method_t *m;
    vault_dep_t *dep;

    scene_begin(&s);
    vault_page_txn_begin(s.txn, "/m");
    vault_page_txn_create_interest(s.txn, "c", "x");
    notify(&s, "x"); /* after the feed read */
    vault_page_txn_create_interest(s.txn, "c", "x");
    vault_page_txn_create_interest(s.txn, "d", "x");
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    m = vault_state_method(vault_page_txn_state(s.txn), "/m");
    CU_ASSERT_EQUAL_FATAL(m->deps->nelts, 1);
    dep = (vault_dep_t *)m->deps->elts;
    CU_ASSERT(vault_interest_stamp(s.f.notifier, dep->interest) > dep->stamp); /* so the method has moved */
    commit_round(&s);
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 1);
    CU_ASSERT_EQUAL(ask(&s, "/m", "d", "x"), 0); /* it looked after the notify */
    scene_end(&s);
}

static void an_interest_made_anew_has_moved(void)
{
    scene_t s;

    scene_begin(&s);
    ask(&s, "/m", "c", "x");
    ask(&s, "/n", "d", "y");
    commit_round(&s);
    vault_page_txn_begin(s.txn, "/n");
    CU_ASSERT(vault_page_txn_end(s.txn, 1)); /* /n waits for nothing now, but its cursor still names y */
    commit_round(&s);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "y", 0), APR_SUCCESS);
    CU_ASSERT_EQUAL(ask(&s, "/n", "d", "y"), 1);
    scene_end(&s);
}

/* ------------------------------------------------------------------- failures */

static int is_as_the_view_left_it(scene_t *s)
{
    const vault_state_t *state = vault_page_txn_state(s->txn);
    const vault_method_t *m = vault_state_method(state, "/m");

    return state->cursors->nelts == 1 && state->properties->nelts == 1 && state->methods->nelts == 2 && m && !m->deps &&
           !strcmp(vault_state_property(state, "p")->value, "of the view") &&
           !strcmp(vault_state_cursor(state, "", "c")->value, "seen by the view");
}

static void do_everything(scene_t *s)
{
    vault_page_txn_create_interest(s->txn, "c", "x");
    vault_page_txn_create_interest(s->txn, "d", "y");
    vault_page_txn_set_cursor(s->txn, "c", "later");
    vault_page_txn_set(s->txn, "p", "changed");
    vault_page_txn_set(s->txn, "q", "new");
}

static void a_method_that_failed_contributes_nothing(void)
{
    scene_t s;
    vault_state_t *state;

    scene_begin(&s);
    notify(&s, "x");
    vault_page_txn_begin(s.txn, "/m");
    do_everything(&s);
    CU_ASSERT(!vault_page_txn_end(s.txn, 0));
    CU_ASSERT(is_as_the_view_left_it(&s));
    vault_page_txn_begin(s.txn, "/m");
    do_everything(&s);
    vault_page_txn_fail(s.txn, "the database is away");
    vault_page_txn_fail(s.txn, "a second reason");
    CU_ASSERT_STRING_EQUAL(vault_page_txn_failed(s.txn), "the database is away");
    CU_ASSERT(!vault_page_txn_end(s.txn, 1));
    CU_ASSERT(is_as_the_view_left_it(&s));
    vault_page_txn_begin(s.txn, "/n"); /* the next one of the round is not touched by it */
    CU_ASSERT_PTR_NULL(vault_page_txn_failed(s.txn));
    CU_ASSERT_STRING_EQUAL(vault_page_txn_get(s.txn, "p"), "of the view");
    CU_ASSERT_PTR_NULL(vault_page_txn_get(s.txn, "q"));
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "c", "x"), 1);
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    state = vault_page_txn_state(s.txn);
    CU_ASSERT_PTR_NULL(vault_state_method(state, "/m")->deps); /* it has never run */
    CU_ASSERT_EQUAL(vault_state_method(state, "/n")->deps->nelts, 1);
    commit_round(&s);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "y", 0), APR_NOTFOUND); /* let go */
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 1);                                /* it looks again */
    scene_end(&s);
}

static const vault_refusal_t *refusal_of(scene_t *s, const char *url)
{
    return &vault_state_method(vault_page_txn_state(s->txn), url)->refusal;
}

static void a_method_that_is_refused_contributes_nothing_and_rests(void)
{
    static const unsigned rests[] = {30, 60, 120, 240, 300, 300};
    scene_t s;
    unsigned i;

    scene_begin(&s);
    notify(&s, "x");
    for (i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
        vault_page_txn_begin(s.txn, "/m");
        CU_ASSERT_EQUAL(vault_page_txn_is_refused(s.txn, 401), i != 0);
        CU_ASSERT(!vault_page_txn_is_refused(s.txn, 403));
        do_everything(&s);
        vault_page_txn_refuse(s.txn, 401, NOW);
        CU_ASSERT(is_as_the_view_left_it(&s));
        CU_ASSERT_EQUAL(refusal_of(&s, "/m")->status, 401);
        CU_ASSERT_EQUAL(refusal_of(&s, "/m")->until, NOW + apr_time_from_sec(rests[i]));
        CU_ASSERT_EQUAL(refusal_of(&s, "/n")->status, 0);
        commit_round(&s);
    }
    CU_ASSERT_EQUAL(ask(&s, "/m", "c", "x"), 1); /* it works again, and looks */
    CU_ASSERT_EQUAL(refusal_of(&s, "/m")->status, 0);
    commit_round(&s);
    vault_page_txn_begin(s.txn, "/m");
    vault_page_txn_refuse(s.txn, 403, NOW);
    CU_ASSERT_EQUAL(refusal_of(&s, "/m")->seconds, 30); /* what was before is forgotten */
    scene_end(&s);
}

/* Runs /m once, and ends it with `ok`. */
static const vault_method_t *share(scene_t *s, int shared, vault_personal_t personal, int ok)
{
    vault_page_txn_begin(s->txn, "/m");
    vault_page_txn_share(s->txn, shared, personal);
    vault_page_txn_end(s->txn, ok);
    commit_round(s);
    return vault_state_method(vault_page_txn_base(s->txn), "/m");
}

static void outputs_of_other_runs_are_counted(void)
{
    const vault_method_t *m;
    scene_t s;

    scene_begin(&s);
    m = share(&s, 1, VAULT_PERSONAL_NOT, 1);
    CU_ASSERT(m->shared == 1 && !m->personal);
    m = share(&s, 0, VAULT_PERSONAL_NOT, 1);
    CU_ASSERT(m->shared == 1 && !m->personal);
    m = share(&s, 1, VAULT_PERSONAL_NOT, 0); /* a failed one contributes nothing */
    CU_ASSERT_EQUAL(m->shared, 1);
    m = share(&s, 0, VAULT_PERSONAL_USER, 1);
    CU_ASSERT(m->shared == 1 && m->personal == VAULT_PERSONAL_USER);
    m = share(&s, 1, VAULT_PERSONAL_NOT, 1);
    CU_ASSERT(m->shared == 2 && !m->personal);
    vault_page_txn_begin(s.txn, "/m"); /* what was noted is forgotten */
    vault_page_txn_end(s.txn, 1);
    CU_ASSERT_EQUAL(vault_state_method(vault_page_txn_state(s.txn), "/m")->shared, 2);
    scene_end(&s);
}

static void a_write_from_outside_ends_its_rest(void)
{
    vault_property_t property = {"user", "anna"};
    vault_write_t write = {0};
    apr_array_header_t *properties;
    scene_t s;

    scene_begin(&s);
    ask(&s, "/m", "c", "x");
    commit_round(&s);
    vault_page_txn_begin(s.txn, "/m");
    vault_page_txn_refuse(s.txn, 401, NOW);
    commit_round(&s);
    CU_ASSERT(vault_method_rests(vault_state_method(vault_page_txn_base(s.txn), "/m"), NOW));
    properties = apr_array_make(s.f.pool, 1, sizeof(property));
    *(vault_property_t *)apr_array_push(properties) = property;
    write.properties = properties;
    CU_ASSERT_EQUAL(vault_page_write(s.pages, &s.page, NULL, &write, s.f.pool), APR_SUCCESS);
    begin_round(&s);
    CU_ASSERT(!vault_method_rests(vault_state_method(vault_page_txn_base(s.txn), "/m"), NOW));
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT(vault_page_txn_is_refused(s.txn, 401)); /* the page knows, should it be refused again */
    vault_page_txn_refuse(s.txn, 401, NOW);
    CU_ASSERT_EQUAL(refusal_of(&s, "/m")->seconds, 30);
    scene_end(&s);
}

/* A busy interest must not wake a page that would not run the method. */
static void what_a_method_that_rests_waits_for_is_not_watched(void)
{
    vault_interest_set_t interests = {0};
    scene_t s;

    scene_begin(&s);
    ask(&s, "/m", "c", "x");
    ask(&s, "/n", "d", "y");
    commit_round(&s);
    vault_page_txn_begin(s.txn, "/m");
    vault_page_txn_refuse(s.txn, 401, NOW);
    commit_round(&s);
    vault_interest_set_clear(&interests, 3, s.f.pool);
    vault_interest_set_add(&interests, s.ticket.interest, vault_page_txn_base(s.txn), NOW);
    CU_ASSERT_EQUAL(interests.count, 2); /* the page's own, and y */
    vault_interest_set_clear(&interests, 3, s.f.pool);
    vault_interest_set_add(&interests, s.ticket.interest, vault_page_txn_base(s.txn), NOW + apr_time_from_sec(30));
    CU_ASSERT_EQUAL(interests.count, 3);
    scene_end(&s);
}

static void what_cannot_be_kept_fails_the_method(void)
{
    char too_long[VAULT_INTEREST_MAX + 2];
    char long_value[VAULT_PROPERTY_VALUE_MAX + 2];
    scene_t s;
    int i;

    memset(too_long, 'x', sizeof(too_long));
    too_long[VAULT_INTEREST_MAX + 1] = '\0';
    memset(long_value, 'v', sizeof(long_value));
    long_value[VAULT_PROPERTY_VALUE_MAX + 1] = '\0';
    scene_begin(&s);
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "c", too_long), 1);
    CU_ASSERT(!vault_page_txn_end(s.txn, 1));
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "c", ""), 1);
    CU_ASSERT(!vault_page_txn_end(s.txn, 1));
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT_EQUAL(vault_page_txn_set_cursor(s.txn, "c", long_value), APR_EINVAL);
    CU_ASSERT(!vault_page_txn_end(s.txn, 1));
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT_EQUAL(vault_page_txn_set_cursor(s.txn, "c", long_value + 1), APR_SUCCESS);
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    vault_page_txn_begin(s.txn, "/m");
    for (i = 1; i < VAULT_PAGE_INTERESTS; i++) { /* the view has one */
        CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "c", apr_psprintf(s.f.pool, "i-%d", i)), 1);
    }
    CU_ASSERT_PTR_NULL(vault_page_txn_failed(s.txn));
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "c", "one more"), 1);
    CU_ASSERT(!vault_page_txn_end(s.txn, 1));
    vault_page_drop(s.pages, &s.page);
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "c", "x"), 1);
    CU_ASSERT_PTR_NOT_NULL(vault_page_txn_failed(s.txn));
    scene_end(&s);
}

/* ------------------------------------------------------------- what a method sees */

static void a_method_sees_its_own_writes_only(void)
{
    scene_t s;

    scene_begin(&s);
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT_STRING_EQUAL(vault_page_txn_get(s.txn, "p"), "of the view");
    CU_ASSERT_EQUAL(vault_page_txn_set(s.txn, "p", "of m"), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(vault_page_txn_get(s.txn, "p"), "of m");
    CU_ASSERT_EQUAL(vault_page_txn_set(s.txn, "p", NULL), APR_SUCCESS);
    CU_ASSERT_PTR_NULL(vault_page_txn_get(s.txn, "p"));
    CU_ASSERT_EQUAL(vault_page_txn_set(s.txn, "q", ""), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(vault_page_txn_get(s.txn, "q"), "");
    vault_page_txn_set_cursor(s.txn, "c", "of m");
    CU_ASSERT_STRING_EQUAL(vault_page_txn_cursor(s.txn, "c"), "seen by the view"); /* committed ones only */
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    vault_page_txn_begin(s.txn, "/n");
    CU_ASSERT_STRING_EQUAL(vault_page_txn_get(s.txn, "p"), "of the view");
    CU_ASSERT_PTR_NULL(vault_page_txn_get(s.txn, "q"));
    CU_ASSERT_STRING_EQUAL(vault_page_txn_cursor(s.txn, "c"), "seen by the view");
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    commit_round(&s);
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT_PTR_NULL(vault_page_txn_get(s.txn, "p"));
    CU_ASSERT_STRING_EQUAL(vault_page_txn_get(s.txn, "q"), "");
    CU_ASSERT_STRING_EQUAL(vault_page_txn_cursor(s.txn, "c"), "of m");
    vault_page_txn_begin(s.txn, "/n");
    CU_ASSERT_STRING_EQUAL(vault_page_txn_cursor(s.txn, "c"), "seen by the view"); /* its own it never set */
    CU_ASSERT_PTR_NULL(vault_page_txn_cursor(s.txn, "unknown"));
    scene_end(&s);
}

static void properties_have_bounds(void)
{
    char key[VAULT_PROPERTY_KEY_MAX + 2], value[VAULT_PROPERTY_VALUE_MAX + 2];
    const struct {
        const char *key, *value;
        apr_status_t set;
        const char *why;
    } rows[] = {
        {"", "v", APR_EINVAL, "no key"},
        {"k", "", APR_SUCCESS, "an empty value"},
        {"k", NULL, APR_SUCCESS, "removed"},
        {"none", NULL, APR_SUCCESS, "removed, though it was not there"},
        {key + 1, "v", APR_SUCCESS, "the longest key"},
        {key, "v", APR_EINVAL, "a key too long by one"},
        {"k", value + 1, APR_SUCCESS, "the longest value"},
        {"k", value, APR_EINVAL, "a value too long by one"},
    };
    scene_t s;
    unsigned i;

    memset(key, 'k', sizeof(key));
    key[VAULT_PROPERTY_KEY_MAX + 1] = '\0';
    memset(value, 'v', sizeof(value));
    value[VAULT_PROPERTY_VALUE_MAX + 1] = '\0';
    scene_begin(&s);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *got;

        vault_page_txn_begin(s.txn, "/m");
        CHECK_ROW(vault_page_txn_set(s.txn, rows[i].key, rows[i].value) == rows[i].set, rows[i].why);
        got = vault_page_txn_get(s.txn, rows[i].key);
        CHECK_ROW(rows[i].set == APR_SUCCESS && rows[i].value ? got && !strcmp(got, rows[i].value) : !got, rows[i].why);
    }
    scene_end(&s);
}
void vault_page_txn_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_txn", NULL, NULL);

    CU_ADD_TEST(suite, the_first_run_finds_what_the_view_saw);
    CU_ADD_TEST(suite, every_caller_in_a_run_gets_the_same_answer);
    CU_ADD_TEST(suite, each_method_sees_an_interest_move);
    CU_ADD_TEST(suite, after_a_death_everybody_looks);
    CU_ADD_TEST(suite, the_oldest_stamp_counts);
    CU_ADD_TEST(suite, an_interest_made_anew_has_moved);
    CU_ADD_TEST(suite, a_method_that_failed_contributes_nothing);
    CU_ADD_TEST(suite, a_method_that_is_refused_contributes_nothing_and_rests);
    CU_ADD_TEST(suite, outputs_of_other_runs_are_counted);
    CU_ADD_TEST(suite, a_write_from_outside_ends_its_rest);
    CU_ADD_TEST(suite, what_a_method_that_rests_waits_for_is_not_watched);
    CU_ADD_TEST(suite, what_cannot_be_kept_fails_the_method);
    CU_ADD_TEST(suite, a_method_sees_its_own_writes_only);
    CU_ADD_TEST(suite, properties_have_bounds);
}
