/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the bounds of the output store: what goes when memory, entries, variants or interests run out; the sweep,
 * drops and listings. */
#include <string.h>

#include "apr_strings.h"

#include "base/now.h"
#include "output_fixture.h"
#include "unit.h"

#define DEFAULTS (&(vault_output_limits_t){0})

static void the_least_recently_used_goes_first(void)
{
    store_t s;
    vault_output_lead_t lead;

    store_begin(&s, &(vault_output_limits_t){.entries = 4});
    store_make(&s, "a", 0, "x", "a");
    store_make(&s, "b", 0, "x", "b");
    CU_ASSERT_EQUAL(store_lead(&s, "making", 0, &lead), APR_SUCCESS);
    store_make(&s, "c", 0, "x", "c");
    CU_ASSERT_STRING_EQUAL(store_read(&s, "a"), "a"); /* used */
    store_make(&s, "d", 0, NULL, "d");
    CU_ASSERT_PTR_NULL(store_read(&s, "b"));
    CU_ASSERT_STRING_EQUAL(store_read(&s, "c"), "c");
    CU_ASSERT_STRING_EQUAL(store_read(&s, "a"), "a");
    store_make(&s, "e", 0, NULL, "e");
    CU_ASSERT_PTR_NULL(store_read(&s, "d"));
    CU_ASSERT_EQUAL(store_totals(&s).evicted, 2);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, "made"), APR_SUCCESS); /* is never evicted */
    CU_ASSERT_STRING_EQUAL(store_read(&s, "making"), "made");
    store_end(&s);
}

/* One client asks for many URLs, each once, and the others for the same few, now and then. */
static void who_asks_for_much_once_evicts_no_common_entries(void)
{
    store_t s;
    unsigned i, kept = 0, recent = 0;

    store_begin(&s, &(vault_output_limits_t){.entries = 40});
    for (i = 0; i < 25; i++) {
        store_make(&s, apr_psprintf(s.f.pool, "common-%u", i), 0, "x", "c");
        CU_ASSERT_PTR_NOT_NULL(store_read(&s, apr_psprintf(s.f.pool, "common-%u", i)));
    }
    for (i = 0; i < 1000; i++) {
        store_make(&s, apr_psprintf(s.f.pool, "once-%u", i), 0, NULL, "o");
    }
    CHECK_STORE(&s);
    for (i = 0; i < 25; i++) {
        kept += store_read(&s, apr_psprintf(s.f.pool, "common-%u", i)) != NULL;
    }
    for (i = 985; i < 1000; i++) {
        recent += store_read(&s, apr_psprintf(s.f.pool, "once-%u", i)) != NULL;
    }
    CU_ASSERT_EQUAL(kept, 25);
    CU_ASSERT_EQUAL(recent, 15);                        /* what is asked for twice soon is kept as well */
    CU_ASSERT_PTR_NOT_NULL(store_read(&s, "common-0")); /* so that it does not go to make room for its successor */
    store_make(&s, "common-0", 0, "x", "renewed");
    for (i = 0; i < 1000; i++) {
        store_make(&s, apr_psprintf(s.f.pool, "again-%u", i), 0, NULL, "o");
    }
    CU_ASSERT_STRING_EQUAL(store_read(&s, "common-0"), "renewed"); /* as what it replaces */
    CU_ASSERT_EQUAL(store_totals(&s).entries, 40);
    store_end(&s);
}

/* New entries take the place of old ones that are no longer used: they have a quarter of the store to be used again. */
static void what_is_used_now_replaces_what_was_used_once(void)
{
    store_t s;
    unsigned i, round, kept = 0;

    store_begin(&s, &(vault_output_limits_t){.entries = 40});
    for (round = 0; round < 2; round++) {
        for (i = 0; i < 40; i++) {
            const char *key = apr_psprintf(s.f.pool, "%u-%u", round, i);

            store_make(&s, key, 0, NULL, "b");
            CU_ASSERT_PTR_NOT_NULL(store_read(&s, key));
        }
    }
    CHECK_STORE(&s);
    for (i = 0; i < 40; i++) {
        kept += store_read(&s, apr_psprintf(s.f.pool, "1-%u", i)) != NULL;
    }
    CU_ASSERT_EQUAL(kept, 40);
    store_end(&s);
}

static void leads_can_take_all_records(void)
{
    store_t s;
    vault_output_lead_t lead[3];
    unsigned i;

    store_begin(&s, &(vault_output_limits_t){.entries = 2});
    for (i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(store_lead(&s, apr_psprintf(s.f.pool, "k%u", i), 0, &lead[i]), APR_SUCCESS);
    }
    CU_ASSERT_EQUAL(store_lead(&s, "k2", 0, &lead[2]), APR_ENOSPC);
    vault_output_abandon(s.o, &lead[0], NULL);
    CU_ASSERT_EQUAL(store_lead(&s, "k2", 0, &lead[2]), APR_SUCCESS);
    vault_output_abandon(s.o, &lead[1], NULL);
    vault_output_abandon(s.o, &lead[2], NULL);
    store_end(&s);
}

/* Many small entries make room for large ones: more than one step of eviction removes. */
static void memory_is_made_free(void)
{
    store_t s;
    vault_output_lead_t lead;
    char *large;
    unsigned i, kept = 0;

    store_begin(&s, &(vault_output_limits_t){.memory = 128 * 1024, .entries = 2000, .memory_max = 100 * 1024});
    large = store_text(&s, 90 * 1024, 'l');
    for (i = 0; i < 1000; i++) {
        store_make(&s, apr_psprintf(s.f.pool, "small-%u", i), 0, NULL, store_text(&s, 200, 's'));
    }
    CU_ASSERT(store_totals(&s).evicted > 0 && store_totals(&s).entries > 100);
    store_make(&s, "large", 0, "x", large);
    CU_ASSERT_STRING_EQUAL(store_read(&s, "large"), large);
    for (i = 0; i < 1000; i++) {
        kept += store_read(&s, apr_psprintf(s.f.pool, "small-%u", i)) != NULL;
    }
    CU_ASSERT_EQUAL(store_totals(&s).entries, kept + 1);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, store_text(&s, 100 * 1024 + 1, 'x')), APR_ENOSPC); /* no files */
    CU_ASSERT_STRING_EQUAL(store_read(&s, "large"), large);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    vault_output_abandon(s.o, &lead, NULL);
    store_end(&s);
}

/* What no eviction makes room for evicts nothing. */
static void facts_may_be_too_large(void)
{
    store_t s;
    vault_output_lead_t lead;
    vault_output_content_t content = {.metadata_size = VAULT_HEAP_BLOCK_MAX + 1, .body = "b", .body_size = 1};

    store_begin(&s, DEFAULTS);
    store_make(&s, "a", 0, NULL, "a");
    content.metadata = store_text(&s, content.metadata_size, 'f');
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_keep(s.o, &lead, &content), APR_ENOSPC);
    CU_ASSERT_STRING_EQUAL(store_read(&s, "a"), "a");
    store_end(&s);
}

static void a_key_has_so_many_variants(void)
{
    store_t s;
    vault_output_entry_t entry;
    vault_output_body_t body;
    unsigned i, found = 0;

    store_begin(&s, DEFAULTS);
    store_make(&s, "other", 0, NULL, "other");
    for (i = 0; i < VAULT_OUTPUT_VARIANTS; i++) {
        store_make(&s, "k", i, NULL, apr_psprintf(s.f.pool, "%u", i));
    }
    memset(&entry, 0, sizeof(entry));
    while (vault_outputs_find(s.o, "k", 1, &entry, s.f.pool) == VAULT_OUTPUT_ENTRY) {
        found++; /* the first variant is used last */
        CU_ASSERT_EQUAL(vault_output_body(s.o, &entry, VAULT_OUTPUT_PLAIN, &body, s.f.pool), APR_SUCCESS);
    }
    CU_ASSERT_EQUAL(found, VAULT_OUTPUT_VARIANTS);
    store_make(&s, "k", 100, NULL, "new");
    memset(&entry, 0, sizeof(entry));
    for (found = 0; vault_outputs_find(s.o, "k", 1, &entry, s.f.pool) == VAULT_OUTPUT_ENTRY; found++) {
        CU_ASSERT_EQUAL(vault_output_body(s.o, &entry, VAULT_OUTPUT_PLAIN, &body, s.f.pool), APR_SUCCESS);
        CU_ASSERT_NOT_EQUAL(body.text[0], '0' + VAULT_OUTPUT_VARIANTS - 1); /* that was used least recently */
    }
    CU_ASSERT_EQUAL(found, VAULT_OUTPUT_VARIANTS);
    CU_ASSERT_STRING_EQUAL(store_read(&s, "other"), "other");
    store_end(&s);
}

/* Pages need interests more: past three quarters, no new ones are created, and the sweep gives some back. */
static void interests_are_left_for_pages(void)
{
    store_t s;
    vault_output_lead_t lead;
    vault_interest_t held;
    apr_uint64_t stamp;
    unsigned i;

    store_begin(&s, DEFAULTS);
    store_make(&s, "k", 0, "of the store", "body");
    for (i = 1; i < 450; i++) {
        CU_ASSERT_FATAL(vault_interest_hold(s.f.notifier, apr_psprintf(s.f.pool, "p-%u", i), &held, &stamp) ==
                        APR_SUCCESS);
    }
    CU_ASSERT_EQUAL(store_lead(&s, "m", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "p-1"), APR_SUCCESS); /* a page holds it */
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "new"), APR_ENOSPC);
    vault_outputs_sweep(s.o, vault_now(), 0);
    CU_ASSERT_PTR_NOT_NULL(store_read(&s, "k")); /* enough are left */
    CU_ASSERT_EQUAL(vault_interest_hold(s.f.notifier, "p-450", &held, &stamp), APR_SUCCESS);
    vault_outputs_sweep(s.o, vault_now() + apr_time_from_sec(1), 0);
    CU_ASSERT_PTR_NULL(store_read(&s, "k"));
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 450);
    vault_output_abandon(s.o, &lead, NULL);
    for (i = 1; i <= 450; i++) {
        CU_ASSERT_FATAL(vault_interest_hold(s.f.notifier, apr_psprintf(s.f.pool, "p-%u", i), &held, &stamp) ==
                        APR_SUCCESS);
        vault_interest_release(s.f.notifier, held);
        vault_interest_release(s.f.notifier, held);
    }
    store_end(&s);
}

/* -------------------------------------------------------------------- upkeep */

static void the_sweep_removes_what_has_ended(void)
{
    const apr_time_t second = apr_time_from_sec(1);
    store_t s;
    apr_time_t now = vault_now();
    vault_output_lead_t lead;
    vault_output_content_t content = {.body = "t", .body_size = 1, .until = now + 3600 * second};

    store_begin(&s, DEFAULTS);
    store_make(&s, "stays", 0, "y", "body");
    store_make(&s, "moves", 0, "x", "body");
    CU_ASSERT_EQUAL(store_lead(&s, "times out", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_keep(s.o, &lead, &content), APR_SUCCESS);
    vault_notifier_notify(s.f.notifier, "x", 0);
    vault_outputs_sweep(s.o, now + 10 * second, 0);
    CU_ASSERT_EQUAL(store_totals(&s).entries, 3); /* it is kept a while, since it says what ended it */
    vault_outputs_sweep(s.o, now + 10 * second + VAULT_OUTPUT_STALE_FOR - 1, 0);
    CU_ASSERT_EQUAL(store_totals(&s).entries, 3);
    vault_outputs_sweep(s.o, now + 11 * second + VAULT_OUTPUT_STALE_FOR, 0);
    CU_ASSERT_EQUAL(store_totals(&s).entries, 2);
    CU_ASSERT_PTR_NULL(store_read(&s, "moves"));
    vault_outputs_sweep(s.o, content.until, 0);
    vault_outputs_sweep(s.o, content.until + VAULT_OUTPUT_STALE_FOR, 0);
    CU_ASSERT_PTR_NULL(store_read(&s, "times out"));
    CU_ASSERT_STRING_EQUAL(store_read(&s, "stays"), "body");
    vault_outputs_sweep(s.o, vault_now() + 4000 * second, 4001 * second);
    CU_ASSERT_EQUAL(store_totals(&s).entries, 1);
    vault_outputs_sweep(s.o, vault_now() + 4001 * second, 4001 * second);
    CU_ASSERT_EQUAL(store_totals(&s).entries, 0); /* not used for so long */
    store_end(&s);
}

/* A lead of a process of the old configuration may end after the restart. */
static void a_restart_outdates_all(void)
{
    const apr_time_t now = vault_now();
    vault_output_content_t content = {.body = "t", .body_size = 1};
    vault_output_lead_t lead;
    store_t s;

    store_begin(&s, DEFAULTS);
    store_make(&s, "before", 0, "x", "body");
    CU_ASSERT_EQUAL(store_lead(&s, "late", 0, &lead), APR_SUCCESS);
    vault_outputs_invalidate(s.o);
    CU_ASSERT_EQUAL(vault_output_keep(s.o, &lead, &content), APR_SUCCESS);
    vault_outputs_sweep(s.o, now + apr_time_from_sec(10), 0);
    CU_ASSERT_EQUAL(store_totals(&s).entries, 0);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 0);
    vault_outputs_set_slot(s.o, s.slot[1]);
    store_make(&s, "after", 0, "x", "body");
    vault_outputs_sweep(s.o, now + apr_time_from_sec(20), 0);
    CU_ASSERT_EQUAL(store_totals(&s).entries, 1);
    store_end(&s);
}

/* More than one step of the walk. */
static void one_of_the_children_sweeps(void)
{
    store_t s;
    apr_time_t now = vault_now() + apr_time_from_sec(100);
    unsigned i;

    store_begin(&s, &(vault_output_limits_t){.entries = 300});
    for (i = 0; i < 300; i++) {
        store_make(&s, apr_psprintf(s.f.pool, "k%u", i), 0, "x", "body");
    }
    vault_outputs_sweep(s.o, now, 0);
    vault_outputs_sweep(s.o, now + 1000, 1);
    CU_ASSERT_EQUAL(store_totals(&s).entries, 300);
    vault_outputs_sweep(s.o, now + apr_time_from_sec(1), 1);
    CU_ASSERT_EQUAL(store_totals(&s).entries, 0);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 0);
    store_end(&s);
}

static unsigned drop_url(store_t *s, const char *url)
{
    return vault_outputs_drop(s->o, &(vault_output_filter_t){.url = url});
}

static unsigned drop_part(store_t *s, const char *part)
{
    return vault_outputs_drop(s->o, &(vault_output_filter_t){.part = part});
}

static void entries_are_dropped_by_their_names(void)
{
    store_t s;
    vault_output_lead_t lead, other;

    store_begin(&s, DEFAULTS);
    store_make(&s, "page http://a/logs?x\nsecret", 0, "x", "1");
    store_make(&s, "page http://a/logs?x\nother", 0, "x", "1");
    store_make(&s, "page http://b/logs?x\nsecret", 0, "x", "2");
    store_make(&s, "page http://b/logs?xy", 0, "x", "3");
    store_make(&s, "bundle //b:80/site.css", 0, "x", "4");
    store_make(&s, "/", 0, "x", "5");
    CU_ASSERT_EQUAL(vault_output_lead(s.o, "page \0logs", 10, 0, s.slot[1], &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_lead(&s, "shop", 0, &other), APR_SUCCESS);
    CU_ASSERT_EQUAL(drop_part(&s, "nowhere"), 0);
    CU_ASSERT_EQUAL(drop_part(&s, "secret"), 0); /* it is not in a name */
    CU_ASSERT_EQUAL(drop_url(&s, "http://a/logs"), 0);
    CU_ASSERT_EQUAL(drop_url(&s, "a/logs?x"), 0);
    CU_ASSERT_EQUAL(drop_url(&s, "/"), 0);
    CU_ASSERT_EQUAL(drop_url(&s, ""), 0);
    CU_ASSERT_EQUAL(drop_url(&s, "http://a/logs?x"), 2);
    CU_ASSERT_EQUAL(drop_url(&s, "/logs?x"), 1);
    CU_ASSERT_EQUAL(drop_url(&s, "/site.css"), 1);
    CU_ASSERT_EQUAL(drop_part(&s, "logs"), 1);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, "made before"), APR_EAGAIN);
    CU_ASSERT_EQUAL(store_keep(&s, &other, "made before"), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(store_read(&s, "/"), "5");
    CU_ASSERT_EQUAL(vault_outputs_drop(s.o, NULL), 2);
    store_end(&s);
}

static void a_renewal_names_its_cause(void)
{
    store_t s;
    vault_output_row_t *row;
    apr_array_header_t *rows;
    vault_output_lead_t lead, other;
    unsigned total;

    store_begin(&s, DEFAULTS);
    store_make(&s, "k", 0, "DB-logs", "1");
    store_read(&s, "k");
    vault_notifier_notify(s.f.notifier, "DB-logs", 0);
    store_make(&s, "k", 0, "DB-logs", "22");
    store_make(&s, "first", 0, NULL, "1");
    store_read(&s, "k");
    CU_ASSERT_EQUAL(store_lead(&s, "making\nsecret", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_lead(&s, "making\nsecret", 0, &other), APR_EBUSY);
    rows = vault_outputs_list(s.o, NULL, VAULT_OUTPUT_BY_USE, 10, &total, s.f.pool);
    CU_ASSERT_EQUAL_FATAL(rows->nelts, 3);
    CU_ASSERT_EQUAL(total, 3);
    row = (vault_output_row_t *)rows->elts;
    CU_ASSERT_STRING_EQUAL(row[0].name, "making");
    CU_ASSERT(row[0].making && row[0].waits == 1 && row[0].size[VAULT_OUTPUT_PLAIN] == 0);
    CU_ASSERT(!row[1].making && row[1].renewed == 1 && row[1].size[VAULT_OUTPUT_PLAIN] == 2);
    CU_ASSERT_EQUAL(row[1].hits, 2); /* one of them is that of the entry before */
    CU_ASSERT_STRING_EQUAL(row[1].name, "k");
    CU_ASSERT_STRING_EQUAL(row[1].renewed_by, "DB-logs");
    CU_ASSERT(row[1].used >= row[1].made && !row[1].personal && !row[1].stale);
    CU_ASSERT(!row[2].renewed && !row[2].renewed_by);
    vault_notifier_notify(s.f.notifier, "DB-logs", 0);
    rows = vault_outputs_list(s.o, &(vault_output_filter_t){.part = "k"}, VAULT_OUTPUT_BY_USE, 1, &total, s.f.pool);
    CU_ASSERT_EQUAL_FATAL(rows->nelts, 1);
    CU_ASSERT_EQUAL(total, 2);
    CU_ASSERT(!((vault_output_row_t *)rows->elts)[0].stale);
    rows = vault_outputs_list(s.o, &(vault_output_filter_t){.part = "k"}, VAULT_OUTPUT_BY_HITS, 1, &total, s.f.pool);
    CU_ASSERT(((vault_output_row_t *)rows->elts)[0].stale);
    vault_output_abandon(s.o, &lead, NULL);
    CU_ASSERT_EQUAL(store_totals(&s).renewed, 1);
    CU_ASSERT_EQUAL(store_totals(&s).kept, 3);
    CU_ASSERT_EQUAL(store_totals(&s).hits, 2);
    CU_ASSERT_EQUAL(store_totals(&s).misses, 4);
    CU_ASSERT_EQUAL(store_totals(&s).waits, 1);
    store_end(&s);
}

/* The names in the order of the rows. */
static const char *listed(store_t *s, vault_output_order_t order, unsigned most)
{
    const apr_array_header_t *rows = vault_outputs_list(s->o, NULL, order, most, NULL, s->f.pool);
    const char *names = "";
    int i;

    for (i = 0; i < rows->nelts; i++) {
        names = apr_pstrcat(s->f.pool, names, APR_ARRAY_IDX(rows, i, vault_output_row_t).name, NULL);
    }
    return names;
}

static void rows_are_ordered(void)
{
    store_t s;

    store_begin(&s, DEFAULTS);
    store_make(&s, "a", 0, NULL, "1");
    store_make(&s, "b", 0, "x", "1");
    store_make(&s, "c", 0, NULL, "333");
    vault_notifier_notify(s.f.notifier, "x", 0);
    store_make(&s, "b", 0, "x", "22");
    store_read(&s, "a");
    store_read(&s, "a");
    store_read(&s, "c");
    CU_ASSERT_STRING_EQUAL(listed(&s, VAULT_OUTPUT_BY_USE, 9), "cab");
    CU_ASSERT_STRING_EQUAL(listed(&s, VAULT_OUTPUT_BY_HITS, 9), "acb");
    CU_ASSERT_STRING_EQUAL(listed(&s, VAULT_OUTPUT_BY_SIZE, 9), "cba");
    CU_ASSERT_STRING_EQUAL(listed(&s, VAULT_OUTPUT_BY_RENEWALS, 1), "b");
    CU_ASSERT_STRING_EQUAL(listed(&s, VAULT_OUTPUT_BY_AGE, 1), "a");
    CU_ASSERT_STRING_EQUAL(listed(&s, VAULT_OUTPUT_BY_USE, 2), "ca");
    CU_ASSERT_STRING_EQUAL(listed(&s, VAULT_OUTPUT_BY_USE, 0), "");
    store_end(&s);
}

void vault_output_room_suite(void)
{
    CU_pSuite suite = CU_add_suite("output_room", NULL, NULL);

    CU_ADD_TEST(suite, the_least_recently_used_goes_first);
    CU_ADD_TEST(suite, who_asks_for_much_once_evicts_no_common_entries);
    CU_ADD_TEST(suite, what_is_used_now_replaces_what_was_used_once);
    CU_ADD_TEST(suite, leads_can_take_all_records);
    CU_ADD_TEST(suite, memory_is_made_free);
    CU_ADD_TEST(suite, facts_may_be_too_large);
    CU_ADD_TEST(suite, a_key_has_so_many_variants);
    CU_ADD_TEST(suite, interests_are_left_for_pages);
    CU_ADD_TEST(suite, the_sweep_removes_what_has_ended);
    CU_add_test(suite, "a restart outdates all", a_restart_outdates_all);
    CU_ADD_TEST(suite, one_of_the_children_sweeps);
    CU_ADD_TEST(suite, entries_are_dropped_by_their_names);
    CU_ADD_TEST(suite, a_renewal_names_its_cause);
    CU_ADD_TEST(suite, rows_are_ordered);
}
