/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of transactions over a page: its methods and their interests, acknowledgements, and the order of methods. */
#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"
#include "page/interest_set.h"
#include "page_txn_scene.h"

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

/* The method begins, and one interest is expected of it.
 * @param held  another holder has it */
static void expect_one(scene_t *s, vault_dep_t *held)
{
    apr_array_header_t *all = apr_array_make(s->f.pool, 1, sizeof(vault_dep_t));

    *(vault_dep_t *)apr_array_push(all) = *held;
    vault_page_txn_begin(s->txn, "/m");
    vault_page_txn_expect(s->txn, all);
}

static void an_interest_that_was_expected_is_learnt_in_time(void)
{
    vault_dep_t held;
    scene_t s;

    scene_begin(&s);
    CU_ASSERT_EQUAL(vault_interest_hold(s.f.notifier, "held", &held.interest, &held.stamp), APR_SUCCESS);
    expect_one(&s, &held);
    CU_ASSERT(vault_page_txn_learn_interest(s.txn, "held"));
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    commit_round(&s);
    CU_ASSERT(!moved(&s, "/m")); /* it need not run once more */
    expect_one(&s, &held);
    vault_notifier_notify(s.f.notifier, "held", 0); /* after it has read its data */
    CU_ASSERT(vault_page_txn_learn_interest(s.txn, "held"));
    CU_ASSERT(!vault_page_txn_learn_interest(s.txn, "another"));
    vault_page_txn_remove_interest(s.txn, "another");
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    commit_round(&s);
    CU_ASSERT(moved(&s, "/m"));
    vault_page_txn_begin(s.txn, "/m"); /* what was expected of one method is not expected of the next */
    CU_ASSERT(!vault_page_txn_learn_interest(s.txn, "held"));
    vault_interest_release(s.f.notifier, held.interest);
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
void vault_page_txn_methods_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_txn_methods", NULL, NULL);

    CU_ADD_TEST(suite, a_page_has_so_many_methods);
    CU_ADD_TEST(suite, a_method_is_first_until_it_counted);
    CU_ADD_TEST(suite, a_removed_interest_is_waited_for_no_more);
    CU_ADD_TEST(suite, what_a_run_does_not_create_goes);
    CU_ADD_TEST(suite, an_interest_learnt_late_is_looked_at_once_more);
    CU_ADD_TEST(suite, an_interest_that_was_expected_is_learnt_in_time);
    CU_ADD_TEST(suite, a_name_that_cannot_be_learnt_fails_the_method);
    CU_ADD_TEST(suite, acks_are_those_of_the_methods_that_counted);
    CU_ADD_TEST(suite, acks_have_bounds);
    CU_ADD_TEST(suite, the_next_round_begins_where_it_is_told);
}
