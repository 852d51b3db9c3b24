/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the metadata about an output: which pages it fits, and which files may still change unseen. */
#include "apr_strings.h"

#include "output/output_metadata.h"
#include "page_txn_scene.h"
#include "unit.h"

#define ALL_MAX 3

/* ---------------------------------------------------------------- properties */

typedef const char *properties_t[ALL_MAX * 2 + 1]; /* key, value, …; NULL ends the list */

static vault_state_t *state_of(const properties_t properties, apr_pool_t *pool)
{
    vault_state_t *s = vault_state_create(pool);
    unsigned i;

    for (i = 0; properties[i]; i += 2) {
        vault_state_set(s, properties[i], properties[i + 1]);
    }
    return s;
}

/* Would the output of a method that was told all of these properties fit a page with those? */
static int fits(scene_t *s, const properties_t told, const properties_t of_page)
{
    vault_state_t *base = state_of(of_page, s->f.pool);
    vault_page_txn_t *txn = vault_page_txn_create(s->pages, &s->page, base, s->f.pool);
    vault_output_metadata_t metadata;

    vault_metadata_init(&metadata, s->f.pool);
    vault_metadata_add_read(metadata.properties, "",
                            vault_metadata_all_properties(state_of(told, s->f.pool), s->f.pool));
    return vault_metadata_matches(&metadata, txn, s->f.pool);
}

static void all_properties_are_compared(void)
{
    static const struct {
        properties_t told, of_page;
        int fits;
        const char *why;
    } rows[] = {
        {{"a", "1", "b", "2"}, {"a", "1", "b", "2"}, 1, "the same"},
        {{"a", "1", "b", "2"}, {"b", "2", "a", "1"}, 1, "the order has no meaning"},
        {{NULL}, {NULL}, 1, "none"},
        {{NULL}, {"a", "1"}, 0, "one that the method was not told"},
        {{"a", "1"}, {NULL}, 0, "one that the page does not have"},
        {{"a", "1"}, {"a", "2"}, 0, "another value"},
        {{"a", "1"}, {"b", "1"}, 0, "another key"},
        {{"a", "1", "b", "2"}, {"a", "2", "b", "1"}, 0, "values that have changed places"},
        {{"a", "11"}, {"a1", "1"}, 0, "the end of a key at the beginning of its value"},
        {{"a", "1", "b", "2"}, {"a", "11:b1:2"}, 0, "a value that looks like the next property"},
        {{"a", ""}, {NULL}, 0, "an empty value is one"},
        {{"a", "", "b", ""}, {"a", "1:b0:"}, 0, "a value that looks like the next property, which is empty"},
    };
    scene_t s;
    unsigned i;

    scene_begin(&s);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_ROW(fits(&s, rows[i].told, rows[i].of_page) == rows[i].fits, rows[i].why);
    }
    scene_end(&s);
}

/* -------------------------------------------------------------------- files */

static void a_file_may_change_again_within_a_tick(void)
{
    static const apr_time_t second = APR_USEC_PER_SEC, ms = 1000;
    static const struct {
        apr_time_t changed, later;
        int may;
        const char *why;
    } rows[] = {
        {100 * second + 1, 0, 1, "at the moment of its change"},
        {100 * second + 1, 20 * ms - 1, 1, "less than 20 ms after it"},
        {100 * second + 1, 20 * ms, 0, "20 ms after it"},
        {100 * second, 20 * ms, 1, "the same, on a file system that counts seconds"},
        {100 * second, 2 * second - 1, 1, "less than 2 s after it"},
        {100 * second, 2 * second, 0, "2 s after it"},
        {100 * second + 1, -second, 1, "the clock was set back"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        apr_time_t looked = rows[i].changed + rows[i].later;
        CHECK_ROW(vault_metadata_is_racy(rows[i].changed, looked) == rows[i].may, rows[i].why);
    }
}

void vault_output_metadata_suite(void)
{
    CU_pSuite suite = CU_add_suite("output_metadata", NULL, NULL);

    CU_ADD_TEST(suite, all_properties_are_compared);
    CU_ADD_TEST(suite, a_file_may_change_again_within_a_tick);
}
