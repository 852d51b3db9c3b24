/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a page that goes from one server to another: nothing of it is lost, its methods run once, and what is
 * damaged or belongs elsewhere is refused. */
#include <string.h>

#include <CUnit/CUnit.h>

#include "apr_strings.h"

#include "page/interest_set.h"
#include "page/page_packet.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (1024 * 1024)
#define SEED 42
#define GAP 1000

/* Two servers, and a page of the first one: what is committed is number 0, and the answers 1 and 2 are staged. */
typedef struct scene_t {
    fixture_t a, b;
    vault_pages_t *at_a, *at_b;
    vault_page_t page;
    vault_ticket_t ticket; /* of the poll at `a` */
} scene_t;

static void add_cursor(vault_state_t *s, const char *value)
{
    vault_cursor_t *c = apr_array_push(s->cursors);

    c->scope = "/m";
    c->key = "the call";
    c->value = value;
    c->deps = apr_array_make(s->pool, 1, sizeof(vault_dep_t));
}

static void stage(vault_pages_t *pages, const vault_ticket_t *ticket, const char *mark, apr_pool_t *pool)
{
    vault_interest_t interest;
    apr_uint64_t stamp;
    vault_state_t *s;

    CU_ASSERT_EQUAL_FATAL(vault_page_hold(pages, &ticket->page, "an interest", &interest, &stamp), APR_SUCCESS);
    s = page_state(pool, mark, interest, stamp);
    add_cursor(s, mark);
    CU_ASSERT_EQUAL_FATAL(vault_page_stage(pages, ticket, s), APR_SUCCESS);
}

static void begin(scene_t *s)
{
    pages_begin(&s->a, &s->at_a, 3, HEAP);
    pages_begin(&s->b, &s->at_b, 3, HEAP);
    s->page = page_publish(s->at_a, s->a.pool);
    CU_ASSERT_EQUAL_FATAL(page_poll(s->at_a, &s->page, 0, 7, &s->ticket), APR_SUCCESS);
    stage(s->at_a, &s->ticket, "one", s->a.pool);
    stage(s->at_a, &s->ticket, "two", s->a.pool);
}

static void end(scene_t *s, vault_page_t *other)
{
    pages_end(&s->a, s->at_a, &s->page);
    pages_end(&s->b, s->at_b, other);
}

/* The snapshot of the first server, as the second one reads it. */
static vault_page_restore_t hand_over(scene_t *s, vault_page_packet_t *read, apr_uint64_t fence)
{
    vault_page_packet_t p = {.page = s->page, .host = 1, .realm = 2};
    vault_page_restore_t restore = {.snapshot = &read->snapshot, .gap = GAP, .now = NOW, .idle = IDLE};
    apr_size_t size;
    char *block;

    CU_ASSERT_EQUAL_FATAL(vault_page_snapshot_take(s->at_a, &s->page, 1, &restore.copy, &p.snapshot, s->a.pool),
                          APR_SUCCESS);
    block = vault_page_packet_encode(&p, SEED, &size, s->a.pool);
    memset(read, 0, sizeof(*read));
    read->page = s->page;
    CU_ASSERT_PTR_NULL_FATAL(vault_page_packet_decode(read, SEED, block, size, s->a.pool));
    CU_ASSERT(read->host == 1 && read->realm == 2 && read->sum == p.sum);
    restore.copy.fence = fence;
    return restore;
}

static vault_page_t restore_at_b(scene_t *s, const vault_page_restore_t *restore)
{
    vault_page_t page = s->page;

    CU_ASSERT_EQUAL_FATAL(vault_page_snapshot_restore(s->at_b, &page, restore), APR_SUCCESS);
    return page;
}

static int has_moved(scene_t *s, const vault_state_t *state)
{
    vault_interest_set_t set = {0};

    vault_interest_set_clear(&set, vault_interest_set_max(state), s->b.pool);
    vault_interest_set_add(&set, 0, state, NOW);
    vault_interest_set_arm(&set, s->b.notifier, 0, s->b.pool);
    return vault_interest_set_method_moved(&set, &APR_ARRAY_IDX(state->methods, 0, vault_method_t));
}

/* -------------------------------------------------------------------- the page */

static void another_server_continues_from_each_answer(void)
{
    static const struct {
        apr_uint64_t seq;
        const char *mark;
    } rows[] = {{0, ""}, {1, "one"}, {2, "two"}};
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_page_packet_t read;
        vault_page_restore_t restore;
        vault_ticket_t ticket;
        vault_state_t *base;
        vault_page_t page;
        scene_t s;

        begin(&s);
        restore = hand_over(&s, &read, 5);
        page = restore_at_b(&s, &restore);
        CU_ASSERT_EQUAL_FATAL(page_poll(s.at_b, &page, rows[i].seq, 7, &ticket), APR_SUCCESS);
        CU_ASSERT_STRING_EQUAL(page_mark(s.at_b, &ticket, s.b.pool), rows[i].mark);
        base = page_base(s.at_b, &ticket, s.b.pool);
        if (rows[i].seq) {
            CU_ASSERT_STRING_EQUAL(vault_state_cursor(base, "/m", "the call")->value, rows[i].mark);
            CU_ASSERT(has_moved(&s, base));
        }
        stage(s.at_b, &ticket, "three", s.b.pool);
        CHECK_PAGES(&s.b, s.at_b);
        CU_ASSERT_EQUAL(page_poll(s.at_b, &page, 3 + GAP, 7, &ticket), APR_SUCCESS);
        stage(s.at_b, &ticket, "four", s.b.pool); /* one gap only */
        CU_ASSERT_EQUAL(page_poll(s.at_b, &page, 4 + GAP, 7, &ticket), APR_SUCCESS);
        end(&s, &page);
    }
}

/* By the snapshot as by the page itself. */
static void another_tab_and_unknown_answers_are_refused(void)
{
    static const struct {
        apr_uint64_t seq, tab;
        apr_status_t rv;
    } rows[] = {{0, 7, APR_SUCCESS},   {1, 7, APR_SUCCESS},   {2, 0, APR_SUCCESS},
                {3, 7, APR_EMISMATCH}, {1, 8, APR_EMISMATCH}, {VAULT_PAGE_LATEST, 7, APR_SUCCESS}};
    vault_page_packet_t read;
    unsigned i;
    scene_t s;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_take_t take = {rows[i].seq, {rows[i].tab, rows[i].tab}, {0}, NOW, NOW};
        begin(&s);
        hand_over(&s, &read, 5);
        CU_ASSERT_EQUAL(vault_page_snapshot_admits(&read.snapshot, &take), rows[i].rv);
        CU_ASSERT_EQUAL(vault_page_take(s.at_a, &s.page, &take, &s.ticket), rows[i].rv);
        end(&s, NULL);
    }
}

static void a_page_that_goes_back_supersedes_the_poll(void)
{
    vault_page_packet_t read;
    vault_page_restore_t restore;
    vault_ticket_t old, new;
    vault_page_t page;
    scene_t s;

    begin(&s);
    restore = hand_over(&s, &read, 5);
    page = restore_at_b(&s, &restore);
    CU_ASSERT_EQUAL_FATAL(page_poll(s.at_b, &page, 1, 7, &old), APR_SUCCESS);

    restore.copy.fence = 4; /* an older owner's */
    CU_ASSERT_EQUAL(vault_page_snapshot_restore(s.at_b, &page, &restore), APR_EAGAIN);
    CU_ASSERT_FALSE(vault_page_superseded(s.at_b, &old));
    CU_ASSERT_EQUAL(page_poll(s.at_b, &page, 2, 7, &old), APR_EMISMATCH);

    restore.copy.fence = 6;
    restore_at_b(&s, &restore);
    CU_ASSERT(vault_page_superseded(s.at_b, &old));
    CU_ASSERT_EQUAL(vault_page_stage(s.at_b, &old, vault_state_create(s.b.pool)), APR_ECONNABORTED);
    CHECK_PAGES(&s.b, s.at_b);
    CU_ASSERT_EQUAL(page_poll(s.at_b, &page, 2, 7, &new), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(page_mark(s.at_b, &new, s.b.pool), "two");
    end(&s, &page);
}

static void a_server_knows_what_it_has_saved(void)
{
    vault_page_snapshot_t snapshot;
    vault_page_copy_t first, second, now;
    scene_t s;

    begin(&s);
    CU_ASSERT_EQUAL(vault_page_snapshot_take(s.at_a, &s.page, 9, &first, &snapshot, s.a.pool), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_snapshot_take(s.at_a, &s.page, 10, &second, &snapshot, s.a.pool), APR_SUCCESS);
    CU_ASSERT(first.fence == 9 && second.fence == 9 && first.version == 1 && second.version == 2);
    second.saved = 22;
    vault_page_snapshot_saved(s.at_a, &s.page, &second);
    first.saved = 11;
    vault_page_snapshot_saved(s.at_a, &s.page, &first); /* its answer came later */
    CU_ASSERT_EQUAL(vault_page_copy_read(s.at_a, &s.page, &now), APR_SUCCESS);
    CU_ASSERT_EQUAL(now.saved, 22);
    second.fence = 8;
    second.saved = 33;
    vault_page_snapshot_saved(s.at_a, &s.page, &second); /* as another owner */
    vault_page_copy_read(s.at_a, &s.page, &now);
    CU_ASSERT_EQUAL(now.saved, 22);

    vault_page_snapshot_take(s.at_a, &s.page, 9, &first, &snapshot, s.a.pool);
    vault_page_copy_read(s.at_a, &s.page, &now);
    CU_ASSERT_EQUAL(first.saved, 22);
    CU_ASSERT_EQUAL(now.saved, 0); /* a process that is killed now has not saved it */
    end(&s, NULL);
}

/* ------------------------------------------------------------------- the block */

static char *encode(scene_t *s, const char *user, apr_size_t *size)
{
    vault_page_packet_t p = {.page = s->page};
    vault_page_copy_t copy;

    CU_ASSERT_EQUAL_FATAL(vault_page_snapshot_take(s->at_a, &s->page, 1, &copy, &p.snapshot, s->a.pool), APR_SUCCESS);
    p.snapshot.user = user;
    return vault_page_packet_encode(&p, SEED, size, s->a.pool);
}

static const char *decode(scene_t *s, const char *block, apr_size_t size, vault_page_packet_t *p, apr_pool_t *pool)
{
    memset(p, 0, sizeof(*p));
    p->page = s->page;
    return vault_page_packet_decode(p, SEED, block, size, pool);
}

static void a_block_is_read_as_it_was_written(void)
{
    vault_page_packet_t p;
    apr_size_t size, other, i;
    char *block;
    scene_t s;

    begin(&s);
    block = encode(&s, "alice", &size);
    CU_ASSERT_PTR_NULL_FATAL(decode(&s, block, size, &p, s.a.pool));
    CU_ASSERT_STRING_EQUAL(p.snapshot.user, "alice");
    for (i = 0; i + sizeof(s.page.id) <= size; i++) {
        CU_ASSERT(memcmp(block + i, s.page.id, sizeof(s.page.id)) != 0); /* it is a secret */
    }
    CU_ASSERT(p.snapshot.tab[0] == 7 && p.snapshot.last_seq == 2 && p.snapshot.count == 3);
    CU_ASSERT_EQUAL(p.snapshot.states[0].state->seq, 0);
    CU_ASSERT(!memcmp(vault_page_packet_encode(&p, SEED, &other, s.a.pool), block, size) && other == size);
    block = encode(&s, NULL, &size);
    CU_ASSERT_PTR_NULL_FATAL(decode(&s, block, size, &p, s.a.pool));
    CU_ASSERT_PTR_NULL(p.snapshot.user);
    end(&s, NULL);
}

static void what_is_damaged_or_belongs_elsewhere_is_refused(void)
{
    vault_page_packet_t p;
    apr_size_t size, i;
    apr_pool_t *pool;
    char *block;
    scene_t s;

    begin(&s);
    apr_pool_create(&pool, s.a.pool);
    block = encode(&s, "alice", &size);
    for (i = 0; i < size; i++) {
        char *cut = apr_pmemdup(pool, block, i + 1);
        CU_ASSERT_PTR_NOT_NULL(decode(&s, cut, i, &p, pool));
        block[i] = (char)(block[i] ^ 1 << i % 8);
        CU_ASSERT_PTR_NOT_NULL(decode(&s, block, size, &p, pool));
        block[i] = (char)(block[i] ^ 1 << i % 8);
        apr_pool_clear(pool);
    }
    CU_ASSERT_PTR_NOT_NULL(vault_page_packet_decode(&p, SEED + 1, block, size, pool));
    s.page.id[1] ^= 1;
    CU_ASSERT_PTR_NOT_NULL(decode(&s, block, size, &p, pool));
    s.page.id[1] ^= 1;
    CU_ASSERT_PTR_NULL(decode(&s, block, size, &p, pool));
    end(&s, NULL);
}

void vault_page_snapshot_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_snapshot", NULL, NULL);

    CU_ADD_TEST(suite, another_server_continues_from_each_answer);
    CU_ADD_TEST(suite, another_tab_and_unknown_answers_are_refused);
    CU_ADD_TEST(suite, a_page_that_goes_back_supersedes_the_poll);
    CU_ADD_TEST(suite, a_server_knows_what_it_has_saved);
    CU_ADD_TEST(suite, a_block_is_read_as_it_was_written);
    CU_ADD_TEST(suite, what_is_damaged_or_belongs_elsewhere_is_refused);
}
