/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what calls from outside add to a run: it counts with the run, once, and leaves nothing when the run does
 * not count. */
#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (1024 * 1024)
#define KEY 77
#define ANN                                                                                                            \
    {                                                                                                                  \
        .user = "ann", .client = 7                                                                                     \
    }

/* Ann's page, whose view has seen "x" for the cursor "c", with the methods /m and /n; polled by her. */
typedef struct scene_t {
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t ticket;
    vault_calls_t calls;   /* the run that is open */
    vault_page_txn_t *txn; /* the round; its current method is the run's own part */
} scene_t;

static void poll(scene_t *s, apr_uint64_t seq)
{
    vault_take_t take = {seq, {0, 0}, ANN, NOW, NOW + IDLE};

    CU_ASSERT_FATAL(vault_page_take(s->pages, &s->page, &take, &s->ticket) == APR_SUCCESS);
    s->txn = vault_page_txn_create(s->pages, &s->page, page_base(s->pages, &s->ticket, s->f.pool), s->f.pool);
}

static void scene_begin(scene_t *s)
{
    vault_owner_t ann = ANN;
    vault_page_txn_t *view;

    memset(s, 0, sizeof(*s));
    pages_begin(&s->f, &s->pages, 3, HEAP);
    CU_ASSERT_FATAL(vault_page_create(s->pages, &s->page, &ann, NOW, IDLE) == APR_SUCCESS);
    view = vault_page_txn_create(s->pages, &s->page, vault_state_create(s->f.pool), s->f.pool);
    vault_page_txn_create_interest(view, "c", "x");
    vault_page_txn_set_cursor(view, "c", "of the view");
    vault_page_txn_set(view, "p", "of the view");
    vault_page_txn_add_method(view, "/m", 3);
    vault_page_txn_add_method(view, "/n", 3);
    CU_ASSERT(vault_page_txn_end(view, 1));
    CU_ASSERT_EQUAL(vault_page_publish(s->pages, &s->page, vault_page_txn_state(view)), APR_SUCCESS);
    poll(s, 0);
}

static void scene_end(scene_t *s)
{
    pages_end(&s->f, s->pages, &s->page);
}

static int place_of(scene_t *s, const char *url)
{
    const vault_state_t *base = vault_page_txn_base(s->txn);

    return (int)(vault_state_method(base, url) - (vault_method_t *)base->methods->elts);
}

static apr_status_t open_txn(scene_t *s, const char *url)
{
    vault_page_txn_begin(s->txn, url);
    s->calls.key = KEY;
    return vault_page_calls_open(s->pages, &s->calls, &s->ticket, place_of(s, url));
}

/* Begin a call of that run. NULL: it is not let in. */
static vault_page_txn_t *call(scene_t *s, const vault_calls_t *calls)
{
    vault_calls_base_t *b = apr_pcalloc(s->f.pool, sizeof(*b));

    return vault_page_calls_read(s->pages, calls, b, s->f.pool) == APR_SUCCESS
               ? vault_page_txn_create_call(s->pages, calls, b, s->f.pool)
               : NULL;
}

static apr_status_t add(scene_t *s, const vault_calls_t *calls, const vault_page_txn_t *call)
{
    return vault_page_calls_add(s->pages, calls, vault_page_txn_made(call), s->f.pool);
}

/* A call that waits for `interest` and is at `cursor` then. */
static apr_status_t ask(scene_t *s, const vault_calls_t *calls, const char *key, const char *interest,
                        const char *cursor)
{
    vault_page_txn_t *c = call(s, calls);

    if (!c) {
        return APR_ECONNABORTED;
    }
    vault_page_txn_create_interest(c, key, interest);
    vault_page_txn_set_cursor(c, key, cursor);
    return add(s, calls, c);
}

/* The run's own request goes on. @return as vault_page_calls_close() */
static apr_status_t close_txn(scene_t *s)
{
    vault_state_t *made;
    apr_status_t rv = vault_page_calls_close(s->pages, &s->calls, &made, s->f.pool);

    if (made) {
        vault_page_txn_take(s->txn, made);
    }
    return rv;
}

static int is_held(scene_t *s, const char *interest)
{
    return vault_notifier_notify(s->f.notifier, interest, 0) == APR_SUCCESS;
}

static const char *cursor_of(const vault_state_t *state, const char *scope, const char *key)
{
    const vault_cursor_t *c = vault_state_cursor(state, scope, key);

    return c && c->value ? c->value : "none";
}

/* ------------------------------------------------------------------- it counts */

static void what_a_call_did_counts_with_the_run(void)
{
    scene_t s;
    vault_page_txn_t *c;
    vault_state_t *base;
    const vault_method_t *m;

    scene_begin(&s);
    CU_ASSERT_EQUAL(open_txn(&s, "/m"), APR_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c = call(&s, &s.calls));
    CU_ASSERT_STRING_EQUAL(vault_page_txn_cursor(c, "c"), "of the view"); /* as a call inside finds it */
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(c, "c", "x"), 0);
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(c, "d", "y"), 1);
    vault_page_txn_set_cursor(c, "d", "1");
    vault_page_txn_set(c, "q", "set");
    vault_page_txn_set(c, "p", NULL);
    vault_page_txn_on_ack(c, "feed", "heard");
    CU_ASSERT_EQUAL(add(&s, &s.calls, c), APR_SUCCESS);
    CHECK_PAGES(&s.f, s.pages);
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS);
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, vault_page_txn_state(s.txn)), APR_SUCCESS);
    CHECK_PAGES(&s.f, s.pages);
    poll(&s, 1);
    base = page_base(s.pages, &s.ticket, s.f.pool);
    CU_ASSERT_STRING_EQUAL(cursor_of(base, "/m", "d"), "1");
    CU_ASSERT_STRING_EQUAL(cursor_of(base, "/n", "d"), "none");
    CU_ASSERT_STRING_EQUAL(vault_state_property(base, "q")->value, "set");
    CU_ASSERT_PTR_NULL(vault_state_property(base, "p"));
    CU_ASSERT_EQUAL_FATAL(base->acks->nelts, 1);
    CU_ASSERT_STRING_EQUAL(((vault_ack_t *)base->acks->elts)->data, "heard");
    m = vault_state_method(base, "/m");
    CU_ASSERT_EQUAL(m->deps->nelts, 2);
    CU_ASSERT(is_held(&s, "y"));
    scene_end(&s);
}

/* The answer was lost: the call is asked again, from where the page is. */
static void what_a_call_did_goes_with_a_lost_answer(void)
{
    scene_t s;

    scene_begin(&s);
    CU_ASSERT_EQUAL(open_txn(&s, "/m"), APR_SUCCESS);
    CU_ASSERT_EQUAL(ask(&s, &s.calls, "d", "y", "1"), APR_SUCCESS);
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS);
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, vault_page_txn_state(s.txn)), APR_SUCCESS);
    poll(&s, 0);
    CU_ASSERT_STRING_EQUAL(cursor_of(vault_page_txn_base(s.txn), "/m", "d"), "none");
    scene_end(&s);
}

/* Two of a run at a time, each by itself: both count. */
static void calls_at_the_same_time_all_count(void)
{
    scene_t s;
    vault_page_txn_t *a, *b;
    const vault_method_t *m;
    const vault_cursor_t *older;

    scene_begin(&s);
    open_txn(&s, "/m");
    a = call(&s, &s.calls);
    b = call(&s, &s.calls);
    CU_ASSERT_FATAL(a && b);
    vault_page_txn_create_interest(a, "d", "y");
    is_held(&s, "y"); /* notified between the two: the older stamp is the one that counts */
    vault_page_txn_create_interest(b, "e", "y");
    vault_page_txn_create_interest(b, "e", "z");
    vault_page_txn_set_cursor(a, "d", "1");
    vault_page_txn_set_cursor(b, "e", "2");
    CU_ASSERT_EQUAL(add(&s, &s.calls, b), APR_SUCCESS);
    CU_ASSERT_EQUAL(add(&s, &s.calls, a), APR_SUCCESS);
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS);
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    m = vault_state_method(vault_page_txn_state(s.txn), "/m");
    CU_ASSERT_EQUAL(m->deps->nelts, 2);
    older = vault_state_cursor(vault_page_txn_state(s.txn), "/m", "d");
    CU_ASSERT_EQUAL(vault_deps_find(m->deps, ((vault_dep_t *)older->deps->elts)->interest)->stamp,
                    ((vault_dep_t *)older->deps->elts)->stamp);
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, vault_page_txn_state(s.txn)), APR_SUCCESS);
    poll(&s, 0);
    CU_ASSERT_STRING_EQUAL(cursor_of(vault_page_txn_base(s.txn), "/m", "d"), "1");
    CU_ASSERT_STRING_EQUAL(cursor_of(vault_page_txn_base(s.txn), "/m", "e"), "2");
    vault_page_txn_begin(s.txn, "/m");
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "d", "y"), 1); /* it has seen only what was before */
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s.txn, "e", "y"), 0);
    scene_end(&s);
}

/* Two answers to one question cannot both be where the page goes on. */
static void the_same_call_counts_once(void)
{
    scene_t s;
    vault_page_txn_t *a, *b;

    scene_begin(&s);
    open_txn(&s, "/m");
    a = call(&s, &s.calls);
    b = call(&s, &s.calls);
    CU_ASSERT_FATAL(a && b);
    vault_page_txn_set_cursor(a, "d", "1");
    vault_page_txn_set_cursor(b, "d", "2");
    CU_ASSERT_EQUAL(add(&s, &s.calls, a), APR_SUCCESS);
    CU_ASSERT_EQUAL(add(&s, &s.calls, b), APR_EEXIST);
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS);
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_STRING_EQUAL(cursor_of(vault_page_txn_state(s.txn), "/m", "d"), "1");
    open_txn(&s, "/n");
    vault_page_txn_set_cursor(s.txn, "d", "inside");
    CU_ASSERT_EQUAL(ask(&s, &s.calls, "d", "y", "outside"), APR_SUCCESS);
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS);
    CU_ASSERT(!vault_page_txn_end(s.txn, 1)); /* nor inside and outside */
    scene_end(&s);
}

/* ------------------------------------------------------------------ it does not */

static void a_call_that_failed_fails_the_run(void)
{
    scene_t s;

    scene_begin(&s);
    open_txn(&s, "/m");
    CU_ASSERT_EQUAL(ask(&s, &s.calls, "d", "y", "1"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_calls_fail(s.pages, &s.calls), APR_SUCCESS);
    CU_ASSERT_EQUAL(close_txn(&s), APR_EGENERAL);
    open_txn(&s, "/m");
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS); /* the next one begins anew */
    scene_end(&s);
}

/* The run's number makes the difference: the page and the method are the same. */
static void a_late_call_changes_nothing(void)
{
    scene_t s;
    vault_calls_t old;
    vault_page_txn_t *late;

    scene_begin(&s);
    open_txn(&s, "/m");
    old = s.calls;
    CU_ASSERT_PTR_NOT_NULL_FATAL(late = call(&s, &old));
    vault_page_txn_set_cursor(late, "d", "late");
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS);
    CU_ASSERT_EQUAL(add(&s, &old, late), APR_ECONNABORTED);
    CU_ASSERT_EQUAL(open_txn(&s, "/m"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(late, "d", "y"), 1);
    CU_ASSERT_PTR_NOT_NULL(vault_page_txn_failed(late));
    CU_ASSERT(!is_held(&s, "y"));
    CU_ASSERT_EQUAL(add(&s, &old, late), APR_ECONNABORTED);
    CU_ASSERT_EQUAL(vault_page_calls_fail(s.pages, &old), APR_ECONNABORTED);
    CU_ASSERT_PTR_NULL(call(&s, &old));
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS);
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_STRING_EQUAL(cursor_of(vault_page_txn_state(s.txn), "/m", "d"), "none");
    vault_page_drop(s.pages, &s.page);
    CU_ASSERT_EQUAL(add(&s, &old, late), APR_NOTFOUND);
    pages_end(&s.f, s.pages, NULL);
}

static void a_call_by_another_key_is_not_let_in(void)
{
    scene_t s;
    vault_calls_t other;

    scene_begin(&s);
    open_txn(&s, "/m");
    other = s.calls;
    other.key++;
    CU_ASSERT_PTR_NULL(call(&s, &other));
    other = s.calls;
    other.run++;
    CU_ASSERT_PTR_NULL(call(&s, &other));
    CU_ASSERT_PTR_NOT_NULL(call(&s, &s.calls));
    scene_end(&s);
}

/* What makes a round void. */
static void by_a_newer_poll(scene_t *s)
{
    poll(s, 0);
}

static void by_an_acknowledgement(scene_t *s)
{
    vault_take_t take = {1, {0, 0}, ANN, NOW, NOW};

    CU_ASSERT_EQUAL(page_acknowledge(s->pages, &s->page, &take), APR_SUCCESS);
}

static void by_a_write(scene_t *s)
{
    apr_array_header_t *list = apr_array_make(s->f.pool, 1, sizeof(vault_property_t));
    vault_property_t *p = apr_array_push(list);
    vault_write_t write = {list, NULL, 0, NULL};
    vault_owner_t ann = ANN;

    p->key = "p";
    p->value = "from outside";
    CU_ASSERT_EQUAL(vault_page_write(s->pages, &s->page, &ann, &write, s->f.pool), APR_SUCCESS);
}

static void whoever_voids_the_round_closes_the_run(void)
{
    static void (*const voids[])(scene_t *) = {by_a_newer_poll, by_an_acknowledgement, by_a_write};
    unsigned i;

    for (i = 0; i < sizeof(voids) / sizeof(voids[0]); i++) {
        vault_calls_t old;
        vault_page_txn_t *late;
        scene_t s;

        scene_begin(&s);
        CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, vault_page_txn_state(s.txn)), APR_SUCCESS);
        open_txn(&s, "/m");
        old = s.calls;
        CU_ASSERT_EQUAL(ask(&s, &old, "d", "y", "1"), APR_SUCCESS);
        CU_ASSERT_PTR_NOT_NULL_FATAL(late = call(&s, &old));
        CU_ASSERT(is_held(&s, "y"));
        voids[i](&s);
        CHECK_PAGES(&s.f, s.pages);
        CU_ASSERT_EQUAL(add(&s, &old, late), APR_ECONNABORTED);
        CU_ASSERT_EQUAL(vault_page_calls_open(s.pages, &old, &s.ticket, 0), i == 0 ? APR_SUCCESS : APR_ECONNABORTED);
        if (i) {
            CU_ASSERT(!is_held(&s, "y"));
            CU_ASSERT_EQUAL(close_txn(&s), APR_ECONNABORTED);
        }
        scene_end(&s);
    }
}

/* What was added is charged, and no poll needs to come for it to go: the sweep sees that the page's child is gone. */
static void after_the_death_of_its_child_the_sweep_closes_it(void)
{
    scene_t s;
    vault_calls_t old;
    vault_page_txn_t *late;
    apr_uint64_t used;
    unsigned slot;

    scene_begin(&s);
    CU_ASSERT_FATAL(vault_slot_claim(s.f.notifier, 4000, &slot) == APR_SUCCESS);
    vault_pages_set_slot(s.pages, slot);
    poll(&s, 0);
    used = vault_heap_used(s.f.heap);
    open_txn(&s, "/m");
    old = s.calls;
    CU_ASSERT_EQUAL(ask(&s, &old, "d", "y", "1"), APR_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(late = call(&s, &old));
    CU_ASSERT(vault_clients_has(s.f.clients, 7, VAULT_CLIENT_BYTES) > 0 && vault_heap_used(s.f.heap) > used);
    CU_ASSERT_EQUAL(vault_slot_exited(s.f.notifier, 4000, &slot), 1);
    CU_ASSERT_EQUAL(add(&s, &old, late), APR_ECONNABORTED);
    CU_ASSERT_PTR_NULL(call(&s, &old));
    vault_pages_sweep(s.pages, NOW, IDLE);
    CU_ASSERT_EQUAL(vault_heap_used(s.f.heap), used);
    vault_pages_set_slot(s.pages, 0);
    CHECK_PAGES(&s.f, s.pages);
    poll(&s, 0);
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, vault_page_txn_state(s.txn)), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_heap_used(s.f.heap) > used, 0);
    CU_ASSERT(!is_held(&s, "y"));
    scene_end(&s);
}

static void the_death_of_another_child_takes_nothing(void)
{
    scene_t s;
    apr_uint64_t used;
    unsigned slot;

    scene_begin(&s);
    CU_ASSERT_FATAL(vault_slot_claim(s.f.notifier, 4000, &slot) == APR_SUCCESS);
    open_txn(&s, "/m");
    CU_ASSERT_EQUAL(ask(&s, &s.calls, "d", "y", "1"), APR_SUCCESS);
    used = vault_heap_used(s.f.heap);
    CU_ASSERT_EQUAL(vault_slot_exited(s.f.notifier, 4000, &slot), 1);
    vault_pages_sweep(s.pages, NOW, IDLE);
    CU_ASSERT_EQUAL(vault_heap_used(s.f.heap), used);
    CHECK_PAGES(&s.f, s.pages);
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS);
    CU_ASSERT(vault_page_txn_end(s.txn, 1));
    CU_ASSERT_STRING_EQUAL(cursor_of(vault_page_txn_state(s.txn), "/m", "d"), "1");
    scene_end(&s);
}

/* Only what no run needs is released: what was added to the open run has still to be published. */
static void what_was_added_is_held_while_the_run_is_open(void)
{
    scene_t s;

    scene_begin(&s);
    open_txn(&s, "/m");
    CU_ASSERT_EQUAL(ask(&s, &s.calls, "d", "y", "1"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, page_base(s.pages, &s.ticket, s.f.pool)), APR_SUCCESS);
    CU_ASSERT(is_held(&s, "y"));
    CHECK_PAGES(&s.f, s.pages);
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS);
    scene_end(&s);
}

static void a_page_that_goes_takes_it_along(void)
{
    scene_t s;

    scene_begin(&s);
    open_txn(&s, "/m");
    CU_ASSERT_EQUAL(ask(&s, &s.calls, "d", "y", "1"), APR_SUCCESS);
    scene_end(&s); /* which finds all given back */
}

/* Larger than a state may be, or than its client may have. */
static void what_does_not_fit_is_not_added(void)
{
    scene_t s;
    char *value;
    vault_page_txn_t *c;
    apr_status_t rv = APR_SUCCESS;
    int i;

    scene_begin(&s);
    open_txn(&s, "/m");
    value = apr_pcalloc(s.f.pool, VAULT_PROPERTY_VALUE_MAX + 1);
    memset(value, 'v', VAULT_PROPERTY_VALUE_MAX);
    for (i = 0; i < 1000 && rv == APR_SUCCESS; i++) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(c = call(&s, &s.calls));
        vault_page_txn_set(c, apr_itoa(s.f.pool, i), value);
        rv = add(&s, &s.calls, c);
    }
    CU_ASSERT_EQUAL(rv, APR_ENOSPC);
    CHECK_PAGES(&s.f, s.pages);
    CU_ASSERT_EQUAL(close_txn(&s), APR_SUCCESS); /* what fitted is whole */
    CU_ASSERT_STRING_EQUAL(vault_page_txn_get(s.txn, "0"), value);
    scene_end(&s);
}

/* -------------------------------------------------------------------- the view */

static void calls_of_a_view_are_in_state_number_0(void)
{
    scene_t s;
    vault_page_t page;
    vault_page_txn_t *view, *c;
    vault_state_t *made;
    vault_ticket_t ticket;

    scene_begin(&s);
    CU_ASSERT_FATAL(vault_page_create(s.pages, &page, NULL, NOW, IDLE) == APR_SUCCESS);
    view = vault_page_txn_create(s.pages, &page, vault_state_create(s.f.pool), s.f.pool);
    s.calls.key = KEY;
    CU_ASSERT_EQUAL(vault_page_calls_open_view(s.pages, &s.calls, &page), APR_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(c = call(&s, &s.calls));
    CU_ASSERT(!vault_page_txn_knows(c, "d"));
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(c, "d", "y"), 1);
    vault_page_txn_set_cursor(c, "d", "1");
    CU_ASSERT_EQUAL(add(&s, &s.calls, c), APR_SUCCESS);
    CHECK_PAGES(&s.f, s.pages);
    CU_ASSERT_EQUAL(vault_page_calls_close(s.pages, &s.calls, &made, s.f.pool), APR_SUCCESS);
    vault_page_txn_take(view, made);
    vault_page_txn_add_method(view, "/m", 1);
    CU_ASSERT(vault_page_txn_end(view, 1));
    CU_ASSERT_EQUAL(vault_page_publish(s.pages, &page, vault_page_txn_state(view)), APR_SUCCESS);
    CU_ASSERT_EQUAL(page_poll(s.pages, &page, 0, 0, &ticket), APR_SUCCESS);
    view = vault_page_txn_create(s.pages, &page, page_base(s.pages, &ticket, s.f.pool), s.f.pool);
    vault_page_txn_begin(view, "/m");
    CU_ASSERT_STRING_EQUAL(vault_page_txn_cursor(view, "d"), "1");
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(view, "d", "y"), 0); /* the first poll begins where the page ended */
    vault_page_drop(s.pages, &page);
    scene_end(&s);
}

/* The client of a stream connects once it has the head of the HTML, while the application still renders the
 * rest; and its child may die. */
static void polls_of_an_incomplete_page_void_nothing(void)
{
    scene_t s;
    vault_page_t page;
    vault_state_t *made;
    vault_ticket_t ticket;
    unsigned slot;

    scene_begin(&s);
    CU_ASSERT_FATAL(vault_page_create(s.pages, &page, NULL, NOW, IDLE) == APR_SUCCESS);
    s.calls.key = KEY;
    CU_ASSERT_EQUAL(vault_page_calls_open_view(s.pages, &s.calls, &page), APR_SUCCESS);
    CU_ASSERT_EQUAL(ask(&s, &s.calls, "d", "y", "1"), APR_SUCCESS);
    CU_ASSERT_FATAL(vault_slot_claim(s.f.notifier, 4000, &slot) == APR_SUCCESS);
    vault_pages_set_slot(s.pages, slot);
    CU_ASSERT_EQUAL(page_poll(s.pages, &page, 0, 0, &ticket), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_slot_exited(s.f.notifier, 4000, &slot), 1);
    vault_pages_set_slot(s.pages, 0);
    vault_pages_sweep(s.pages, NOW, IDLE);
    CU_ASSERT_EQUAL(page_poll(s.pages, &page, 0, 0, &ticket), APR_SUCCESS);
    CU_ASSERT_EQUAL(ask(&s, &s.calls, "e", "z", "2"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_calls_close(s.pages, &s.calls, &made, s.f.pool), APR_SUCCESS);
    CU_ASSERT(made && made->cursors->nelts == 2);
    vault_page_drop(s.pages, &page);
    scene_end(&s);
}

void vault_page_calls_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_calls", NULL, NULL);

    CU_ADD_TEST(suite, what_a_call_did_counts_with_the_run);
    CU_ADD_TEST(suite, what_a_call_did_goes_with_a_lost_answer);
    CU_ADD_TEST(suite, calls_at_the_same_time_all_count);
    CU_ADD_TEST(suite, the_same_call_counts_once);
    CU_ADD_TEST(suite, a_call_that_failed_fails_the_run);
    CU_ADD_TEST(suite, a_late_call_changes_nothing);
    CU_ADD_TEST(suite, a_call_by_another_key_is_not_let_in);
    CU_ADD_TEST(suite, whoever_voids_the_round_closes_the_run);
    CU_ADD_TEST(suite, after_the_death_of_its_child_the_sweep_closes_it);
    CU_ADD_TEST(suite, the_death_of_another_child_takes_nothing);
    CU_ADD_TEST(suite, what_was_added_is_held_while_the_run_is_open);
    CU_ADD_TEST(suite, a_page_that_goes_takes_it_along);
    CU_ADD_TEST(suite, what_does_not_fit_is_not_added);
    CU_ADD_TEST(suite, calls_of_a_view_are_in_state_number_0);
    CU_ADD_TEST(suite, polls_of_an_incomplete_page_void_nothing);
}
