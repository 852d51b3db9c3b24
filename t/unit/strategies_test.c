/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what the strategies of a cluster are made of. */
#include <string.h>

#include "apr_strings.h"

#include "fixture.h"
#include "gateway/senders.h"
#include "unit.h"

/* -------------------------------------------------------------------- senders */

static void a_gap_in_the_messages_of_a_sender_is_found(void)
{
    static vault_senders_t s;
    static const struct {
        const char *name;
        apr_uint64_t number;
        int is_numbered, has_gap;
        const char *why;
    } rows[] = {
        {"a", 0, 0, 1, "a new sender: its link before may have sent something"},
        {"a", 1, 1, 0, "its first message"},
        {"a", 2, 1, 0, "the next one"},
        {"a", 2, 0, 0, "it has sent two"},
        {"b", 7, 1, 1, "another one, in the middle"},
        {"a", 4, 1, 1, "the third one was lost"},
        {"a", 4, 0, 0, "that is known"},
        {"a", 5, 0, 1, "the last one was lost"},
        {"a", 6, 1, 0, "nothing since"},
        {"a", 5, 1, 0, "late, and it came"},
        {"a", 7, 1, 0, "the next one"},
        {"b", 8, 1, 0, "the other one has numbers of its own"},
        {"c", 1, 1, 1, "a link whose first message this is may have been another one before"},
    };
    unsigned i;

    vault_senders_init(&s);
    for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        CHECK_ROW(vault_senders_hear(&s, rows[i].name, rows[i].number, rows[i].is_numbered, i + 1) == rows[i].has_gap,
                  rows[i].why);
    }
    CU_ASSERT_EQUAL(s.count, 3);
    vault_senders_forget(&s, 12); /* a was heard at 11, b at 12 */
    CU_ASSERT_EQUAL(s.count, 2);
    CU_ASSERT_FALSE(vault_senders_hear(&s, "b", 9, 1, 20));
    CU_ASSERT_TRUE(vault_senders_hear(&s, "a", 8, 1, 20));
}

static void a_sender_without_a_place_may_always_have_lost_some(void)
{
    static vault_senders_t s;
    char name[VAULT_SENDER_NAME];
    unsigned i;

    vault_senders_init(&s);
    for (i = 0; i < VAULT_SENDERS_MAX; i++) {
        apr_snprintf(name, sizeof(name), "%u", i);
        CU_ASSERT_TRUE(vault_senders_hear(&s, name, 1, 1, 1));
        CU_ASSERT_FALSE(vault_senders_hear(&s, name, 2, 1, 1));
    }
    CU_ASSERT_TRUE(vault_senders_hear(&s, "more", 1, 1, 1));
    CU_ASSERT_TRUE(vault_senders_hear(&s, "more", 2, 1, 1));
    CU_ASSERT_FALSE(vault_senders_hear(&s, "0", 3, 1, 1));
}

void vault_strategies_suite(void)
{
    CU_pSuite suite = CU_add_suite("strategies", NULL, NULL);

    CU_add_test(suite, "a gap in the messages of a sender is found", a_gap_in_the_messages_of_a_sender_is_found);
    CU_add_test(suite, "a sender without a place may always have lost some",
                a_sender_without_a_place_may_always_have_lost_some);
}
