/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the strategy "filters" of a cluster: Bloom filters, and what servers tell each other about them. */
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "fixture.h"
#include "gateway/filter_peers.h"
#include "unit.h"

/* -------------------------------------------------------------------- filters */

#define NAMES 10000
#define PROBES 200000

static apr_uint64_t hash_of(const char *kind, int i)
{
    char name[40];

    apr_snprintf(name, sizeof(name), "%s-%d", kind, i);
    return vault_bloom_hash(name);
}

static vault_bloom_bits_t bits_of(const vault_bloom_t *b)
{
    vault_bloom_bits_t bits = {malloc(b->positions / 8), b->positions, b->hashes};

    vault_bloom_write(b, bits.bits);
    return bits;
}

static int count_found(const vault_bloom_t *b, const char *kind, int count)
{
    vault_bloom_bits_t bits = bits_of(b);
    int i, found = 0;

    for (i = 0; i < count; i++) {
        found += vault_bloom_has(&bits, hash_of(kind, i));
    }
    free(bits.bits);
    return found;
}

/* Theory: (1 - exp(-hashes * names / positions)) ^ hashes. */
static void a_full_filter_finds_two_percent_of_other_names(void)
{
    vault_bloom_t b = {0};
    int i, found;

    CU_ASSERT_EQUAL_FATAL(vault_bloom_make(&b, NAMES), APR_SUCCESS);
    for (i = 0; i < NAMES; i++) {
        vault_bloom_add(&b, hash_of("held", i));
    }
    CU_ASSERT_EQUAL(count_found(&b, "held", NAMES), NAMES);
    found = count_found(&b, "other", PROBES);
    CU_ASSERT_TRUE(found > PROBES / 1000 * 18 && found < PROBES / 1000 * 22); /* 2.0 %, with 12 standard deviations */
    CU_ASSERT_TRUE(b.positions < NAMES * 8.2);
    vault_bloom_free(&b);
}

static void removed_names_are_gone_and_the_others_remain(void)
{
    vault_bloom_t b = {0};
    int i;

    CU_ASSERT_EQUAL_FATAL(vault_bloom_make(&b, NAMES), APR_SUCCESS);
    for (i = 0; i < NAMES; i++) {
        vault_bloom_add(&b, hash_of("stays", i));
        vault_bloom_add(&b, hash_of("goes", i));
    }
    for (i = 0; i < NAMES; i++) {
        vault_bloom_remove(&b, hash_of("goes", i));
    }
    CU_ASSERT_EQUAL(count_found(&b, "stays", NAMES), NAMES);
    CU_ASSERT_TRUE(count_found(&b, "goes", NAMES) < NAMES / 1000 * 25);
    for (i = 0; i < NAMES; i++) {
        vault_bloom_remove(&b, hash_of("stays", i));
    }
    CU_ASSERT_EQUAL(count_found(&b, "stays", NAMES), 0);
    vault_bloom_free(&b);
}

static void a_count_that_is_full_stays(void)
{
    vault_bloom_t b = {0};
    int i;

    CU_ASSERT_EQUAL_FATAL(vault_bloom_make(&b, 1), APR_SUCCESS);
    for (i = 0; i < 1000; i++) {
        vault_bloom_add(&b, hash_of("often", 0));
    }
    for (i = 0; i < 999; i++) {
        vault_bloom_remove(&b, hash_of("often", 0));
    }
    CU_ASSERT_EQUAL(count_found(&b, "often", 1), 1); /* it is there once */
    CU_ASSERT_EQUAL_FATAL(vault_bloom_make(&b, APR_UINT32_MAX), APR_SUCCESS);
    CU_ASSERT_EQUAL(b.positions, VAULT_BLOOM_POSITIONS_MAX);
    vault_bloom_free(&b);
}

/* ------------------------------------------------------------------ two servers */

/* A server with the filter of what it holds. */
typedef struct side_t {
    vault_filter_peers_t peers;
    vault_bloom_t held;
    const char *server;
} side_t;

static void begin(side_t *s, const char *server, const char *link)
{
    vault_filter_peers_init(&s->peers);
    vault_filter_peers_begin(&s->peers, link);
    memset(&s->held, 0, sizeof(s->held));
    CU_ASSERT_EQUAL_FATAL(vault_bloom_make(&s->held, 100), APR_SUCCESS);
    s->server = server;
}

static void end(side_t *s)
{
    vault_filter_peers_free(&s->peers);
    vault_bloom_free(&s->held);
}

/* `from` reports to `to`, or to none: the report is lost. @return what follows */
static unsigned report(side_t *from, side_t *to, int has_filter, apr_time_t now)
{
    apr_size_t size;
    char *text = vault_filter_peers_report(&from->peers, from->server, has_filter ? &from->held : NULL, &size);
    unsigned follows = to ? vault_filter_peers_hear(&to->peers, text, size, to->server, now) : 0;

    CU_ASSERT_PTR_NOT_NULL_FATAL(text);
    free(text);
    return follows;
}

static int sends_to(side_t *s, const char *name, const char *link)
{
    vault_filter_link_t *links;
    unsigned i, found;
    int sends = 0;

    CU_ASSERT_EQUAL_FATAL(vault_filter_peers_find(&s->peers, vault_bloom_hash(name), &links, &found), APR_SUCCESS);
    for (i = 0; i < found; i++) {
        sends |= !strcmp(links[i], link);
    }
    free(links);
    return sends;
}

#define LINK_A "aaaaaaaaaaaaaaaa"
#define LINK_B "bbbbbbbbbbbbbbbb"
#define LINK_C "cccccccccccccccc"

static side_t a, b;

static void two_servers(void)
{
    begin(&a, "server-a", LINK_A);
    begin(&b, "server-b", LINK_B);
}

/* Both know each other's filter, and that the other one does. */
static void meet(apr_time_t now)
{
    report(&a, &b, 1, now);
    report(&b, &a, 1, now);
    report(&a, &b, 1, now);
    report(&b, &a, 0, now);
}

static void an_interest_is_known_when_the_other_server_says_so(void)
{
    two_servers();
    CU_ASSERT_EQUAL(vault_filter_peers_known(&a.peers), 0);
    CU_ASSERT_EQUAL(report(&a, &b, 1, 1), VAULT_FILTER_TELL | VAULT_FILTER_BITS);
    CU_ASSERT_EQUAL(vault_filter_peers_known(&a.peers), 1); /* it has heard of no other server */
    CU_ASSERT_EQUAL(report(&b, &a, 1, 1),
                    VAULT_FILTER_TELL | VAULT_FILTER_BITS | VAULT_FILTER_KNOWN | VAULT_FILTER_JOINED);
    CU_ASSERT_EQUAL(report(&a, &b, 0, 1), VAULT_FILTER_BITS | VAULT_FILTER_KNOWN | VAULT_FILTER_JOINED);
    CU_ASSERT_FALSE(sends_to(&b, "news", LINK_A));

    vault_bloom_add(&a.held, vault_bloom_hash("news"));
    CU_ASSERT_EQUAL(report(&a, &b, 1, 2), VAULT_FILTER_TELL);
    CU_ASSERT_TRUE(sends_to(&b, "news", LINK_A));
    CU_ASSERT_FALSE(sends_to(&b, "other", LINK_A));
    CU_ASSERT_FALSE(sends_to(&a, "news", LINK_B));
    CU_ASSERT_EQUAL(vault_filter_peers_known(&a.peers), 1);
    CU_ASSERT_EQUAL(report(&b, &a, 0, 2), VAULT_FILTER_KNOWN);
    CU_ASSERT_EQUAL(vault_filter_peers_known(&a.peers), 2);
    CU_ASSERT_EQUAL(report(&b, &a, 0, 2), 0);
    end(&a);
    end(&b);
}

static void lost_reports_are_made_good(void)
{
    two_servers();
    meet(1);
    vault_bloom_add(&a.held, vault_bloom_hash("news"));
    report(&a, NULL, 1, 2); /* the filter */
    report(&b, &a, 0, 2);
    CU_ASSERT_TRUE(vault_filter_peers_known(&a.peers) < a.peers.version);
    CU_ASSERT_EQUAL(report(&a, &b, 1, 3), VAULT_FILTER_TELL);
    report(&b, NULL, 0, 3); /* what it knows */
    CU_ASSERT_TRUE(vault_filter_peers_known(&a.peers) < a.peers.version);
    CU_ASSERT_EQUAL(report(&b, &a, 0, 4), VAULT_FILTER_KNOWN);
    CU_ASSERT_EQUAL(vault_filter_peers_known(&a.peers), a.peers.version);
    end(&a);
    end(&b);
}

static void a_server_that_was_forgotten_joins_again(void)
{
    two_servers();
    meet(1);
    vault_bloom_add(&a.held, vault_bloom_hash("news"));
    report(&a, &b, 1, 2);
    report(&b, &a, 0, 2);
    CU_ASSERT_TRUE(sends_to(&b, "news", LINK_A));

    /* b has not heard a for a while, and forgets its filter: what it notifies now is missed. */
    CU_ASSERT_EQUAL(vault_filter_peers_forget(&b.peers, 3), 1);
    CU_ASSERT_FALSE(sends_to(&b, "news", LINK_A));
    CU_ASSERT_EQUAL(report(&b, &a, 0, 4), VAULT_FILTER_BITS);
    CU_ASSERT_EQUAL(vault_filter_peers_known(&a.peers), 0);
    CU_ASSERT_EQUAL(report(&a, &b, 0, 4) & VAULT_FILTER_TELL, VAULT_FILTER_TELL);
    CU_ASSERT_FALSE(sends_to(&b, "news", LINK_A));
    CU_ASSERT_EQUAL(report(&b, &a, 0, 4), VAULT_FILTER_BITS); /* it knows a, but not its filter */
    CU_ASSERT_EQUAL(report(&a, &b, 1, 4), VAULT_FILTER_TELL);
    CU_ASSERT_TRUE(sends_to(&b, "news", LINK_A));
    CU_ASSERT_EQUAL(report(&b, &a, 0, 4), VAULT_FILTER_KNOWN | VAULT_FILTER_JOINED);
    end(&a);
    end(&b);
}

/* a has settled an interest without b, which was silent. b goes on with the filter that it had. */
static void a_server_that_was_frozen_joins_again(void)
{
    two_servers();
    meet(1);
    CU_ASSERT_EQUAL(vault_filter_peers_forget(&a.peers, 3), 1);
    vault_bloom_add(&a.held, vault_bloom_hash("news"));
    report(&a, NULL, 1, 4);
    CU_ASSERT_EQUAL(vault_filter_peers_known(&a.peers), a.peers.version); /* settled */
    CU_ASSERT_FALSE(sends_to(&b, "news", LINK_A));                        /* so this is missed */
    CU_ASSERT_EQUAL(report(&b, &a, 0, 5) & (VAULT_FILTER_BITS | VAULT_FILTER_JOINED), VAULT_FILTER_BITS);
    report(&a, &b, 1, 5);
    CU_ASSERT_EQUAL(report(&b, &a, 0, 5) & VAULT_FILTER_JOINED, VAULT_FILTER_JOINED);
    end(&a);
    end(&b);
}

static void the_next_link_of_a_server_takes_the_place_of_its_last(void)
{
    two_servers();
    vault_bloom_add(&a.held, vault_bloom_hash("news"));
    meet(1);
    vault_filter_peers_begin(&a.peers, LINK_C);
    report(&a, &b, 1, 2);
    CU_ASSERT_EQUAL(b.peers.count, 1);
    CU_ASSERT_FALSE(sends_to(&b, "news", LINK_A));
    CU_ASSERT_TRUE(sends_to(&b, "news", LINK_C));
    CU_ASSERT_EQUAL(report(&b, &a, 0, 2) & VAULT_FILTER_JOINED, VAULT_FILTER_JOINED);
    CU_ASSERT_EQUAL(report(&a, &a, 0, 2), 0); /* its own */
    end(&a);
    end(&b);
}

/* --------------------------------------------------------------------- reports */

static void what_is_no_report_is_ignored(void)
{
#define HEAD "{\"link\":\"" LINK_C "\",\"server\":\"c\",\"version\":1"
    static const struct {
        const char *text;
        apr_size_t bits;
    } rows[] = {
        {"", 0},
        {"{", 0},
        {"[]", 0},
        {"{\"link\":\"" LINK_C "\"}", 0},
        {"{\"link\":\"a.b\",\"server\":\"c\"}", 0},
        {"{\"link\":\"..............>\",\"server\":\"c\"}", 0},
        {"{\"link\":\"" LINK_C "\",\"server\":\"0123456789012345678901234567890123456789\"}", 0},
        {HEAD ",\"positions\":80,\"hashes\":6}", 9},
        {HEAD ",\"positions\":80,\"hashes\":6}", 11},
        {HEAD ",\"positions\":84,\"hashes\":6}", 10},
        {HEAD ",\"positions\":80,\"hashes\":0}", 10},
        {HEAD ",\"positions\":80,\"hashes\":33}", 10},
        {HEAD ",\"positions\":0,\"hashes\":6}", 10},
        {HEAD ",\"positions\":-8,\"hashes\":6}", 10},
        {HEAD ",\"positions\":4294967376,\"hashes\":6}", 10},
    };
    char report[200];
    unsigned i;

    two_servers();
    for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        apr_size_t size = strlen(rows[i].text) + 1 + rows[i].bits;
        memset(report, 0, sizeof(report));
        strcpy(report, rows[i].text);
        CHECK_ROW(!vault_filter_peers_hear(&a.peers, report, size, "server-a", 1), rows[i].text);
    }
    CU_ASSERT_EQUAL(vault_filter_peers_hear(&a.peers, HEAD "}", strlen(HEAD "}"), "server-a", 1), 0); /* no NUL */
    CU_ASSERT_EQUAL(a.peers.count, 0);
    strcpy(report, HEAD ",\"positions\":80,\"hashes\":6}");
    CU_ASSERT_NOT_EQUAL(vault_filter_peers_hear(&a.peers, report, strlen(report) + 1 + 10, "server-a", 1), 0);
    CU_ASSERT_EQUAL(a.peers.count, 1);
    end(&a);
    end(&b);
}

#define MANY VAULT_PEERS_MAX

/* Each has a filter whose bits are all set. */
static void a_client_of_the_engine_cannot_invent_servers_without_limit(void)
{
    char text[200];
    vault_filter_link_t *links;
    unsigned i, found;

    two_servers();
    for (i = 0; i <= MANY; i++) {
        apr_size_t size = (apr_size_t)apr_snprintf(
            text, sizeof(text), "{\"link\":\"%016x\",\"server\":\"s%u\",\"version\":1,\"positions\":80,\"hashes\":6}",
            i, i);
        memset(text + size + 1, 0xff, 10);
        CU_ASSERT_EQUAL(vault_filter_peers_hear(&a.peers, text, size + 1 + 10, "server-a", 1) != 0, i < MANY);
    }
    CU_ASSERT_EQUAL_FATAL(vault_filter_peers_find(&a.peers, vault_bloom_hash("news"), &links, &found), APR_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(found, MANY);
    for (i = 0; i < MANY; i++) {
        apr_snprintf(text, sizeof(text), "%016x", i);
        CU_ASSERT_STRING_EQUAL(links[i], text);
    }
    free(links);
    CU_ASSERT_EQUAL(vault_filter_peers_forget(&a.peers, 2), MANY);
    end(&a);
    end(&b);
}

void vault_filters_suite(void)
{
    CU_pSuite suite = CU_add_suite("filters", NULL, NULL);

    CU_add_test(suite, "a full filter finds two percent of other names",
                a_full_filter_finds_two_percent_of_other_names);
    CU_add_test(suite, "removed names are gone and the others remain", removed_names_are_gone_and_the_others_remain);
    CU_add_test(suite, "a count that is full stays", a_count_that_is_full_stays);
    CU_add_test(suite, "an interest is known when the other server says so",
                an_interest_is_known_when_the_other_server_says_so);
    CU_add_test(suite, "lost reports are made good", lost_reports_are_made_good);
    CU_add_test(suite, "a server that was forgotten joins again", a_server_that_was_forgotten_joins_again);
    CU_add_test(suite, "a server that was frozen joins again", a_server_that_was_frozen_joins_again);
    CU_add_test(suite, "the next link of a server takes the place of its last",
                the_next_link_of_a_server_takes_the_place_of_its_last);
    CU_add_test(suite, "what is no report is ignored", what_is_no_report_is_ignored);
    CU_add_test(suite, "a client of the engine cannot invent servers without limit",
                a_client_of_the_engine_cannot_invent_servers_without_limit);
}
