/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of changes of a page from outside of its polls, and of the reports to feeds about acknowledged answers. */
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (1024 * 1024)

typedef struct scene_t {
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t ticket;
    vault_interest_t x;
    apr_uint64_t stamp;
} scene_t;

/* Ann's page with one method that has seen the interest "x", polled by her. */
static void scene_begin(scene_t *s)
{
    vault_take_t take = {0, {0, 0}, {.user = "ann"}, NOW, NOW};

    pages_begin(&s->f, &s->pages, 3, HEAP);
    CU_ASSERT_FATAL(vault_page_create(s->pages, &s->page, &(vault_owner_t){.user = "ann"}, NOW, IDLE) == APR_SUCCESS);
    vault_page_hold(s->pages, &s->page, "x", &s->x, &s->stamp);
    vault_page_publish(s->pages, &s->page, page_state(s->f.pool, "0", s->x, s->stamp));
    CU_ASSERT_FATAL(vault_page_take(s->pages, &s->page, &take, &s->ticket) == APR_SUCCESS);
    page_base(s->pages, &s->ticket, s->f.pool);
}

static void scene_end(scene_t *s)
{
    pages_end(&s->f, s->pages, &s->page);
}

static apr_status_t write_of(scene_t *s, const vault_owner_t *owner, const char *key, const char *value)
{
    apr_array_header_t *list = apr_array_make(s->f.pool, 1, sizeof(vault_property_t));
    vault_property_t *p = apr_array_push(list);
    vault_write_t write = {list, NULL, 0, NULL};

    p->key = key;
    p->value = value;
    return vault_page_write(s->pages, &s->page, owner, &write, s->f.pool);
}

static apr_status_t write_as(scene_t *s, const char *user, const char *key, const char *value)
{
    return write_of(s, &(vault_owner_t){.user = user}, key, value);
}

static apr_status_t drop_method(scene_t *s, const char *url)
{
    vault_write_t write = {NULL, NULL, 0, url};

    return vault_page_write(s->pages, &s->page, &(vault_owner_t){.user = "ann"}, &write, s->f.pool);
}

static apr_status_t add_method(scene_t *s, const char *url, int max)
{
    vault_write_t write = {NULL, url, max, NULL};

    return vault_page_write(s->pages, &s->page, &(vault_owner_t){.user = "ann"}, &write, s->f.pool);
}

static const char *property(const vault_state_t *state, const char *key)
{
    vault_property_t *p = vault_state_property(state, key);

    return p ? p->value : "";
}

static vault_state_t *next_state(scene_t *s, const char *mark)
{
    return page_state(s->f.pool, mark, s->x, s->stamp);
}

static apr_status_t poll(scene_t *s, apr_uint64_t seq)
{
    vault_take_t take = {seq, {0, 0}, {.user = "ann"}, NOW, NOW};

    return vault_page_take(s->pages, &s->page, &take, &s->ticket);
}

/* ------------------------------------------------------------------- writing */

/* Whichever answer arrives at the browser, its state has the property. */
static void what_is_written_is_in_every_state(void)
{
    static const apr_uint64_t has[] = {0, 1, 2};
    unsigned i;

    for (i = 0; i < 3; i++) {
        scene_t s;
        vault_state_t *base;

        scene_begin(&s);
        CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, next_state(&s, "1")), APR_SUCCESS);
        CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, next_state(&s, "2")), APR_SUCCESS);
        CU_ASSERT_EQUAL(write_as(&s, "ann", "filter", "red"), APR_SUCCESS);
        CU_ASSERT_EQUAL(poll(&s, has[i]), APR_SUCCESS);
        base = page_base(s.pages, &s.ticket, s.f.pool);
        CU_ASSERT_EQUAL(base->seq, has[i]);
        CU_ASSERT_STRING_EQUAL(property(base, "filter"), "red");
        CU_ASSERT_EQUAL(atoi(property(base, "mark")), (int)has[i]);
        CU_ASSERT_EQUAL(write_as(&s, "ann", "filter", NULL), APR_SUCCESS);
        CU_ASSERT_STRING_EQUAL(property(page_base(s.pages, &s.ticket, s.f.pool), "filter"), "");
        scene_end(&s);
    }
}

/* A round that began before the write is void: its commit or stage is refused, and it starts again. */
static void a_running_round_is_discarded(void)
{
    scene_t s;
    vault_state_t *base;

    scene_begin(&s);
    CU_ASSERT(!vault_page_rewritten(s.pages, &s.ticket));
    CU_ASSERT_EQUAL(write_as(&s, "ann", "filter", "red"), APR_SUCCESS);
    CU_ASSERT(vault_page_rewritten(s.pages, &s.ticket));
    CU_ASSERT(!vault_page_superseded(s.pages, &s.ticket));
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, next_state(&s, "1")), APR_EAGAIN);
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, next_state(&s, "1")), APR_EAGAIN);
    base = page_base(s.pages, &s.ticket, s.f.pool);
    CU_ASSERT_STRING_EQUAL(property(base, "filter"), "red");
    CU_ASSERT_STRING_EQUAL(property(base, "mark"), "0");
    vault_state_set(base, "mark", "1");
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, base), APR_SUCCESS);
    CU_ASSERT_EQUAL(base->seq, 1); /* the void ones used no number */
    scene_end(&s);
}

/* The output of a method depends on the properties, too. */
static void every_method_runs_again_and_keeps_its_interests(void)
{
    scene_t s;
    vault_method_t *m;

    scene_begin(&s);
    CU_ASSERT_EQUAL(write_as(&s, "ann", "filter", "red"), APR_SUCCESS);
    m = vault_state_method(page_base(s.pages, &s.ticket, s.f.pool), "/m");
    CU_ASSERT_PTR_NOT_NULL_FATAL(m->deps);
    CU_ASSERT_EQUAL(m->deps->nelts, 1);
    CU_ASSERT(vault_interest_arm(s.f.notifier, s.x, 1) > vault_deps_find(m->deps, s.x)->stamp);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "x", 0), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, page_state(s.f.pool, "", 0, 0)), APR_SUCCESS);
    CU_ASSERT_EQUAL(write_as(&s, "ann", "filter", "blue"), APR_SUCCESS);
    CU_ASSERT_PTR_NULL(
        vault_state_method(page_base(s.pages, &s.ticket, s.f.pool), "/m")->deps); /* it waited for nothing */
    scene_end(&s);
}

static void a_write_that_changes_nothing_disturbs_nobody(void)
{
    scene_t s;

    scene_begin(&s);
    CU_ASSERT_EQUAL(write_as(&s, "ann", "mark", "0"), APR_SUCCESS);
    CU_ASSERT_EQUAL(write_as(&s, "ann", "never set", NULL), APR_SUCCESS);
    CU_ASSERT_EQUAL(add_method(&s, "/m", 1), APR_SUCCESS);
    CU_ASSERT(!vault_page_rewritten(s.pages, &s.ticket));
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, next_state(&s, "1")), APR_SUCCESS);
    scene_end(&s);
}

static void a_method_is_added(void)
{
    scene_t s;
    vault_state_t *base;

    scene_begin(&s);
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, next_state(&s, "1")), APR_SUCCESS);
    CU_ASSERT_EQUAL(add_method(&s, "/n", 2), APR_SUCCESS);
    CU_ASSERT_EQUAL(add_method(&s, "/o", 2), APR_ENOSPC);
    CU_ASSERT_EQUAL(poll(&s, 1), APR_SUCCESS);
    base = page_base(s.pages, &s.ticket, s.f.pool);
    CU_ASSERT_EQUAL(base->methods->nelts, 2);
    CU_ASSERT_PTR_NULL(vault_state_method(base, "/n")->deps); /* it will run */
    CU_ASSERT_EQUAL(vault_deps_find(vault_state_method(base, "/m")->deps, s.x)->stamp,
                    s.stamp); /* the others need not */
    scene_end(&s);
}

/* A removed method releases its interest and its cursors; the others stay. */
static void a_method_is_dropped(void)
{
    scene_t s;
    vault_state_t *base;
    vault_cursor_t *c;
    unsigned i;

    scene_begin(&s);
    base = page_base(s.pages, &s.ticket, s.f.pool);
    for (i = 0; i < 2; i++) {
        c = apr_array_push(base->cursors);
        c->scope = i ? "/n" : "/m";
        c->key = "feed/method{}";
        c->value = "7";
        c->deps = apr_array_make(s.f.pool, 1, sizeof(vault_dep_t));
    }
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, base), APR_SUCCESS);
    CU_ASSERT_EQUAL(add_method(&s, "/n", 2), APR_SUCCESS);
    base = page_base(s.pages, &s.ticket, s.f.pool);
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, base), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 2); /* "x" and the page's own */

    CU_ASSERT_EQUAL(drop_method(&s, "/m"), APR_SUCCESS);
    CU_ASSERT(vault_page_rewritten(s.pages, &s.ticket));
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 1);
    CU_ASSERT_EQUAL(poll(&s, base->seq), APR_SUCCESS); /* the staged state has lost it, too */
    base = page_base(s.pages, &s.ticket, s.f.pool);
    CU_ASSERT_PTR_NULL(vault_state_method(base, "/m"));
    CU_ASSERT_PTR_NULL(vault_state_cursor(base, "/m", "feed/method{}"));
    CU_ASSERT_PTR_NOT_NULL(vault_state_method(base, "/n"));
    CU_ASSERT_PTR_NOT_NULL(vault_state_cursor(base, "/n", "feed/method{}"));

    CU_ASSERT_EQUAL(drop_method(&s, "/m"), APR_SUCCESS); /* as before */
    CU_ASSERT(!vault_page_rewritten(s.pages, &s.ticket));
    scene_end(&s);
}

/* A running round loses the interests that are released; it is void, and holds them again when it is repeated. */
static void a_round_that_runs_holds_again_what_was_let_go(void)
{
    scene_t s;
    vault_state_t *base;
    vault_interest_t y;
    apr_uint64_t stamp;

    scene_begin(&s);
    CU_ASSERT_EQUAL(vault_page_hold(s.pages, &s.page, "y", &y, &stamp), APR_SUCCESS);
    CU_ASSERT_EQUAL(add_method(&s, "/n", 2), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, page_state(s.f.pool, "1", y, stamp)), APR_EAGAIN);
    base = page_base(s.pages, &s.ticket, s.f.pool);
    CU_ASSERT_EQUAL(vault_page_hold(s.pages, &s.page, "y", &y, &stamp), APR_SUCCESS);
    vault_state_method(base, "/n")->deps = vault_state_method(page_state(s.f.pool, "", y, stamp), "/m")->deps;
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, base), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 3);
    scene_end(&s);
}

static const char *of_length(apr_pool_t *pool, apr_size_t length)
{
    char *text = apr_pcalloc(pool, length + 1);

    memset(text, 'v', length);
    return text;
}

static void who_may_write_and_what(void)
{
    scene_t s;
    vault_state_t *base;
    vault_page_t made;

    scene_begin(&s);
    CU_ASSERT_EQUAL(write_as(&s, "bob", "k", "v"), APR_EACCES);
    CU_ASSERT_EQUAL(write_of(&s, &(vault_owner_t){.realm = 1, .user = "ann"}, "k", "v"), APR_EACCES);
    CU_ASSERT_EQUAL(write_of(&s, &(vault_owner_t){.host = 1, .user = "ann"}, "k", "v"), APR_NOTFOUND);
    CU_ASSERT_EQUAL(write_as(&s, NULL, "k", "v"), APR_EACCES);
    CU_ASSERT_EQUAL(vault_page_read(s.pages, &s.page, &(vault_owner_t){.user = "bob"}, &base, s.f.pool), APR_EACCES);
    CU_ASSERT_EQUAL(vault_page_read(s.pages, &s.page, &(vault_owner_t){.user = "ann"}, &base, s.f.pool), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(property(base, "mark"), "0");
    CU_ASSERT_EQUAL(write_as(&s, "ann", "", "v"), APR_EINVAL);
    CU_ASSERT_EQUAL(write_as(&s, "ann", of_length(s.f.pool, VAULT_PROPERTY_KEY_MAX + 1), "v"), APR_EINVAL);
    CU_ASSERT_EQUAL(write_as(&s, "ann", "k", of_length(s.f.pool, VAULT_PROPERTY_VALUE_MAX + 1)), APR_EINVAL);
    CU_ASSERT_EQUAL(
        write_as(&s, "ann", of_length(s.f.pool, VAULT_PROPERTY_KEY_MAX), of_length(s.f.pool, VAULT_PROPERTY_VALUE_MAX)),
        APR_SUCCESS);
    made = s.page;
    s.page.id[0] ^= 1;
    CU_ASSERT_EQUAL(write_as(&s, "ann", "k", "v"), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_page_read(s.pages, &s.page, &(vault_owner_t){.user = "ann"}, &base, s.f.pool), APR_NOTFOUND);
    s.page = made;
    vault_page_drop(s.pages, &s.page);
    CU_ASSERT_FATAL(vault_page_create(s.pages, &s.page, NULL, NOW, IDLE) == APR_SUCCESS);
    CU_ASSERT_EQUAL(write_as(&s, NULL, "k", "v"), APR_EAGAIN); /* it is still being rendered */
    CU_ASSERT_EQUAL(vault_page_read(s.pages, &s.page, NULL, &base, s.f.pool), APR_EAGAIN);
    scene_end(&s);
}

/* A write changes all states or none, and loses nothing. */
static void a_state_that_would_be_too_large_is_left_as_it_is(void)
{
    scene_t s;
    vault_state_t *large;
    int i;

    scene_begin(&s);
    large = next_state(&s, "1");
    for (i = 0; i < 15; i++) {
        vault_state_set(large, apr_psprintf(s.f.pool, "%d", i), of_length(s.f.pool, VAULT_PROPERTY_VALUE_MAX));
    }
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, large), APR_SUCCESS);
    CU_ASSERT_EQUAL(write_as(&s, "ann", "k", of_length(s.f.pool, VAULT_PROPERTY_VALUE_MAX)), APR_ENOSPC);
    CU_ASSERT(!vault_page_rewritten(s.pages, &s.ticket));
    CU_ASSERT_STRING_EQUAL(property(page_base(s.pages, &s.ticket, s.f.pool), "k"), "");
    scene_end(&s);
}

/* ------------------------------------------------------------------------ acks */

static vault_state_t *state_with_ack(scene_t *s, const char *data)
{
    vault_state_t *state = next_state(s, data);
    vault_ack_t *a = apr_array_push(state->acks);

    a->feed = "messages";
    a->data = data;
    return state;
}

/* The acknowledgements to report for the committed state, "" for none. */
static const char *to_tell(scene_t *s)
{
    vault_state_t *base = page_base(s->pages, &s->ticket, s->f.pool);

    return base->acks->nelts ? APR_ARRAY_IDX(base->acks, 0, vault_ack_t).data : "";
}

static void an_answer_that_was_dropped_is_not_told(void)
{
    scene_t s;

    scene_begin(&s);
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, state_with_ack(&s, "1")), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), ""); /* not yet */
    CU_ASSERT_EQUAL(poll(&s, 0), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), ""); /* it did not arrive */
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, state_with_ack(&s, "2")), APR_SUCCESS);
    CU_ASSERT_EQUAL(poll(&s, 2), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "2");
    scene_end(&s);
}

/* The request that finds an acknowledgement reports it. If it is killed before it marks it as reported, the
 * next one reports it again. */
static void what_is_not_settled_is_told_again(void)
{
    scene_t s;
    vault_take_t take = {1, {0, 0}, {.user = "ann"}, NOW, NOW};
    vault_ticket_t killed;

    scene_begin(&s);
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, state_with_ack(&s, "1")), APR_SUCCESS);
    CU_ASSERT_EQUAL(poll(&s, 1), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "1");
    killed = s.ticket;
    CU_ASSERT_EQUAL(poll(&s, 1), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "1");
    vault_page_acks_reported(s.pages, &killed); /* it has not the page any more */
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "1");
    CU_ASSERT_EQUAL(write_as(&s, "ann", "filter", "red"), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "1");
    CU_ASSERT_EQUAL(vault_page_acknowledge(s.pages, &s.page, &take, &s.ticket), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "1");
    vault_page_acks_reported(s.pages, &s.ticket);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "");
    CU_ASSERT_EQUAL(poll(&s, 1), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "");
    CU_ASSERT_STRING_EQUAL(page_mark(s.pages, &s.ticket, s.f.pool), "1"); /* nothing else has changed */
    scene_end(&s);
}

static void a_round_without_output_is_told_at_once(void)
{
    scene_t s;

    scene_begin(&s);
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, state_with_ack(&s, "quiet")), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "quiet");
    vault_page_acks_reported(s.pages, &s.ticket);
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, next_state(&s, "1")), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "");
    scene_end(&s);
}

/* A separate acknowledgement with nothing to report must not mark the acknowledgements of the running poll as
 * reported. */
static void an_idle_acknowledgement_settles_nothing(void)
{
    scene_t s;
    vault_take_t take = {0, {0, 0}, {.user = "ann"}, NOW, NOW};
    vault_ticket_t aside;

    scene_begin(&s);
    CU_ASSERT_EQUAL(vault_page_acknowledge(s.pages, &s.page, &take, &aside), APR_SUCCESS);
    CU_ASSERT(!vault_page_superseded(s.pages, &s.ticket));
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, state_with_ack(&s, "quiet")), APR_SUCCESS);
    vault_page_acks_reported(s.pages, &aside);
    CU_ASSERT_STRING_EQUAL(to_tell(&s), "quiet");
    scene_end(&s);
}

void vault_page_write_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_write", NULL, NULL);

    CU_ADD_TEST(suite, what_is_written_is_in_every_state);
    CU_ADD_TEST(suite, a_running_round_is_discarded);
    CU_ADD_TEST(suite, every_method_runs_again_and_keeps_its_interests);
    CU_ADD_TEST(suite, a_write_that_changes_nothing_disturbs_nobody);
    CU_ADD_TEST(suite, a_method_is_added);
    CU_ADD_TEST(suite, a_method_is_dropped);
    CU_ADD_TEST(suite, a_round_that_runs_holds_again_what_was_let_go);
    CU_ADD_TEST(suite, who_may_write_and_what);
    CU_ADD_TEST(suite, a_state_that_would_be_too_large_is_left_as_it_is);
    CU_ADD_TEST(suite, an_answer_that_was_dropped_is_not_told);
    CU_ADD_TEST(suite, what_is_not_settled_is_told_again);
    CU_ADD_TEST(suite, a_round_without_output_is_told_at_once);
    CU_ADD_TEST(suite, an_idle_acknowledgement_settles_nothing);
}
