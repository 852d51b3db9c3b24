/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the threads of the gateway, with a notification engine that does what the test needs. */
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "base/now.h"
#include "fixture.h"
#include "gateway/gateway.h"
#include "unit.h"

static struct fake_t {
    vault_exchange_t *exchange;
    const char *refused;   /* the URL of the engine that refuses */
    unsigned beats, opens; /* atomic; of the other engine, and of this one */
    int is_held_up;        /* atomic; open() waits until it is not */
    unsigned held_up;      /* atomic; how many calls have begun to wait */
    unsigned lost;         /* atomic; how often the log was told */
} fake;

static unsigned now_of(const unsigned *count)
{
    return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

static unsigned one_more(unsigned *count)
{
    return __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
}

/* --------------------------------------------------------------------- engine */

static apr_status_t fake_open(vault_engine_link_t **link, const vault_engine_options_t *options,
                              const vault_engine_events_t *events, void *baton, const char **why, apr_pool_t *pool)
{
    *link = (vault_engine_link_t *)&fake;
    if (__atomic_load_n(&fake.is_held_up, __ATOMIC_SEQ_CST)) {
        one_more(&fake.held_up);
    }
    while (__atomic_load_n(&fake.is_held_up, __ATOMIC_SEQ_CST)) {
        usleep(1000);
    }
    if (fake.refused && !strcmp(options->url, fake.refused)) {
        *why = one_more(&fake.opens) % 2 ? "one reason" : "another";
        return APR_EGENERAL;
    }
    return APR_SUCCESS;
}

static apr_status_t fake_subscribe(vault_engine_link_t *link, const char *subject, void **subscription)
{
    *subscription = link;
    return APR_SUCCESS;
}

static void fake_unsubscribe(vault_engine_link_t *link, void *subscription)
{
}

/* Each notify that is published causes the next one, so there is always more to do. */
static apr_status_t fake_publish(vault_engine_link_t *link, const char *subject, const void *data, apr_size_t size)
{
    if (!strcmp(subject, "vault.beat")) {
        one_more(&fake.beats);
    }
    else {
        vault_exchange_notified(fake.exchange, "flood");
    }
    return APR_SUCCESS;
}

static apr_status_t fake_flush(vault_engine_link_t *link, apr_interval_time_t most)
{
    return APR_SUCCESS;
}

static void fake_close(vault_engine_link_t *link)
{
}

static const vault_engine_t engine = {sizeof(vault_engine_t), fake_open,  fake_subscribe, fake_unsubscribe,
                                      fake_publish,           fake_flush, fake_close};

static void look(vault_facts_t *facts)
{
}

static void say(vault_gateway_event_t event, const char *name, const char *why)
{
    if (event == VAULT_GATEWAY_LOST) {
        one_more(&fake.lost);
    }
}

/* -------------------------------------------------------------------- gateway */

typedef struct scene_t {
    fixture_t f;
    unsigned slot;
    vault_gateway_options_t options;
    vault_gateway_t *gateway;
} scene_t;

static const vault_engine_options_t links[] = {{.url = "fake://a"}, {.url = "fake://b"}};
static const char *const names[] = {"a:1", "b:1"};

static void begin(scene_t *s, unsigned count)
{
    vault_limits_t limits = {vault_exchange_space() + 64 * 1024, 1, 1, 2, 0};
    vault_segment_t *segment = NULL;

    memset(s, 0, sizeof(*s));
    memset(&fake, 0, sizeof(fake));
    fixture_begin(&s->f, 10, 2, 0);
    CU_ASSERT_FATAL(vault_slot_claim(s->f.notifier, getpid(), &s->slot) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_segment_create(&segment, &limits, s->f.pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_exchange_create(&fake.exchange, segment, s->f.notifier, count, s->f.pool) == APR_SUCCESS);
    CU_ASSERT_TRUE(vault_exchange_claim(fake.exchange, s->slot));
    s->options = (vault_gateway_options_t){.exchange = fake.exchange,
                                           .notifier = s->f.notifier,
                                           .slot = s->slot,
                                           .engine = &engine,
                                           .links = links,
                                           .names = names,
                                           .count = count,
                                           .space = "vault",
                                           .strategy = vault_strategy_named("subscriptions"),
                                           .server = "me",
                                           .stops_within = apr_time_from_sec(60),
                                           .look = look,
                                           .say = say};
}

static void start(scene_t *s)
{
    CU_ASSERT_FATAL(vault_gateway_start(&s->gateway, &s->options, s->f.pool) == APR_SUCCESS);
}

static void end(scene_t *s)
{
    unsigned i;

    CU_ASSERT_EQUAL(vault_exchange_owner(fake.exchange), 0);
    for (i = 0; i < s->options.count; i++) {
        close(vault_journal_fd(vault_exchange_held(fake.exchange), i));
        close(vault_journal_fd(vault_exchange_outbox(fake.exchange), i));
    }
    fixture_end(&s->f);
}

/* Waits a minute at most. */
static int reaches(const unsigned *count, unsigned value)
{
    apr_time_t until = vault_now() + apr_time_from_sec(60);

    while (now_of(count) < value && vault_now() < until) {
        usleep(1000);
    }
    return now_of(count) >= value;
}

static void a_flood_stops_neither_heartbeats_nor_the_end(void)
{
    scene_t s;

    begin(&s, 1);
    vault_exchange_notified(fake.exchange, "flood");
    for (int i = 0; i < 5000; i++) { /* more than a batch */
        vault_exchange_notified(fake.exchange, "flood");
    }
    start(&s);
    CU_ASSERT_TRUE(reaches(&fake.beats, 2));
    CU_ASSERT_TRUE(vault_gateway_stop(s.gateway));
    end(&s);
}

static void each_reason_is_said_once(void)
{
    scene_t s;

    begin(&s, 1);
    fake.refused = links[0].url;
    start(&s);
    CU_ASSERT_TRUE(reaches(&fake.opens, 3));
    CU_ASSERT_TRUE(vault_gateway_stop(s.gateway));
    CU_ASSERT_EQUAL(now_of(&fake.lost), 2);
    end(&s);
}

static void an_engine_that_holds_a_thread_up_does_not_hold_up_the_child(void)
{
    scene_t s;

    begin(&s, 2);
    fake.is_held_up = 1;
    s.options.stops_within = apr_time_from_msec(20);
    start(&s);
    CU_ASSERT_TRUE(reaches(&fake.held_up, 2));
    vault_gateway_ask_stop(s.gateway);
    CU_ASSERT_FALSE(vault_gateway_stop(s.gateway));
    CU_ASSERT_EQUAL(vault_exchange_owner(fake.exchange), s.slot); /* no other gateway beside these threads */
    s.options.stops_within = apr_time_from_sec(60);
    __atomic_store_n(&fake.is_held_up, 0, __ATOMIC_SEQ_CST);
    CU_ASSERT_TRUE(vault_gateway_stop(s.gateway));
    end(&s);
}

void vault_gateway_link_suite(void)
{
    CU_pSuite suite = CU_add_suite("gateway_link", NULL, NULL);

    CU_add_test(suite, "a flood stops neither heartbeats nor the end", a_flood_stops_neither_heartbeats_nor_the_end);
    CU_add_test(suite, "each reason is said once", each_reason_is_said_once);
    CU_add_test(suite, "an engine that holds a thread up does not hold up the child",
                an_engine_that_holds_a_thread_up_does_not_hold_up_the_child);
}
