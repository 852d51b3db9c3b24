/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what servers of a cluster agree on: subjects, the engine of an interest, heartbeats. */
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "fixture.h"
#include "gateway/exchange.h"
#include "gateway/hash_ring.h"
#include "gateway/peers.h"
#include "gateway/subject.h"
#include "mod_vault/vault.h"
#include "unit.h"

#define NAMES 10000
#define ENGINES 5

/* ------------------------------------------------------------------- subjects */

static void every_byte_comes_back(void)
{
    char name[VAULT_INTEREST_MAX + 1], subject[VAULT_SUBJECT_MAX], back[VAULT_INTEREST_MAX + 1];
    int first, i;

    for (first = 1; first < 256; first += 100) {
        for (i = 0; i < VAULT_INTEREST_MAX; i++) {
            name[i] = (char)(first + i % 156);
        }
        name[i] = '\0';
        CU_ASSERT_TRUE(vault_subject_of(name, subject, sizeof(subject)) > 0);
        CU_ASSERT_EQUAL(strcspn(subject, ".*> \t\r\n"), strlen(subject));
        CU_ASSERT_TRUE(vault_subject_interest(subject, back, sizeof(back)));
        CU_ASSERT_STRING_EQUAL(back, name);
    }
    CU_ASSERT_EQUAL(vault_subject_of("DB-logs 2", subject, sizeof(subject)), strlen("DB-logs=202"));
    CU_ASSERT_STRING_EQUAL(subject, "DB-logs=202");
}

static void what_is_no_subject_is_refused(void)
{
    static const char *const rows[] = {"", "a.b", "=", "=4", "=4g", "=00", "a=", "caf\xc3\xa9", "a b", NULL};
    char back[VAULT_INTEREST_MAX + 1], small[4];
    const char *const *row;

    for (row = rows; *row; row++) {
        CHECK_ROW(!vault_subject_interest(*row, back, sizeof(back)), *row);
    }
    CU_ASSERT_FALSE(vault_subject_interest("abcd", small, sizeof(small)));
    CU_ASSERT_TRUE(vault_subject_interest("abc", small, sizeof(small)));
    CU_ASSERT_EQUAL(vault_subject_of("abcd", small, sizeof(small)), 0);
}

static void what_belongs_to_one_server_does_not_cross(void)
{
    CU_ASSERT_FALSE(vault_exchange_crosses("page:0123"));
    CU_ASSERT_FALSE(vault_exchange_crosses("session:at:1"));
    CU_ASSERT_FALSE(vault_exchange_crosses("vault-output:1:2"));
    CU_ASSERT_TRUE(vault_exchange_crosses("pages"));
    CU_ASSERT_TRUE(vault_exchange_crosses("DB-logs"));
}

/* ----------------------------------------------------------------------- ring */

static const char *name_of(apr_pool_t *pool, int i)
{
    return apr_psprintf(pool, "DB-table-%d", i);
}

static void a_lost_engine_moves_only_its_share(void)
{
    static const char *const all[ENGINES] = {"a:4222", "b:4222", "c:4222", "d:4222", "e:4222"};
    static const char *const fewer[ENGINES - 1] = {"e:4222", "a:4222", "d:4222",
                                                   "b:4222"}; /* without c, in another order */
    unsigned share[ENGINES] = {0}, i, moved = 0;
    vault_hash_ring_t *before, *after;
    fixture_t f;

    fixture_begin(&f, 10, 2, 0);
    before = vault_hash_ring_make(all, ENGINES, f.pool);
    after = vault_hash_ring_make(fewer, ENGINES - 1, f.pool);
    for (i = 0; i < NAMES; i++) {
        const char *name = name_of(f.pool, (int)i);
        unsigned owner = vault_hash_ring_owner(before, name);
        share[owner]++;
        if (strcmp(all[owner], fewer[vault_hash_ring_owner(after, name)])) {
            moved++;
            CU_ASSERT_EQUAL(owner, 2);
        }
    }
    CU_ASSERT_EQUAL(moved, share[2]);
    for (i = 0; i < ENGINES; i++) { /* 128 points each: the shares are equal within some tens of percent */
        CU_ASSERT_TRUE(share[i] > NAMES / ENGINES / 2 && share[i] < 2 * NAMES / ENGINES);
    }
    fixture_end(&f);
}

static void the_order_of_engines_does_not_matter(void)
{
    static const char *const one[] = {"a:4222", "b:4222"}, *const other[] = {"b:4222", "a:4222"},
                             *const third[] = {"a:4222", "c:4222"};
    vault_hash_ring_t *r1, *r2;
    fixture_t f;
    int i;

    fixture_begin(&f, 10, 2, 0);
    r1 = vault_hash_ring_make(one, 2, f.pool);
    r2 = vault_hash_ring_make(other, 2, f.pool);
    CU_ASSERT_EQUAL(vault_hash_ring_version(r1), vault_hash_ring_version(r2));
    CU_ASSERT_NOT_EQUAL(vault_hash_ring_version(r1), vault_hash_ring_version(vault_hash_ring_make(third, 2, f.pool)));
    for (i = 0; i < 100; i++) {
        const char *name = name_of(f.pool, i);
        CU_ASSERT_STRING_EQUAL(one[vault_hash_ring_owner(r1, name)], other[vault_hash_ring_owner(r2, name)]);
    }
    fixture_end(&f);
}

/* ---------------------------------------------------------------------- peers */

static const vault_facts_t no_facts;

static vault_peers_heard_t hear(vault_peers_t *p, const char *text, apr_time_t now)
{
    char name[VAULT_PEER_NAME_MAX];

    return vault_peers_hear(p, text, strlen(text), "me", 7, now, name);
}

static void a_silent_server_is_dropped_once(void)
{
    static vault_peers_t peers;
    char beat[VAULT_PEERS_BEAT_MAX], name[VAULT_PEER_NAME_MAX];

    CU_ASSERT_EQUAL(vault_peers_init(&peers), APR_SUCCESS);
    vault_peers_format(beat, "other", 7, &no_facts);
    CU_ASSERT_EQUAL(hear(&peers, beat, 100), VAULT_PEERS_JOINED);
    CU_ASSERT_EQUAL(hear(&peers, beat, 200), VAULT_PEERS_KNOWN);
    CU_ASSERT_FALSE(vault_peers_drop_silent(&peers, 200, name));
    CU_ASSERT_TRUE(vault_peers_drop_silent(&peers, 201, name));
    CU_ASSERT_STRING_EQUAL(name, "other");
    CU_ASSERT_FALSE(vault_peers_drop_silent(&peers, 201, name));
    CU_ASSERT_EQUAL(hear(&peers, beat, 300), VAULT_PEERS_JOINED);
}

/* ------------------------------------------------------------------- exchange */

static vault_exchange_t *make_exchange(fixture_t *f)
{
    vault_limits_t limits = {vault_exchange_space() + 64 * 1024, 1, 1, 2, 0};
    vault_segment_t *segment = NULL;
    vault_exchange_t *x = NULL;

    fixture_begin(f, 10, 2, 0);
    CU_ASSERT_FATAL(vault_segment_create(&segment, &limits, f->pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_exchange_create(&x, segment, f->notifier, 3, f->pool) == APR_SUCCESS);
    return x;
}

static vault_journal_at_t end_of(vault_exchange_t *x)
{
    return vault_journal_end(vault_exchange_outbox(x));
}

static void end_exchange(fixture_t *f, vault_exchange_t *x)
{
    unsigned i;

    for (i = 0; i < 3; i++) {
        close(vault_journal_fd(vault_exchange_held(x), i));
        close(vault_journal_fd(vault_exchange_outbox(x), i));
    }
    fixture_end(f);
}

static void an_engine_keeps_its_position_in_another_order(void)
{
    static const char *const one[] = {"a:1", "b:1", "c:1"}, *const other[] = {"c:1", "a:1", "b:1"};
    fixture_t f;
    vault_exchange_t *x = make_exchange(&f);

    vault_exchange_set_engines(x, one);
    vault_exchange_notified(x, "x");
    vault_exchange_set_taken(x, 0, 10);
    vault_exchange_set_taken(x, 1, 20);
    vault_exchange_set_taken(x, 2, 30);
    vault_exchange_set_engines(x, other);
    CU_ASSERT_EQUAL(vault_exchange_taken(x, 0), 30);
    CU_ASSERT_EQUAL(vault_exchange_taken(x, 1), 10);
    CU_ASSERT_EQUAL(vault_exchange_taken(x, 2), 20);
    CU_ASSERT_EQUAL(end_of(x), 4 + 1); /* no more than the notify above */
    end_exchange(&f, x);
}

static void what_a_replaced_engine_has_not_taken_is_published_by_all(void)
{
    static const char *const before[] = {"a:1", "b:1", "c:1"}, *const after[] = {"d:1", "a:1", "c:1"};
    fixture_t f;
    vault_exchange_t *x = make_exchange(&f);
    vault_journal_at_t end;
    unsigned i;

    vault_exchange_set_engines(x, before);
    CU_ASSERT_EQUAL(end_of(x), 0);
    vault_exchange_set_taken(x, 0, 30);
    vault_exchange_set_taken(x, 1, 20);
    vault_exchange_set_taken(x, 2, 30);
    vault_exchange_set_engines(x, after);
    for (i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(vault_exchange_taken(x, i), 20);
    }
    end = end_of(x);
    CU_ASSERT_EQUAL(end, 4 + 1); /* all other servers check for changes */
    vault_exchange_set_taken(x, 0, 40);
    vault_exchange_set_engines(x, after);
    CU_ASSERT_EQUAL(vault_exchange_taken(x, 0), 40);
    CU_ASSERT_EQUAL(vault_exchange_taken(x, 1), 20);
    CU_ASSERT_EQUAL(end_of(x), end);
    end_exchange(&f, x);
}

/* ------------------------------------------------------------------ strangers */

static void strangers_are_told_apart(void)
{
    static vault_peers_t peers;
    char beat[VAULT_PEERS_BEAT_MAX];

    vault_peers_init(&peers);
    vault_peers_format(beat, "me", 7, &no_facts);
    CU_ASSERT_EQUAL(hear(&peers, beat, 1), VAULT_PEERS_KNOWN);
    vault_peers_format(beat, "other", 8, &no_facts); /* other engines */
    CU_ASSERT_EQUAL(hear(&peers, beat, 2), VAULT_PEERS_STRANGER);
    CU_ASSERT_EQUAL(hear(&peers, beat, 3), VAULT_PEERS_KNOWN); /* said once */
    vault_peers_format(beat, "other", 7, &no_facts);
    CU_ASSERT_EQUAL(hear(&peers, beat, 4), VAULT_PEERS_JOINED);
    CU_ASSERT_EQUAL(hear(&peers, "{\"version\": 2, \"server\": \"newer\", \"ring\": \"7\"}", 5), VAULT_PEERS_STRANGER);
    CU_ASSERT_EQUAL(hear(&peers, "", 6), VAULT_PEERS_KNOWN);
    CU_ASSERT_EQUAL(hear(&peers, "[1", 6), VAULT_PEERS_KNOWN);
    CU_ASSERT_EQUAL(hear(&peers, "{\"server\": 5}", 6), VAULT_PEERS_KNOWN);
    CU_ASSERT_EQUAL(peers.count, 2);
}

/* ----------------------------------------------------------------------- facts */

static void the_facts_of_a_server_are_kept(void)
{
    static vault_peers_t peers;
    static vault_peer_t copy[VAULT_PEERS_MAX];
    vault_facts_t facts = {.pages = 3, .engines_max = APR_INT64_MAX};
    char beat[VAULT_PEERS_BEAT_MAX], long_text[200];

    memset(long_text, '"', sizeof(long_text) - 1); /* each takes two bytes in the heartbeat */
    long_text[sizeof(long_text) - 1] = '\0';
    vault_facts_copy_text(facts.address, long_text);
    vault_facts_copy_text(facts.release, long_text);
    vault_facts_copy_text(facts.strategy, long_text);
    vault_peers_init(&peers);
    vault_peers_format(beat, "other", 7, &facts);
    CU_ASSERT_EQUAL(hear(&peers, beat, 100), VAULT_PEERS_JOINED);
    CU_ASSERT_EQUAL(hear(&peers, beat, 200), VAULT_PEERS_KNOWN);
    CU_ASSERT_EQUAL(vault_peers_copy(&peers, copy), 1);
    CU_ASSERT_EQUAL(copy->since, 100);
    CU_ASSERT_EQUAL(copy->heard, 200);
    CU_ASSERT_FALSE(memcmp(&copy->facts, &facts, sizeof(facts)));
}

/* Any client of the engine can send a heartbeat. */
static void hostile_facts_are_bounded(void)
{
    static vault_peers_t peers;
    static vault_peer_t copy[VAULT_PEERS_MAX];
    char beat[2 * VAULT_PEERS_BEAT_MAX];

    vault_peers_init(&peers);
    apr_snprintf(beat, sizeof(beat),
                 "{\"version\": 1, \"ring\": \"7\", \"server\": \"o\\u001b\", \"address\": \"\\n%0100d\", "
                 "\"release\": \"\xc3\xa9\", \"strategy\": [1], \"figures\": {\"Pages\": -1, \"Waiting\": \"x\"}}",
                 0);
    CU_ASSERT_EQUAL(hear(&peers, beat, 1), VAULT_PEERS_JOINED);
    CU_ASSERT_EQUAL(vault_peers_copy(&peers, copy), 1);
    CU_ASSERT_STRING_EQUAL(copy->name, "o?");
    CU_ASSERT_EQUAL(strlen(copy->facts.address), VAULT_FACTS_TEXT_MAX - 1);
    CU_ASSERT_EQUAL(copy->facts.address[0], '?');
    CU_ASSERT_STRING_EQUAL(copy->facts.release, "??");
    CU_ASSERT_STRING_EQUAL(copy->facts.strategy, "");
    CU_ASSERT_EQUAL(copy->facts.pages, 0);
    CU_ASSERT_EQUAL(copy->facts.waiting, 0);
    CU_ASSERT_EQUAL(hear(&peers, "{\"version\": 1, \"ring\": \"7\", \"server\": \"old\"}", 2), VAULT_PEERS_JOINED);
    apr_snprintf(beat, sizeof(beat), "{\"server\": \"big\", \"address\": \"%01024d\"}", 0);
    CU_ASSERT_EQUAL(hear(&peers, beat, 3), VAULT_PEERS_KNOWN);
    CU_ASSERT_EQUAL(vault_peers_count(&peers), 2);
}

static void no_more_servers_than_there_is_room_for(void)
{
    static vault_peers_t peers;
    char beat[VAULT_PEERS_BEAT_MAX], name[20];
    int i;

    vault_peers_init(&peers);
    for (i = 0; i <= VAULT_PEERS_MAX; i++) {
        apr_snprintf(name, sizeof(name), "server-%d", i);
        vault_peers_format(beat, name, 7, &no_facts);
        CU_ASSERT_EQUAL(hear(&peers, beat, 1), i < VAULT_PEERS_MAX ? VAULT_PEERS_JOINED : VAULT_PEERS_KNOWN);
    }
    CU_ASSERT_EQUAL(peers.count, VAULT_PEERS_MAX);
}

void vault_gateway_suite(void)
{
    CU_pSuite suite = CU_add_suite("gateway", NULL, NULL);

    CU_add_test(suite, "every byte comes back", every_byte_comes_back);
    CU_add_test(suite, "what is no subject is refused", what_is_no_subject_is_refused);
    CU_add_test(suite, "what belongs to one server does not cross", what_belongs_to_one_server_does_not_cross);
    CU_add_test(suite, "a lost engine moves only its share", a_lost_engine_moves_only_its_share);
    CU_add_test(suite, "the order of engines does not matter", the_order_of_engines_does_not_matter);
    CU_add_test(suite, "a silent server is dropped once", a_silent_server_is_dropped_once);
    CU_add_test(suite, "an engine keeps its position in another order", an_engine_keeps_its_position_in_another_order);
    CU_add_test(suite, "what a replaced engine has not taken is published by all",
                what_a_replaced_engine_has_not_taken_is_published_by_all);
    CU_add_test(suite, "strangers are told apart", strangers_are_told_apart);
    CU_add_test(suite, "the facts of a server are kept", the_facts_of_a_server_are_kept);
    CU_add_test(suite, "hostile facts are bounded", hostile_facts_are_bounded);
    CU_add_test(suite, "no more servers than there is room for", no_more_servers_than_there_is_room_for);
}
