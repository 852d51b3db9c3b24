/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the pause after a failure. */
#include "base/pause.h"

#include "base/now.h"

#include "fixture.h"
#include "unit.h"

static void a_pause_begins_and_ends(void)
{
    vault_pause_t pause = {0};

    CU_ASSERT_TRUE(vault_pause_is_over(&pause));
    vault_pause_begin(&pause, apr_time_from_sec(60));
    CU_ASSERT_FALSE(vault_pause_is_over(&pause));
    vault_pause_begin(&pause, 0);
    CU_ASSERT_TRUE(vault_pause_is_over(&pause));
}

static void a_failure_is_a_warning_once_a_minute(void)
{
    vault_pause_t pause = {0};

    CU_ASSERT_TRUE(vault_pause_begin(&pause, 0));
    CU_ASSERT_FALSE(vault_pause_begin(&pause, 0));
    pause.logged = vault_now() - apr_time_from_sec(59);
    CU_ASSERT_FALSE(vault_pause_begin(&pause, 0));
    pause.logged = vault_now() - apr_time_from_sec(60);
    CU_ASSERT_TRUE(vault_pause_begin(&pause, 0));
    CU_ASSERT_FALSE(vault_pause_begin(&pause, 0));
}

void vault_pause_suite(void)
{
    CU_pSuite suite = CU_add_suite("pause", NULL, NULL);

    CU_ADD_TEST(suite, a_pause_begins_and_ends);
    CU_ADD_TEST(suite, a_failure_is_a_warning_once_a_minute);
}
