/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of streams on pages: answers are sent one after the other, and any of them may be the last one that
 * arrives. */
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "page/interest_set.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (1024 * 1024)
#define UNTIL (NOW + apr_time_from_sec(30))

typedef struct stream_t {
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t ticket;
} stream_t;

static apr_status_t take_page(stream_t *s, apr_uint64_t seq, vault_ticket_t *ticket)
{
    vault_take_t take = {seq, {0, 0}, {0}, NOW, UNTIL};

    return vault_page_take(s->pages, &s->page, &take, ticket);
}

static apr_status_t acknowledge(stream_t *s, apr_uint64_t seq)
{
    vault_take_t take = {seq, {0, 0}, {0}, NOW, NOW};

    return page_acknowledge(s->pages, &s->page, &take);
}

static void stream_from(stream_t *s, apr_uint64_t seq)
{
    CU_ASSERT_EQUAL_FATAL(take_page(s, seq, &s->ticket), APR_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(vault_page_stream(s->pages, &s->ticket), APR_SUCCESS);
}

static void stream_begin(stream_t *s)
{
    pages_begin(&s->f, &s->pages, 3, HEAP);
    s->page = page_publish(s->pages, s->f.pool);
    stream_from(s, 0);
}

static void stream_end(stream_t *s)
{
    pages_end(&s->f, s->pages, &s->page);
}

/* Sends answer `number`, whose mark is its number. */
static void send_answer(stream_t *s, apr_uint64_t number, const char *ack)
{
    vault_state_t *state = page_state(s->f.pool, apr_psprintf(s->f.pool, "%d", (int)number), 0, 0);

    if (ack) {
        vault_ack_t *a = apr_array_push(state->acks);
        a->feed = "feed";
        a->data = ack;
    }
    CU_ASSERT_EQUAL(page_base(s->pages, &s->ticket, s->f.pool)->seq, number - 1);
    CU_ASSERT_EQUAL(vault_page_stage(s->pages, &s->ticket, state), APR_SUCCESS);
    CU_ASSERT_EQUAL(state->seq, number);
}

static void send_up_to(stream_t *s, apr_uint64_t number)
{
    apr_uint64_t i;

    for (i = 1; i <= number; i++) {
        send_answer(s, i, NULL);
    }
}

static int is_full(stream_t *s)
{
    page_base(s->pages, &s->ticket, s->f.pool);
    return s->ticket.full;
}

static void any_answer_of_a_chain_may_be_acknowledged(void)
{
    apr_uint64_t sent, arrived, later;
    stream_t s;

    for (sent = 1; sent <= VAULT_PAGE_STAGED; sent++) {
        for (arrived = 0; arrived <= sent; arrived++) {
            stream_begin(&s);
            send_up_to(&s, sent);
            CU_ASSERT_EQUAL(acknowledge(&s, arrived), APR_SUCCESS);
            CU_ASSERT(!vault_page_superseded(s.pages, &s.ticket));
            CU_ASSERT_EQUAL(page_base(s.pages, &s.ticket, s.f.pool)->seq, sent);
            CU_ASSERT_EQUAL(s.ticket.committed, arrived);
            CU_ASSERT_EQUAL(acknowledge(&s, sent + 1), APR_EMISMATCH);
            for (later = 0; later < arrived; later++) {
                CU_ASSERT_EQUAL(acknowledge(&s, later), APR_EMISMATCH);
            }
            for (later = arrived; later <= sent; later++) {
                CU_ASSERT_EQUAL(acknowledge(&s, later), APR_SUCCESS);
            }
            CHECK_PAGES(&s.f, s.pages);
            stream_end(&s);
        }
    }
}

static void a_new_stream_goes_on_from_what_arrived(void)
{
    apr_uint64_t arrived;
    stream_t s;

    for (arrived = 0; arrived <= 5; arrived++) {
        stream_begin(&s);
        send_up_to(&s, 5);
        stream_from(&s, arrived);
        CU_ASSERT_EQUAL(page_base(s.pages, &s.ticket, s.f.pool)->seq, arrived);
        CU_ASSERT_STRING_EQUAL(page_mark(s.pages, &s.ticket, s.f.pool),
                               arrived ? apr_psprintf(s.f.pool, "%d", (int)arrived) : "");
        CU_ASSERT_EQUAL(s.ticket.redelivers, arrived < 5);
        stream_end(&s);
    }
}

static void a_full_chain_waits_for_an_acknowledgement(void)
{
    vault_state_t *more;
    apr_uint64_t stamp;
    stream_t s;

    stream_begin(&s);
    send_up_to(&s, VAULT_PAGE_STAGED - 1);
    CU_ASSERT(!is_full(&s));
    send_answer(&s, VAULT_PAGE_STAGED, NULL);
    CU_ASSERT(is_full(&s));
    more = page_state(s.f.pool, "more", 0, 0);
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, more), APR_EAGAIN);
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, more), APR_SUCCESS); /* takes no new place */
    stamp = vault_interest_stamp(s.f.notifier, s.ticket.interest);
    CU_ASSERT_EQUAL(acknowledge(&s, 3), APR_SUCCESS);
    CU_ASSERT(vault_interest_stamp(s.f.notifier, s.ticket.interest) > stamp); /* who waits is woken */
    CU_ASSERT(!is_full(&s));
    stamp = vault_interest_stamp(s.f.notifier, s.ticket.interest);
    CU_ASSERT_EQUAL(acknowledge(&s, 4), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_interest_stamp(s.f.notifier, s.ticket.interest), stamp); /* no poll waits for that */
    stream_end(&s);
}

/* The client of an HTML stream sends no acknowledgements: the oldest answer is dropped for a new one, and any
 * other may be the last one that arrived. */
static void what_was_written_may_count_as_arrived(void)
{
    apr_uint64_t n;
    stream_t s;

    stream_begin(&s);
    vault_page_assume(s.pages, &s.ticket, 0); /* there is none */
    for (n = 1; n <= 3 * VAULT_PAGE_STAGED; n++) {
        if (is_full(&s)) {
            vault_page_assume(s.pages, &s.ticket, 0);
            CU_ASSERT_EQUAL(page_base(s.pages, &s.ticket, s.f.pool)->seq, n - 1);
            CU_ASSERT_EQUAL(s.ticket.committed, n - VAULT_PAGE_STAGED);
        }
        send_answer(&s, n, NULL);
        CHECK_PAGES(&s.f, s.pages);
    }
    n = 3 * VAULT_PAGE_STAGED;
    CU_ASSERT_EQUAL(acknowledge(&s, n - VAULT_PAGE_STAGED - 1), APR_EMISMATCH);
    CU_ASSERT_EQUAL(acknowledge(&s, n - VAULT_PAGE_STAGED), APR_SUCCESS);
    CU_ASSERT_EQUAL(acknowledge(&s, n - 2), APR_SUCCESS);
    vault_page_assume(s.pages, &s.ticket, 1);
    CU_ASSERT_EQUAL(page_base(s.pages, &s.ticket, s.f.pool)->seq, n);
    CU_ASSERT_EQUAL(s.ticket.committed, n);
    CU_ASSERT_EQUAL(acknowledge(&s, n - 1), APR_EMISMATCH);
    vault_page_assume(s.pages, &s.ticket, 1);
    stream_end(&s);
}

static void who_is_overtaken_assumes_nothing(void)
{
    vault_ticket_t old;
    stream_t s;

    stream_begin(&s);
    send_up_to(&s, 2);
    old = s.ticket;
    stream_from(&s, 1);
    vault_page_assume(s.pages, &old, 1);
    CU_ASSERT_EQUAL(page_base(s.pages, &s.ticket, s.f.pool)->seq, 1);
    CU_ASSERT_EQUAL(s.ticket.committed, 1);
    vault_page_assume(s.pages, &s.ticket, 1); /* answer 2 was the other's */
    CU_ASSERT_EQUAL(page_base(s.pages, &s.ticket, s.f.pool)->seq, 1);
    stream_end(&s);
}

/* A client without a number shows what the previous stream has written. After a poll it shows what the poll has
 * acknowledged. */
static void a_client_without_a_number_goes_on_from_the_last_answer(void)
{
    stream_t s;

    stream_begin(&s);
    stream_from(&s, VAULT_PAGE_LATEST);
    CU_ASSERT_EQUAL(s.ticket.committed, 0);
    send_up_to(&s, 3);
    stream_from(&s, VAULT_PAGE_LATEST);
    CU_ASSERT_EQUAL(s.ticket.committed, 3);
    CU_ASSERT_STRING_EQUAL(page_mark(s.pages, &s.ticket, s.f.pool), "3");
    CU_ASSERT(!s.ticket.redelivers);
    CU_ASSERT_EQUAL(take_page(&s, 3, &s.ticket), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, page_state(s.f.pool, "poll", 0, 0)), APR_SUCCESS);
    stream_from(&s, VAULT_PAGE_LATEST);
    CU_ASSERT_EQUAL(s.ticket.committed, 3);
    stream_end(&s);
}

/* Lost streams leave answers that no client will acknowledge; they are removed when there is no room. */
static void answers_of_lost_streams_make_room(void)
{
    vault_state_t *state;
    stream_t s;
    int i;

    stream_begin(&s);
    send_up_to(&s, VAULT_PAGE_STAGED);
    stream_from(&s, 0);
    for (i = 1; i <= VAULT_PAGE_STAGED; i++) {
        CU_ASSERT(!is_full(&s));
        state = page_state(s.f.pool, "again", 0, 0);
        CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, state), APR_SUCCESS);
        CU_ASSERT_EQUAL(state->seq, VAULT_PAGE_STAGED + i);
        CHECK_PAGES(&s.f, s.pages);
    }
    CU_ASSERT(is_full(&s));
    CU_ASSERT_EQUAL(acknowledge(&s, VAULT_PAGE_STAGED), APR_EMISMATCH);
    CU_ASSERT_EQUAL(acknowledge(&s, VAULT_PAGE_STAGED + 5), APR_SUCCESS);
    CU_ASSERT(!vault_page_superseded(s.pages, &s.ticket));
    stream_end(&s);
}

/* A stream does not continue from an answer of an earlier poll. */
static void a_late_answer_of_an_earlier_poll_ends_the_stream(void)
{
    vault_ticket_t poll;
    stream_t s;

    stream_begin(&s);
    CU_ASSERT_EQUAL(take_page(&s, 0, &poll), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &poll, page_state(s.f.pool, "late", 0, 0)), APR_SUCCESS);
    stream_from(&s, 0);
    CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, page_state(s.f.pool, "stream", 0, 0)), APR_SUCCESS);
    CU_ASSERT_EQUAL(acknowledge(&s, 1), APR_SUCCESS);
    CU_ASSERT(vault_page_superseded(s.pages, &s.ticket));
    CU_ASSERT_EQUAL(take_page(&s, 2, &poll), APR_EMISMATCH);
    CU_ASSERT_EQUAL(take_page(&s, 1, &poll), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(page_mark(s.pages, &poll, s.f.pool), "late");
    stream_end(&s);
}

static void a_round_without_output_keeps_the_tips_number(void)
{
    vault_state_t *quiet;
    stream_t s;

    stream_begin(&s);
    send_up_to(&s, 2);
    quiet = page_state(s.f.pool, "quiet", 0, 0);
    CU_ASSERT_EQUAL(vault_page_commit(s.pages, &s.ticket, quiet), APR_SUCCESS);
    CU_ASSERT_EQUAL(quiet->seq, 2);
    CU_ASSERT_STRING_EQUAL(page_mark(s.pages, &s.ticket, s.f.pool), "quiet");
    CU_ASSERT_EQUAL(s.ticket.committed, 0); /* the browser is not known to have it */
    CU_ASSERT_EQUAL(acknowledge(&s, 1), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(page_mark(s.pages, &s.ticket, s.f.pool), "quiet");
    CU_ASSERT_EQUAL(acknowledge(&s, 2), APR_SUCCESS);
    CU_ASSERT_EQUAL(s.ticket.page.index, s.page.index);
    send_answer(&s, 3, NULL);
    stream_end(&s);
}

static const vault_ack_t *only_ack(const vault_state_t *state)
{
    CU_ASSERT_EQUAL_FATAL(state->acks->nelts, 1);
    return (const vault_ack_t *)state->acks->elts;
}

/* The stream reports the acknowledgements of the committed state, not those of its head. */
static void a_stream_is_woken_to_tell_acks(void)
{
    vault_state_t *base;
    apr_uint64_t stamp;
    stream_t s;

    stream_begin(&s);
    send_answer(&s, 1, "one");
    send_answer(&s, 2, "two");
    page_base(s.pages, &s.ticket, s.f.pool);
    CU_ASSERT(!s.ticket.owes);
    stamp = vault_interest_stamp(s.f.notifier, s.ticket.interest);
    CU_ASSERT_EQUAL(acknowledge(&s, 1), APR_SUCCESS);
    CU_ASSERT(vault_interest_stamp(s.f.notifier, s.ticket.interest) > stamp);
    CU_ASSERT_EQUAL(page_base(s.pages, &s.ticket, s.f.pool)->seq, 2);
    CU_ASSERT(s.ticket.owes);
    CU_ASSERT_EQUAL(vault_page_committed(s.pages, &s.ticket, &base, s.f.pool), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(only_ack(base)->data, "one");
    CU_ASSERT_EQUAL(acknowledge(&s, 2), APR_SUCCESS);
    vault_page_acks_reported(s.pages, &s.ticket); /* of 1: those of 2 have not been told */
    page_base(s.pages, &s.ticket, s.f.pool);
    CU_ASSERT(s.ticket.owes);
    CU_ASSERT_EQUAL(vault_page_committed(s.pages, &s.ticket, &base, s.f.pool), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(only_ack(base)->data, "two");
    vault_page_acks_reported(s.pages, &s.ticket);
    page_base(s.pages, &s.ticket, s.f.pool);
    CU_ASSERT(!s.ticket.owes);
    stream_end(&s);
}

/* A browser that has the second answer has the first. */
static void a_round_from_a_tip_carries_its_acks(void)
{
    vault_state_t *head, *next;
    vault_page_txn_t *txn;
    stream_t s;

    stream_begin(&s);
    send_answer(&s, 1, "one");
    head = page_base(s.pages, &s.ticket, s.f.pool);
    txn = vault_page_txn_create(s.pages, &s.page, head, s.f.pool);
    vault_page_txn_carry_acks(txn);
    vault_page_txn_begin(txn, "/m");
    CU_ASSERT_EQUAL(vault_page_txn_on_ack(txn, "feed", "two"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_txn_on_ack(txn, "feed", "one"), APR_SUCCESS);
    CU_ASSERT(vault_page_txn_end(txn, 1));
    next = vault_page_txn_state(txn);
    CU_ASSERT_EQUAL_FATAL(next->acks->nelts, 2);
    CU_ASSERT_EQUAL(head->acks->nelts, 1);
    stream_end(&s);
}

/* A write from outside reaches the answers that are not acknowledged yet. */
static void a_write_reaches_the_whole_chain(void)
{
    apr_array_header_t *properties;
    vault_property_t *set;
    vault_write_t write = {0};
    apr_uint64_t seq;
    vault_ticket_t poll;
    stream_t s;

    stream_begin(&s);
    send_up_to(&s, VAULT_PAGE_STAGED);
    properties = apr_array_make(s.f.pool, 1, sizeof(vault_property_t));
    set = apr_array_push(properties);
    set->key = "filter";
    set->value = "on";
    write.properties = properties;
    CU_ASSERT_EQUAL(vault_page_write(s.pages, &s.page, NULL, &write, s.f.pool), APR_SUCCESS);
    CU_ASSERT(vault_page_rewritten(s.pages, &s.ticket));
    for (seq = 0; seq <= VAULT_PAGE_STAGED; seq++) {
        vault_state_t *state;
        CU_ASSERT_EQUAL(acknowledge(&s, seq), APR_SUCCESS);
        CU_ASSERT(!vault_page_superseded(s.pages, &s.ticket));
        CU_ASSERT_EQUAL(vault_page_committed(s.pages, &s.ticket, &state, s.f.pool), APR_SUCCESS);
        CU_ASSERT_EQUAL(state->seq, seq);
        CU_ASSERT_STRING_EQUAL(vault_state_property(state, "filter")->value, "on");
    }
    CU_ASSERT_EQUAL(take_page(&s, VAULT_PAGE_STAGED, &poll), APR_SUCCESS);
    stream_end(&s);
}

/* No stream is there to report it, so the request that acknowledges does. */
static void when_the_stream_has_gone_the_acknowledgement_has_the_ticket(void)
{
    vault_take_t take = {1, {0, 0}, {0}, NOW, NOW};
    vault_ticket_t aside;
    vault_state_t *base;
    stream_t s;

    stream_begin(&s);
    send_answer(&s, 1, "one");
    send_answer(&s, 2, "two");
    vault_page_leave(s.pages, &s.ticket, NOW - 1);
    CU_ASSERT_EQUAL(vault_page_acknowledge(s.pages, &s.page, &take, &aside), APR_SUCCESS);
    CU_ASSERT(vault_page_superseded(s.pages, &s.ticket));
    CU_ASSERT_EQUAL(vault_page_read_base(s.pages, &aside, &base, s.f.pool), APR_SUCCESS);
    CU_ASSERT_EQUAL(base->seq, 1);
    CU_ASSERT(aside.owes);
    vault_page_acks_reported(s.pages, &aside);
    CU_ASSERT_EQUAL(take_page(&s, 2, &aside), APR_SUCCESS); /* it may have arrived as well */
    stream_end(&s);
}

/* A notify of "news" still moves what was held by that name. */
static void check_held(stream_t *s, vault_interest_t interest, apr_uint64_t stamp)
{
    CHECK_PAGES(&s->f, s->pages);
    CU_ASSERT_EQUAL(vault_notifier_notify(s->f.notifier, "news", 0), APR_SUCCESS);
    CU_ASSERT(vault_interest_stamp(s->f.notifier, interest) > stamp);
}

/* A page holds an interest before any stored state depends on it. */
static void an_acknowledgement_leaves_a_running_round_what_it_holds(void)
{
    apr_uint64_t number;
    stream_t s;

    for (number = 1; number <= 2; number++) {
        vault_interest_t interest;
        apr_uint64_t stamp;
        stream_begin(&s);
        send_up_to(&s, 2);
        CU_ASSERT_EQUAL(vault_page_hold(s.pages, &s.page, "news", &interest, &stamp), APR_SUCCESS);
        CU_ASSERT_EQUAL(acknowledge(&s, number), APR_SUCCESS);
        CU_ASSERT_EQUAL(vault_page_stage(s.pages, &s.ticket, page_state(s.f.pool, "3", interest, stamp)), APR_SUCCESS);
        check_held(&s, interest, stamp);
        stream_end(&s);
    }
}

/* A page holds the interests of the view that is being rendered, although no stored state depends on them
 * before it is published. */
static void a_page_that_is_being_rendered_keeps_what_it_holds_from_streams(void)
{
    vault_interest_t interest;
    apr_uint64_t stamp;
    stream_t s;

    pages_begin(&s.f, &s.pages, 3, HEAP);
    CU_ASSERT_EQUAL_FATAL(vault_page_create(s.pages, &s.page, NULL, NOW, IDLE), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_page_hold(s.pages, &s.page, "news", &interest, &stamp), APR_SUCCESS);
    stream_from(&s, 0);
    stream_from(&s, 0);
    CU_ASSERT_EQUAL(vault_page_publish(s.pages, &s.page, page_state(s.f.pool, "", interest, stamp)), APR_SUCCESS);
    check_held(&s, interest, stamp);
    stream_end(&s);
}

/* An interest that no state names is not held for ever. */
static void what_no_state_names_is_let_go_after_the_round(void)
{
    vault_interest_t interest;
    apr_uint64_t stamp;
    stream_t s;

    stream_begin(&s);
    send_up_to(&s, 2);
    CU_ASSERT_EQUAL(vault_page_hold(s.pages, &s.page, "news", &interest, &stamp), APR_SUCCESS);
    CU_ASSERT_EQUAL(acknowledge(&s, 1), APR_SUCCESS);
    send_answer(&s, 3, NULL);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "news", 0), APR_NOTFOUND);
    stream_end(&s);
}

/* Reads and arms as a poll does. @param between  the acknowledgement comes before the arming */
static int hears_acknowledgement(int between, int *rung)
{
    vault_interest_set_t interests = {0};
    unsigned count, slot;
    int told;
    stream_t s;

    stream_begin(&s);
    CU_ASSERT_EQUAL_FATAL(vault_slot_claim(s.f.notifier, getpid(), &slot), APR_SUCCESS);
    send_up_to(&s, VAULT_PAGE_STAGED);
    CU_ASSERT(is_full(&s));
    vault_interest_set_clear(&interests, vault_interest_set_max(NULL), s.f.pool);
    vault_interest_set_add(&interests, s.ticket.interest, NULL, NOW);
    if (between) {
        CU_ASSERT_EQUAL(acknowledge(&s, 1), APR_SUCCESS);
    }
    vault_interest_set_arm(&interests, s.f.notifier, slot, s.f.pool);
    told = vault_interest_set_has_moved(&interests, s.ticket.interest, s.ticket.heard);
    if (!between) {
        CU_ASSERT_EQUAL(acknowledge(&s, 1), APR_SUCCESS);
    }
    *rung = fixture_is_rung(&s.f, slot);
    CU_ASSERT(!is_full(&s));
    vault_interest_set_arm(&interests, s.f.notifier, slot, s.f.pool);
    CU_ASSERT(!vault_interest_set_has_moved(&interests, s.ticket.interest, s.ticket.heard)); /* the next look has it */
    CU_ASSERT_EQUAL(
        vault_slot_drain(s.f.notifier, slot, (vault_interest_t[VAULT_SLOT_QUEUE]){0}, VAULT_SLOT_QUEUE, &count), 0);
    vault_slot_leave(s.f.notifier, slot);
    CU_ASSERT_EQUAL(vault_slot_exited(s.f.notifier, getpid(), &slot), 0);
    stream_end(&s);
    return told;
}

/* That notify wakes no poll, so the comparison must show it: otherwise a full stream would wait until its next
 * keep-alive. */
static void an_acknowledgement_between_look_and_arming_is_heard(void)
{
    int rung;

    CU_ASSERT(hears_acknowledgement(1, &rung));
    CU_ASSERT(!rung);
    CU_ASSERT(!hears_acknowledgement(0, &rung));
    CU_ASSERT(rung);
}

void vault_page_chain_suite(void)
{
    CU_pSuite suite = CU_add_suite("page_chain", NULL, NULL);

    CU_ADD_TEST(suite, any_answer_of_a_chain_may_be_acknowledged);
    CU_ADD_TEST(suite, a_new_stream_goes_on_from_what_arrived);
    CU_ADD_TEST(suite, a_full_chain_waits_for_an_acknowledgement);
    CU_ADD_TEST(suite, an_acknowledgement_leaves_a_running_round_what_it_holds);
    CU_ADD_TEST(suite, a_page_that_is_being_rendered_keeps_what_it_holds_from_streams);
    CU_ADD_TEST(suite, what_no_state_names_is_let_go_after_the_round);
    CU_ADD_TEST(suite, an_acknowledgement_between_look_and_arming_is_heard);
    CU_ADD_TEST(suite, what_was_written_may_count_as_arrived);
    CU_ADD_TEST(suite, who_is_overtaken_assumes_nothing);
    CU_ADD_TEST(suite, a_client_without_a_number_goes_on_from_the_last_answer);
    CU_ADD_TEST(suite, answers_of_lost_streams_make_room);
    CU_ADD_TEST(suite, a_late_answer_of_an_earlier_poll_ends_the_stream);
    CU_ADD_TEST(suite, a_round_without_output_keeps_the_tips_number);
    CU_ADD_TEST(suite, a_stream_is_woken_to_tell_acks);
    CU_ADD_TEST(suite, a_round_from_a_tip_carries_its_acks);
    CU_ADD_TEST(suite, a_write_reaches_the_whole_chain);
    CU_ADD_TEST(suite, when_the_stream_has_gone_the_acknowledgement_has_the_ticket);
}
