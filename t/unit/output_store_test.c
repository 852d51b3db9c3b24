/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the output store: entries are made, found and read, and what has moved is not used. */
#include "output/output_store.h"

#include <string.h>
#include <sys/types.h>

#include "apr_strings.h"

#include "base/now.h"
#include "mod_vault/vault.h"
#include "output_fixture.h"
#include "unit.h"

#define DEFAULTS (&(vault_output_limits_t){0})

static void bad_limits_are_refused(void)
{
    static const struct {
        vault_output_limits_t limits;
        apr_status_t rv;
        const char *why;
    } rows[] = {
        {{.memory = 65536, .entries = 0, .memory_max = 1024}, APR_EINVAL, "no entries"},
        {{.memory = 65536, .entries = 4, .memory_max = VAULT_HEAP_BLOCK_MAX + 1}, APR_EINVAL, "no such block"},
        {{.memory = 1 << 30, .entries = 4, .memory_max = 1024}, APR_ENOSPC, "more than the segment has"},
        {{.memory = 65536, .entries = 1 << 30, .memory_max = 1024}, APR_ENOSPC, "more than the segment has"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_outputs_t *o;
        fixture_t f;

        fixture_begin(&f, 16, 2, 0);
        CHECK_ROW(vault_outputs_create(&o, f.segment, f.notifier, &rows[i].limits, f.pool) == rows[i].rv, rows[i].why);
        CU_ASSERT_PTR_NULL(o);
        fixture_end(&f);
    }
}

static void a_folder_must_be_readable(void)
{
    vault_output_limits_t limits = {.memory = 16384, .entries = 4, .memory_max = 1024, .root = "/nonexistent/folder"};
    vault_outputs_t *o;
    fixture_t f;

    fixture_begin(&f, 16, 2, 0);
    CU_ASSERT(APR_STATUS_IS_ENOENT(vault_outputs_create(&o, f.segment, f.notifier, &limits, f.pool)));
    CU_ASSERT_PTR_NULL(o);
    fixture_end(&f);
}

static void what_is_kept_is_found(void)
{
    store_t s;
    vault_output_entry_t entry;
    vault_output_lead_t lead;
    vault_output_body_t body;
    vault_output_content_t content = {.metadata = "facts\0!", .metadata_size = 7, .body = "a\0body", .body_size = 6};
    apr_time_t before = vault_now();

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_find(&s, "/key", &entry), 0);
    CU_ASSERT_EQUAL(store_lead(&s, "/key", 7, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_find(&s, "/key", &entry), 0); /* not while it is made */
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "DB-logs"), APR_SUCCESS);
    content.until = vault_now() + apr_time_from_sec(60);
    CU_ASSERT_EQUAL(vault_output_keep(s.o, &lead, &content), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_find(&s, "/kez", &entry), 0);
    CU_ASSERT_EQUAL(store_find(&s, "/key2", &entry), 0);
    CU_ASSERT_FATAL(store_find(&s, "/key", &entry));
    CU_ASSERT(entry.ref.index == lead.ref.index && entry.ref.number == lead.ref.number);
    CU_ASSERT(entry.metadata_size == 7 && !memcmp(entry.metadata, "facts\0!", 7));
    CU_ASSERT_EQUAL(entry.body_size, 6);
    CU_ASSERT_NOT_EQUAL(entry.etag, 0);
    CU_ASSERT(entry.made >= before && entry.made <= vault_now());
    CU_ASSERT_EQUAL(entry.until, content.until);
    CU_ASSERT_EQUAL(entry.dep_count, 1);
    CU_ASSERT_EQUAL(vault_output_body(s.o, &entry, VAULT_OUTPUT_PLAIN, &body, s.f.pool), APR_SUCCESS);
    CU_ASSERT(body.size == 6 && body.text && !body.file && !memcmp(body.text, "a\0body", 6));
    CU_ASSERT_EQUAL(vault_output_body(s.o, &entry, VAULT_OUTPUT_GZIP, &body, s.f.pool), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_output_keep(s.o, &lead, &content), APR_EAGAIN); /* the lead has ended */
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "DB-logs"), APR_ENOSPC);
    vault_output_abandon(s.o, &lead, NULL);
    CU_ASSERT(store_is_current(&s, "/key"));
    store_end(&s);
}

static void an_empty_body_is_kept(void)
{
    store_t s;
    vault_output_lead_t lead;
    vault_output_content_t nothing = {0};
    vault_output_entry_t entry;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    nothing.body = "";
    CU_ASSERT_EQUAL(vault_output_keep(s.o, &lead, &nothing), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(store_read(&s, "k"), "");
    CU_ASSERT(store_find(&s, "k", &entry) && entry.metadata && !entry.metadata_size);
    store_end(&s);
}

static void keys_have_a_length(void)
{
    store_t s;
    vault_output_lead_t lead;
    char *key;

    store_begin(&s, DEFAULTS);
    key = store_text(&s, VAULT_OUTPUT_KEY_MAX + 1, 'k');
    CU_ASSERT_EQUAL(store_lead(&s, "", 0, &lead), APR_ENOSPC);
    CU_ASSERT_EQUAL(store_lead(&s, key, 0, &lead), APR_ENOSPC);
    key[VAULT_OUTPUT_KEY_MAX] = '\0';
    store_make(&s, key, 0, NULL, "long");
    CU_ASSERT_STRING_EQUAL(store_read(&s, key), "long");
    CU_ASSERT_EQUAL(vault_output_lead(s.o, "a\0b", 3, 0, s.slot[1], &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, "with NUL"), APR_SUCCESS);
    CU_ASSERT_PTR_NULL(store_read(&s, "a"));
    store_end(&s);
}

static void etags_are_of_the_body(void)
{
    store_t s, other;
    vault_output_entry_t a, b, c;

    store_begin(&s, DEFAULTS);
    store_begin(&other, DEFAULTS);
    store_make(&s, "a", 0, NULL, "body");
    store_make(&s, "b", 0, NULL, "Body");
    store_make(&other, "c", 0, "x", "body");
    CU_ASSERT_FATAL(store_find(&s, "a", &a) && store_find(&s, "b", &b) && store_find(&other, "c", &c));
    CU_ASSERT_NOT_EQUAL(a.etag, b.etag);
    CU_ASSERT_EQUAL(a.etag, c.etag); /* on another server, too */
    store_end(&s);
    store_end(&other);
}

/* ------------------------------------------------------------- dependencies */

static void a_notify_ends_an_entry(void)
{
    store_t s;
    vault_output_entry_t entry;

    store_begin(&s, DEFAULTS);
    store_make(&s, "k", 0, "x", "body");
    store_make(&s, "other", 0, "y", "body");
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    CU_ASSERT(vault_output_is_current(s.o, &entry, vault_now()));
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "x", 0), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_is_current(s.o, &entry, vault_now()), 0);
    CU_ASSERT_EQUAL(store_is_current(&s, "k"), 0);
    CU_ASSERT(store_is_current(&s, "other"));
    vault_notifier_all(s.f.notifier, 0);
    CU_ASSERT_EQUAL(store_is_current(&s, "other"), 0);
    store_end(&s);
}

static void time_ends_an_entry(void)
{
    store_t s;
    vault_output_lead_t lead;
    vault_output_entry_t entry;
    apr_time_t until = vault_now() + apr_time_from_sec(60);
    vault_output_content_t content = {.body = "b", .body_size = 1, .until = until};

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_keep(s.o, &lead, &content), APR_SUCCESS);
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    CU_ASSERT(vault_output_is_current(s.o, &entry, until - 1));
    CU_ASSERT_EQUAL(vault_output_is_current(s.o, &entry, until), 0);
    store_end(&s);
}

/* An entry that was found stays outdated when its interest is removed and its index has another name. */
static void an_entry_that_has_gone_is_not_current_again(void)
{
    store_t s;
    vault_output_entry_t entry;
    vault_interest_t other;
    apr_uint64_t stamp;

    store_begin(&s, DEFAULTS);
    store_make(&s, "k", 0, "x", "body");
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    CU_ASSERT_EQUAL(vault_outputs_drop(s.o, &(vault_output_filter_t){.part = "k"}), 1);
    CU_ASSERT_EQUAL(vault_output_is_current(s.o, &entry, vault_now()), 0);
    CU_ASSERT_EQUAL(vault_interest_hold(s.f.notifier, "y", &other, &stamp), APR_SUCCESS);
    CU_ASSERT_EQUAL(other, entry.deps[0].interest);
    CU_ASSERT_EQUAL(vault_output_is_current(s.o, &entry, vault_now()), 0);
    vault_interest_release(s.f.notifier, other);
    store_end(&s);
}

static void what_moves_while_it_is_made_is_not_kept(void)
{
    store_t s;
    vault_output_lead_t lead;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "x"), APR_SUCCESS);
    vault_notifier_notify(s.f.notifier, "x", 0);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "x"), APR_SUCCESS); /* the first stamp counts */
    CU_ASSERT_EQUAL(store_keep(&s, &lead, "body"), APR_EAGAIN);
    CU_ASSERT_PTR_NULL(store_read(&s, "k"));
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 0);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS); /* it has ended */
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "x"), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, "body"), APR_SUCCESS);
    store_end(&s);
}

static void an_interest_is_held_once(void)
{
    store_t s;
    vault_output_lead_t lead;
    vault_output_entry_t entry;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "x"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "y"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "x"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, ""), APR_EINVAL);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, store_text(&s, VAULT_INTEREST_MAX + 1, 'x')), APR_EINVAL);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, "body"), APR_SUCCESS);
    CU_ASSERT_FATAL(store_find(&s, "k", &entry) && entry.dep_count == 2);
    CU_ASSERT_EQUAL(vault_interest_holders(s.f.notifier, entry.deps[0].interest), 1);
    CU_ASSERT_EQUAL(vault_interest_holders(s.f.notifier, entry.deps[1].interest), 1);
    vault_outputs_drop(s.o, NULL);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 0);
    store_end(&s);
}

static void an_entry_has_so_many_interests(void)
{
    store_t s;
    vault_output_lead_t lead;
    unsigned i;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    for (i = 0; i < VAULT_OUTPUT_INTERESTS; i++) {
        CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, apr_psprintf(s.f.pool, "i-%u", i)), APR_SUCCESS);
    }
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "one more"), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "i-0"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), VAULT_OUTPUT_INTERESTS);
    vault_output_abandon(s.o, &lead, NULL);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 0);
    store_end(&s);
}

/* --------------------------------------------------------------------- parts */

static void a_whole_has_the_stamps_of_its_parts(void)
{
    static const struct {
        const char *held_first; /* by the whole, before the part was used; NULL: nothing */
        const char *notified;   /* after the part was found */
        int dropped;            /* the part is dropped after that */
        apr_status_t rv;
        const char *why;
    } rows[] = {
        {NULL, NULL, 0, APR_SUCCESS, "nothing has moved"},
        {NULL, "x", 0, APR_EAGAIN, "the part is outdated, and so is the whole"},
        {"x", "x", 0, APR_EAGAIN, "the older of two stamps counts"},
        {"x", NULL, 1, APR_SUCCESS, "the whole holds the interest itself"},
        {NULL, NULL, 1, APR_EAGAIN, "a notify of an interest that was not held has no number"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        store_t s;
        vault_output_entry_t part, whole;
        vault_output_lead_t lead;

        store_begin(&s, DEFAULTS);
        store_make(&s, "part", 0, "x", "part");
        CU_ASSERT_FATAL(store_lead(&s, "whole", 0, &lead) == APR_SUCCESS && store_find(&s, "part", &part));
        if (rows[i].held_first) {
            CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, rows[i].held_first), APR_SUCCESS);
        }
        if (rows[i].notified) {
            vault_notifier_notify(s.f.notifier, rows[i].notified, 0);
        }
        if (rows[i].dropped) {
            vault_outputs_drop(s.o, &(vault_output_filter_t){.part = "part"});
        }
        CHECK_ROW(vault_output_hold_deps(s.o, &lead, &part) == APR_SUCCESS, rows[i].why);
        CHECK_ROW(store_keep(&s, &lead, "whole") == rows[i].rv, rows[i].why);
        CHECK_ROW(store_find(&s, "whole", &whole) == (rows[i].rv == APR_SUCCESS), rows[i].why);
        store_end(&s);
    }
}

/* By its time an entry is outdated since then; by an interest since a sweep last found it to be current. */
static void an_outdated_entry_may_be_used_for_a_while(void)
{
    const apr_time_t second = apr_time_from_sec(1), now = vault_now();
    vault_output_content_t content = {
        .body = "b", .body_size = 1, .until = now + 100 * second, .stale_for = 20 * second};
    vault_output_entry_t entry;
    vault_output_lead_t lead;
    store_t s;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "x"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_keep(s.o, &lead, &content), APR_SUCCESS);
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    CU_ASSERT_TRUE(vault_output_may_be_stale(s.o, &entry, now + 120 * second - 1));
    CU_ASSERT_FALSE(vault_output_may_be_stale(s.o, &entry, now + 120 * second));
    vault_outputs_sweep(s.o, now + 10 * second, 0);
    vault_notifier_notify(s.f.notifier, "x", 0);
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    CU_ASSERT_FALSE(vault_output_is_current(s.o, &entry, now + 10 * second));
    CU_ASSERT_TRUE(vault_output_may_be_stale(s.o, &entry, now + 30 * second - 1));
    CU_ASSERT_FALSE(vault_output_may_be_stale(s.o, &entry, now + 30 * second));
    vault_outputs_sweep(s.o, now + 30 * second - 1, 0);
    CU_ASSERT_TRUE(store_find(&s, "k", &entry)); /* longer than an entry stays of which nothing is used */
    vault_outputs_sweep(s.o, now + 50 * second, 0);
    CU_ASSERT_FALSE(store_find(&s, "k", &entry));
    store_make(&s, "never", 0, "x", "body");
    CU_ASSERT_FATAL(store_find(&s, "never", &entry));
    vault_notifier_notify(s.f.notifier, "x", 0);
    CU_ASSERT_FALSE(vault_output_may_be_stale(s.o, &entry, entry.made));
    store_end(&s);
}

static void a_whole_lasts_no_longer_than_its_parts(void)
{
    store_t s;
    vault_output_entry_t part = {.until = vault_now() + apr_time_from_sec(60)}, whole;
    vault_output_content_t content = {.body = "b", .body_size = 1, .until = part.until + 1};
    vault_output_lead_t lead;
    apr_time_t earlier = part.until - 2;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold_deps(s.o, &lead, &part), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_keep(s.o, &lead, &content), APR_SUCCESS);
    CU_ASSERT(store_find(&s, "k", &whole) && whole.until == part.until);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold_deps(s.o, &lead, &part), APR_SUCCESS);
    content.until = earlier;
    CU_ASSERT_EQUAL(vault_output_keep(s.o, &lead, &content), APR_SUCCESS);
    CU_ASSERT(store_find(&s, "k", &whole) && whole.until == earlier);
    store_end(&s);
}

void vault_output_store_suite(void)
{
    CU_pSuite suite = CU_add_suite("output_store", NULL, NULL);

    CU_ADD_TEST(suite, bad_limits_are_refused);
    CU_ADD_TEST(suite, a_folder_must_be_readable);
    CU_ADD_TEST(suite, what_is_kept_is_found);
    CU_ADD_TEST(suite, an_empty_body_is_kept);
    CU_ADD_TEST(suite, keys_have_a_length);
    CU_ADD_TEST(suite, etags_are_of_the_body);
    CU_ADD_TEST(suite, a_notify_ends_an_entry);
    CU_ADD_TEST(suite, time_ends_an_entry);
    CU_ADD_TEST(suite, an_entry_that_has_gone_is_not_current_again);
    CU_ADD_TEST(suite, what_moves_while_it_is_made_is_not_kept);
    CU_ADD_TEST(suite, an_interest_is_held_once);
    CU_ADD_TEST(suite, an_entry_has_so_many_interests);
    CU_ADD_TEST(suite, a_whole_has_the_stamps_of_its_parts);
    CU_ADD_TEST(suite, an_outdated_entry_may_be_used_for_a_while);
    CU_ADD_TEST(suite, a_whole_lasts_no_longer_than_its_parts);
}
