/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the checks themselves: each sees what is wrong, and none cries wolf while the server goes on. */
#include <pthread.h>
#include <string.h>

#include "apr_strings.h"

#include "notify/notifier_tables.h"
#include "page/page_record.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (4 * 1024 * 1024)
#define PAGES 40
#define WORKERS 3
#define LOOKS 60
#define DEATHS 300

/* A page with one interest in its state. */
static vault_page_t make_page(fixture_t *f, vault_pages_t *pages, const char *name)
{
    vault_interest_t interest;
    apr_uint64_t stamp;
    vault_page_t page;

    CU_ASSERT_FATAL(vault_page_create(pages, &page, NULL, NOW, IDLE) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_page_hold(pages, &page, name, &interest, &stamp) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_page_publish(pages, &page, page_state(f->pool, "0", interest, stamp)) == APR_SUCCESS);
    return page;
}

/* What a stray write, or a fault of ours, would leave: the live check says a sentence, and the sound table is sound. */
static void each_fault_is_seen(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_page_record_t *rec;
    vault_holds_t *holds;
    vault_ticket_t t;

    pages_begin(&f, &pages, 3, HEAP);
    page = make_page(&f, pages, "x");
    make_page(&f, pages, "y");
    page_poll(pages, &page, 0, 0, &t);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &t, page_state(f.pool, "1", 0, 0)), APR_SUCCESS);
    rec = &pages->records[page.index];
    holds = vault_page_record_holds(pages, rec);
    CU_ASSERT_PTR_NULL(vault_pages_check_live(pages, f.pool));
#define SEES(place, value, sentence)                                                                                   \
    do {                                                                                                               \
        __typeof__(place) kept = (place);                                                                              \
        const char *wrong;                                                                                             \
        (place) = (value);                                                                                             \
        wrong = vault_pages_check_live(pages, f.pool);                                                                 \
        CU_ASSERT(wrong &&strstr(wrong, sentence));                                                                    \
        (place) = kept;                                                                                                \
        CU_ASSERT_PTR_NULL(vault_pages_check_live(pages, f.pool));                                                     \
    } while (0)
    SEES(rec->own, 599, "its own interest");
    SEES(holds->count, 0, "does not hold an interest that its state names");
    SEES(holds->count, holds->room + 1, "is not valid");
    SEES(holds->interest[0], 598, "not in use");
    SEES(rec->base, 7, "stored state of a page");
    SEES(rec->last_seq, 0, "never given");
    SEES(rec->staged[0], rec->base, "used twice");
    SEES(pages->table->count, 7, "count of pages");
    SEES(pages->table->free, page.index, "in use and free");
    SEES(pages->buckets[rec->key & pages->mask], 0, "not found by its id");
    SEES(rec->key, 0, "not found by its id");
    SEES(vault_record_at(f.notifier, rec->own)->holders, 0, "own interest");
    SEES(f.notifier->clock->now, 1, "ahead of the clock");
#undef SEES
    memset(pages->buckets, 0, (pages->mask + 1) * sizeof(pages->buckets[0])); /* as a killed process may leave it */
    vault_page_ids_mend_locked(pages);
    CU_ASSERT_PTR_NULL(vault_pages_check_live(pages, f.pool));
    fixture_end(&f);
}

/* Two pages hold it, and one holder is there: nothing is wrong with either page alone. */
static void an_interest_with_too_few_holders_is_seen(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_record_t *record;
    const char *wrong;
    int i;

    pages_begin(&f, &pages, 3, HEAP);
    make_page(&f, pages, "x");
    make_page(&f, pages, "x");
    CU_ASSERT_PTR_NULL(vault_pages_check_live(pages, f.pool));
    for (i = 1; (record = vault_record_at(f.notifier, (apr_uint32_t)i))->holders != 2; i++) {
    }
    record->holders = 1;
    wrong = vault_pages_check_live(pages, f.pool);
    CU_ASSERT(wrong && strstr(wrong, "fewer holders"));
    record->holders = 3; /* a killed process may leak one */
    CU_ASSERT_PTR_NULL(vault_pages_check_live(pages, f.pool));
    fixture_end(&f);
}

/* ---------------------------------------------------------------------- live */

typedef struct race_t {
    fixture_t *f;
    vault_pages_t *pages;
    pthread_t threads[WORKERS];
    int stop; /* atomic */
} race_t;

/* Pages that come, poll, hold shared interests, and go. */
static void *live(void *baton)
{
    race_t *race = baton;
    vault_interest_t interest;
    apr_uint64_t stamp;
    vault_ticket_t t;
    vault_page_t page;
    apr_pool_t *pool;
    int n;

    apr_pool_create(&pool, NULL);
    for (n = 0; !__atomic_load_n(&race->stop, __ATOMIC_RELAXED); n++) {
        apr_pool_clear(pool);
        if (vault_page_create(race->pages, &page, NULL, NOW, IDLE) != APR_SUCCESS) {
            continue;
        }
        vault_page_hold(race->pages, &page, apr_psprintf(pool, "i%d", n % 5), &interest, &stamp);
        vault_page_publish(race->pages, &page, page_state(pool, "0", interest, stamp));
        page_poll(race->pages, &page, 0, 0, &t);
        vault_page_stage(race->pages, &t, page_state(pool, "1", interest, stamp));
        vault_notifier_notify(race->f->notifier, "i0", 0);
        page_poll(race->pages, &page, 1, 0, &t);
        vault_page_commit(race->pages, &t, page_state(pool, "1", 0, 0));
        vault_page_drop(race->pages, &page);
    }
    apr_pool_destroy(pool);
    return NULL;
}

static void race_begin(race_t *race, fixture_t *f)
{
    int i;

    pages_begin(f, &race->pages, PAGES, HEAP);
    race->f = f;
    for (i = 0; i < PAGES / 2; i++) {
        make_page(f, race->pages, "i0");
    }
    for (i = 0; i < WORKERS; i++) {
        pthread_create(&race->threads[i], NULL, live, race);
    }
}

static void race_end(race_t *race)
{
    int i;

    __atomic_store_n(&race->stop, 1, __ATOMIC_RELAXED);
    for (i = 0; i < WORKERS; i++) {
        pthread_join(race->threads[i], NULL);
    }
}

static void a_sound_server_is_never_called_wrong(void)
{
    fixture_t f;
    race_t race = {.stop = 0};
    const char *wrong = NULL;
    int i;

    race_begin(&race, &f);
    for (i = 0; i < LOOKS && !wrong; i++) {
        wrong = vault_pages_check_live(race.pages, f.pool);
        wrong = wrong ? wrong : vault_notifier_check_live(f.notifier);
        wrong = wrong ? wrong : vault_heap_check(f.heap);
    }
    race_end(&race);
    fixture_sound(wrong, __LINE__, __FILE__);
    CHECK_PAGES(&f, race.pages);
    fixture_end(&f);
}

/* ---------------------------------------------------------------------- lost */

/* A child that has a block in its hands and is killed. @return what the block takes */
static apr_size_t die_with_a_block(fixture_t *f, apr_size_t size)
{
    unsigned slot;

    CU_ASSERT_FATAL(vault_slot_claim(f->notifier, 4000, &slot) == APR_SUCCESS);
    CU_ASSERT(vault_heap_alloc(f->heap, size) != 0);
    CU_ASSERT_EQUAL(vault_slot_exited(f->notifier, 4000, &slot), 1);
    return vault_heap_takes(size);
}

/* Pages have blocks of every kind; only what no page has counts as lost, and the admin is told from an eighth on. */
static void what_the_dead_have_lost_is_counted(void)
{
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t t;
    apr_uint64_t lost = 0;
    unsigned i;

    pages_begin(&f, &pages, 3, HEAP);
    make_page(&f, pages, "x");
    CU_ASSERT_FATAL(vault_page_create(pages, &page, &(vault_owner_t){.user = "ann", .client = 7}, NOW, IDLE) ==
                    APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_publish(pages, &page, page_state(f.pool, "0", 0, 0)), APR_SUCCESS);
    vault_page_take(pages, &page, &(vault_take_t){.owner = {.user = "ann"}, .now = NOW, .until = NOW}, &t);
    CU_ASSERT_EQUAL(vault_page_stage(pages, &t, page_state(f.pool, "1", 0, 0)), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_pages_count_lost(pages), 0);
    CU_ASSERT_EQUAL(vault_pages_lost(pages), 0);
    CU_ASSERT(vault_heap_alloc(f.heap, 100) != 0);
    CU_ASSERT_EQUAL(vault_pages_count_lost(pages), 0);
    CU_ASSERT_EQUAL(vault_pages_lost(pages), 0); /* no child died, so it is not counted */
    lost = vault_heap_takes(100);
    for (i = 0; lost <= vault_heap_size(f.heap) / 8; i++) {
        CU_ASSERT_EQUAL(vault_pages_count_lost(pages), 0);
        CU_ASSERT(i == 0 || vault_pages_lost(pages) == lost);
        lost += die_with_a_block(&f, (apr_size_t)i * 997 % 60000 + 1);
    }
    CU_ASSERT_EQUAL(vault_pages_count_lost(pages), 1);
    CU_ASSERT_EQUAL(vault_pages_lost(pages), lost);
    CU_ASSERT_EQUAL(vault_pages_count_lost(pages), 0); /* once for each death */
    CHECK_PAGES(&f, pages);
    fixture_end(&f);
}

/* Children die and what they lost is counted, while pages come and go: no page loses anything. */
static void a_count_of_what_is_lost_takes_nothing_from_the_living(void)
{
    fixture_t f;
    race_t race = {.stop = 0};
    vault_page_t page;
    apr_uint64_t lost = 0;
    int i;

    race_begin(&race, &f);
    for (i = 0; i < DEATHS; i++) {
        lost += die_with_a_block(&f, (apr_size_t)i * 97 % 3000 + 1);
        vault_pages_count_lost(race.pages);
    }
    CU_ASSERT_PTR_NULL(vault_pages_check_live(race.pages, f.pool));
    race_end(&race);
    CHECK_PAGES(&f, race.pages);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), PAGES / 2 + 1); /* their own, and i0 */
    for (i = 1; i <= PAGES; i++) {
        if (vault_page_at(race.pages, (apr_uint32_t)i, &page)) {
            vault_page_drop(race.pages, &page);
        }
    }
    CU_ASSERT_EQUAL(vault_heap_used(f.heap), lost);
    fixture_end(&f);
}

void vault_page_check_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_check", NULL, NULL);

    CU_add_test(suite, "each_fault_is_seen", each_fault_is_seen);
    CU_add_test(suite, "an_interest_with_too_few_holders_is_seen", an_interest_with_too_few_holders_is_seen);
    CU_add_test(suite, "a_sound_server_is_never_called_wrong", a_sound_server_is_never_called_wrong);
    CU_add_test(suite, "what_the_dead_have_lost_is_counted", what_the_dead_have_lost_is_counted);
    CU_add_test(suite, "a_count_of_what_is_lost_takes_nothing_from_the_living",
                a_count_of_what_is_lost_takes_nothing_from_the_living);
}
