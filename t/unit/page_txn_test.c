/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of transactions over a page: whether to read, what takes effect, what a method sees, and what it
 * leaves. */
#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"
#include "page/interest_set.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (1024 * 1024)

/* A page whose view created the interest "x" for the cursor "c", with two methods. */
typedef struct scene_t {
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t ticket;
    vault_page_txn_t *txn;
} scene_t;

static void begin_round(scene_t *s)
{
    s->txn = vault_page_txn_create(s->pages, &s->page, page_base(s->pages, &s->ticket, s->f.pool), s->f.pool);
}

static void commit_round(scene_t *s)
{
    CU_ASSERT_EQUAL(vault_page_commit(s->pages, &s->ticket, vault_page_txn_state(s->txn)), APR_SUCCESS);
    begin_round(s);
}

static void scene_begin(scene_t *s)
{
    pages_begin(&s->f, &s->pages, 2, HEAP);
    CU_ASSERT_FATAL(vault_page_create(s->pages, &s->page, NULL, NOW, IDLE) == APR_SUCCESS);
    s->txn = vault_page_txn_create(s->pages, &s->page, vault_state_create(s->f.pool), s->f.pool);
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s->txn, "c", "x"), 1); /* it never asked */
    vault_page_txn_set_cursor(s->txn, "c", "seen by the view");
    vault_page_txn_set(s->txn, "p", "of the view");
    vault_page_txn_add_method(s->txn, "/m", 3);
    vault_page_txn_add_method(s->txn, "/n", 3);
    CU_ASSERT(vault_page_txn_end(s->txn, 1));
    CU_ASSERT_EQUAL(vault_page_publish(s->pages, &s->page, vault_page_txn_state(s->txn)), APR_SUCCESS);
    CU_ASSERT_EQUAL(page_poll(s->pages, &s->page, 0, 0, &s->ticket), APR_SUCCESS);
    begin_round(s);
}

static void scene_end(scene_t *s)
{
    pages_end(&s->f, s->pages, &s->page);
}

/* Runs a method that only creates the interest for the cursor. @return the result of creating it */
static int ask(scene_t *s, const char *url, const char *cursor, const char *interest)
{
    int told;

    vault_page_txn_begin(s->txn, url);
    told = vault_page_txn_create_interest(s->txn, cursor, interest);
    CU_ASSERT(vault_page_txn_end(s->txn, 1));
    return told;
}

static void notify(scene_t *s, const char *interest)
{
    CU_ASSERT_EQUAL(vault_notifier_notify(s->f.notifier, interest, 0), APR_SUCCESS);
}

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

/* ------------------------------------------------------------ methods, interests */

static void a_page_has_so_many_methods(void)
{
    scene_t s;

    scene_begin(&s);
    CU_ASSERT_EQUAL(vault_page_txn_add_method(s.txn, "/m", 2), APR_SUCCESS); /* it is there */
    CU_ASSERT_EQUAL(vault_page_txn_add_method(s.txn, "/o", 2), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_page_txn_add_method(s.txn, "/o", 3), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_txn_state(s.txn)->methods->nelts, 3);
    CU_ASSERT_PTR_NULL(vault_state_method(vault_page_txn_state(s.txn), "/o")->deps); /* never run */
    scene_end(&s);
}

/* A method is new until a run of it has succeeded. Removing a method does not affect the next one in the array. */
static void a_method_is_first_until_it_counted(void)
{
    scene_t s;

    scene_begin(&s);
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT(vault_page_txn_is_first(s.txn));
    vault_page_txn_fail(s.txn, "on purpose");
    CU_ASSERT(!vault_page_txn_end(s.txn, 1));
    ask(&s, "/n", "d", "y");
    commit_round(&s);
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT(vault_page_txn_is_first(s.txn));
    vault_page_txn_begin(s.txn, "/n");
    CU_ASSERT(!vault_page_txn_is_first(s.txn));
    vault_page_txn_begin(s.txn, "/not of the page");
    CU_ASSERT(vault_page_txn_is_first(s.txn));

    vault_page_txn_remove_method(s.txn, "/m");
    vault_page_txn_remove_method(s.txn, "/not of the page");
    CU_ASSERT_PTR_NULL(vault_state_method(vault_page_txn_state(s.txn), "/m"));
    CU_ASSERT_PTR_NOT_NULL(vault_state_method(vault_page_txn_state(s.txn), "/n"));
    CU_ASSERT_EQUAL(vault_page_txn_state(s.txn)->methods->nelts, 1);
    scene_end(&s);
}

static void a_removed_interest_is_waited_for_no_more(void)
{
    scene_t s;

    scene_begin(&s);
    ask(&s, "/m", "d", "y");
    commit_round(&s);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "y", 0), APR_SUCCESS);
    vault_page_txn_begin(s.txn, "/m");
    vault_page_txn_create_interest(s.txn, "d", "y");
    vault_page_txn_create_interest(s.txn, "d", "z");
    vault_page_txn_remove_interest(s.txn, "y");
    vault_page_txn_remove_interest(s.txn, "never created");
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_EQUAL(vault_state_method(vault_page_txn_state(s.txn), "/m")->deps->nelts, 1);
    CU_ASSERT_EQUAL(vault_state_cursor(vault_page_txn_state(s.txn), "/m", "d")->deps->nelts, 1);
    commit_round(&s);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "y", 0), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "never created", 0), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "z", 0), APR_SUCCESS);
    CU_ASSERT_EQUAL(ask(&s, "/m", "d", "y"), 1);
    scene_end(&s);
}

/* A method depends on the interests of its last run, not on those of earlier ones. */
static void what_a_run_does_not_create_goes(void)
{
    scene_t s;

    scene_begin(&s);
    ask(&s, "/m", "d", "y");
    commit_round(&s);
    ask(&s, "/m", "d", "z");
    commit_round(&s);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "y", 0), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "z", 0), APR_SUCCESS);
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_PTR_NOT_NULL(vault_state_method(vault_page_txn_state(s.txn), "/m")->deps); /* it has run */
    CU_ASSERT_EQUAL(vault_state_method(vault_page_txn_state(s.txn), "/m")->deps->nelts, 0);
    scene_end(&s);
}

/* ---------------------------------------------------------------- learnt late */

/* The stamps of the committed state's interests, as a poll reads them before its round. */
static void look_before(scene_t *s)
{
    apr_array_header_t *seen = apr_array_make(s->f.pool, 4, sizeof(vault_dep_t));
    const vault_state_t *base = vault_page_txn_base(s->txn);
    int i, k;

    for (i = 0; i < base->methods->nelts; i++) {
        const vault_method_t *m = &APR_ARRAY_IDX(base->methods, i, vault_method_t);
        for (k = 0; m->deps && k < m->deps->nelts; k++) {
            vault_dep_t *d = apr_array_push(seen);
            d->interest = APR_ARRAY_IDX(m->deps, k, vault_dep_t).interest;
            d->stamp = vault_interest_stamp(s->f.notifier, d->interest);
        }
    }
    vault_page_txn_saw(s->txn, seen);
}

/* Does the method have to run again? */
static int moved(scene_t *s, const char *url)
{
    const vault_method_t *m = vault_state_method(vault_page_txn_base(s->txn), url);
    int k, moved = m->deps == NULL;

    for (k = 0; m->deps && k < m->deps->nelts; k++) {
        const vault_dep_t *d = &APR_ARRAY_IDX(m->deps, k, vault_dep_t);
        moved |= vault_interest_stamp(s->f.notifier, d->interest) > d->stamp;
    }
    return moved;
}

/* @param between  notified after the data was read, and before the method names its interest */
static void learn(scene_t *s, const char *interest, const char *between)
{
    look_before(s);
    vault_page_txn_begin(s->txn, "/m");
    if (between) {
        vault_notifier_notify(s->f.notifier, between, 0);
    }
    vault_page_txn_learn_interest(s->txn, interest);
    CU_ASSERT(vault_page_txn_waits_for(s->txn, interest));
    CU_ASSERT(!vault_page_txn_waits_for(s->txn, "another"));
    CU_ASSERT(vault_page_txn_end(s->txn, 1));
    commit_round(s);
}

static void an_interest_learnt_late_is_looked_at_once_more(void)
{
    scene_t s;

    scene_begin(&s);
    learn(&s, "late", "late"); /* no page holds it yet: that notify leaves no trace */
    CU_ASSERT(moved(&s, "/m"));
    learn(&s, "late", NULL);
    CU_ASSERT(!moved(&s, "/m"));
    learn(&s, "late", "late");
    CU_ASSERT(moved(&s, "/m"));
    learn(&s, "late", NULL);
    CU_ASSERT(!moved(&s, "/m"));
    learn(&s, "later", NULL); /* another one */
    CU_ASSERT(moved(&s, "/m"));
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "late", 0), APR_NOTFOUND);
    scene_end(&s);
}

static void a_name_that_cannot_be_learnt_fails_the_method(void)
{
    scene_t s;

    scene_begin(&s);
    vault_page_txn_begin(s.txn, "/m");
    vault_page_txn_learn_interest(s.txn, "");
    CU_ASSERT_STRING_EQUAL(vault_page_txn_failed(s.txn),
                           "the interest \"\" cannot be kept: its name is empty or too long");
    CU_ASSERT(!vault_page_txn_end(s.txn, 1));
    scene_end(&s);
}

/* --------------------------------------------------------------------- on ack */

static int acks_of(const scene_t *s)
{
    return vault_page_txn_state(s->txn)->acks->nelts;
}

static void acks_are_those_of_the_methods_that_counted(void)
{
    scene_t s;

    scene_begin(&s);
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT_EQUAL(vault_page_txn_on_ack(s.txn, "feed", "1"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_txn_on_ack(s.txn, "feed", "1"), APR_SUCCESS); /* once is enough */
    CU_ASSERT_EQUAL(vault_page_txn_on_ack(s.txn, "other", "1"), APR_SUCCESS);
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_EQUAL(acks_of(&s), 2);
    vault_page_txn_begin(s.txn, "/n");
    vault_page_txn_on_ack(s.txn, "feed", "of a failure");
    CU_ASSERT(!vault_page_txn_end(s.txn, 0));
    CU_ASSERT_EQUAL(acks_of(&s), 2);
    vault_page_txn_begin(s.txn, "/n");
    vault_page_txn_on_ack(s.txn, "feed", "1"); /* another method showed the same */
    vault_page_txn_on_ack(s.txn, "feed", "2");
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_EQUAL(acks_of(&s), 3);
    commit_round(&s);
    CU_ASSERT_EQUAL(acks_of(&s), 0); /* they are the last round's */
    scene_end(&s);
}

static void acks_have_bounds(void)
{
    scene_t s;
    char *text;
    int i;

    scene_begin(&s);
    text = apr_pcalloc(s.f.pool, VAULT_PROPERTY_VALUE_MAX + 2);
    memset(text, 'x', VAULT_PROPERTY_VALUE_MAX);
    CU_ASSERT_EQUAL(vault_page_txn_on_ack(s.txn, "feed", text), APR_SUCCESS);
    for (i = 1; i < VAULT_ACKS_MAX; i++) {
        CU_ASSERT_EQUAL(vault_page_txn_on_ack(s.txn, "feed", apr_itoa(s.f.pool, i)), APR_SUCCESS);
    }
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_EQUAL(vault_page_txn_on_ack(s.txn, "feed", "one more"), APR_ENOSPC);
    CU_ASSERT(!vault_page_txn_end(s.txn, 1));
    vault_page_txn_begin(s.txn, "/m");
    text[VAULT_PROPERTY_VALUE_MAX] = 'x';
    CU_ASSERT_EQUAL(vault_page_txn_on_ack(s.txn, "feed", text), APR_EINVAL);
    CU_ASSERT(!vault_page_txn_end(s.txn, 1));
    scene_end(&s);
}

static void expect_methods(const scene_t *s, const char *first, const char *second, const char *third)
{
    const apr_array_header_t *methods = vault_page_txn_state(s->txn)->methods;

    CU_ASSERT_EQUAL_FATAL(methods->nelts, 3);
    CU_ASSERT_STRING_EQUAL(APR_ARRAY_IDX(methods, 0, vault_method_t).url, first);
    CU_ASSERT_STRING_EQUAL(APR_ARRAY_IDX(methods, 1, vault_method_t).url, second);
    CU_ASSERT_STRING_EQUAL(APR_ARRAY_IDX(methods, 2, vault_method_t).url, third);
}

/* A method that did not fit into an answer runs first in the next round, followed by those after it. */
static void the_next_round_begins_where_it_is_told(void)
{
    scene_t s;

    scene_begin(&s);
    vault_page_txn_add_method(s.txn, "/o", 3);
    expect_methods(&s, "/m", "/n", "/o");
    vault_page_txn_begin_with(s.txn, "/n");
    expect_methods(&s, "/n", "/o", "/m");
    vault_page_txn_begin_with(s.txn, "/n");
    vault_page_txn_begin_with(s.txn, "/unknown");
    expect_methods(&s, "/n", "/o", "/m");
    commit_round(&s);
    expect_methods(&s, "/n", "/o", "/m"); /* the page keeps it */
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
    CU_ADD_TEST(suite, a_write_from_outside_ends_its_rest);
    CU_ADD_TEST(suite, what_a_method_that_rests_waits_for_is_not_watched);
    CU_ADD_TEST(suite, what_cannot_be_kept_fails_the_method);
    CU_ADD_TEST(suite, a_method_sees_its_own_writes_only);
    CU_ADD_TEST(suite, properties_have_bounds);
    CU_ADD_TEST(suite, a_page_has_so_many_methods);
    CU_ADD_TEST(suite, a_method_is_first_until_it_counted);
    CU_ADD_TEST(suite, a_removed_interest_is_waited_for_no_more);
    CU_ADD_TEST(suite, what_a_run_does_not_create_goes);
    CU_ADD_TEST(suite, an_interest_learnt_late_is_looked_at_once_more);
    CU_ADD_TEST(suite, a_name_that_cannot_be_learnt_fails_the_method);
    CU_ADD_TEST(suite, acks_are_those_of_the_methods_that_counted);
    CU_ADD_TEST(suite, acks_have_bounds);
    CU_ADD_TEST(suite, the_next_round_begins_where_it_is_told);
}
