/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the names of calls: what is written here must be what jansson writes. */
#include "base/call_name.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "fixture.h"
#include "unit.h"

static void names_are_what_jansson_writes(void)
{
    static const struct {
        const char *args, *why;
    } rows[] = {
        {"{}", "nothing"},
        {"{\"table\": \"logs\"}", "one text"},
        {"{\"b\": \"2\", \"a\": \"1\", \"c\": \"3\"}", "sorted"},
        {"{\"ab\": 1, \"a\": 2, \"b\": 3, \"B\": 4, \"a_\": 5, \"a-\": 6}",
         "one key begins with another; capitals first"},
        {"{\"id\": 9223372036854775807, \"n\": -9223372036854775808, \"z\": 0}", "numbers"},
        {"{\"id\": \"7\", \"n\": 7}", "a text is no number"},
        {"{\"a\": \"\"}", "an empty text"},
        {"{\"\": \"a\"}", "an empty key"},
        {"{\"a\": \"say \\\"so\\\"\"}", "quotes"},
        {"{\"a\\\"b\": \"x\"}", "quotes in a key"},
        {"{\"a\": \"C:\\\\x\"}", "a backslash"},
        {"{\"a\": \"http://x/y\"}", "a slash"},
        {"{\"a\": \"one\\ntwo\\u0000three\\u007f\"}", "control characters"},
        {"{\"a\": \"\xc3\xa4\xf0\x9f\x98\x80\"}", "UTF-8"},
        {"{\"\xc3\xa4\": \"x\", \"z\": \"y\"}", "UTF-8 in a key"},
        {"{\"a\": 1.5, \"b\": true, \"c\": null}", "other values"},
        {"{\"values\": {\"z\": 1, \"a\": 2}, \"table\": \"t\"}", "objects, sorted too"},
        {"{\"a\": [1, \"2\"]}", "a list"},
        {"{\"l\":1,\"k\":2,\"j\":3,\"i\":4,\"h\":5,\"g\":6,\"f\":7,\"e\":8,\"d\":9,\"c\":10,\"b\":11,\"a\":12}",
         "a dozen"},
        {"{\"m\":0,\"l\":1,\"k\":2,\"j\":3,\"i\":4,\"h\":5,\"g\":6,\"f\":7,\"e\":8,\"d\":9,\"c\":10,\"b\":11,\"a\":12}",
         "one more"},
    };
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *args = json_loads(rows[i].args, JSON_ALLOW_NUL, NULL);
        char *text = json_dumps(args, JSON_COMPACT | JSON_SORT_KEYS);

        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        CHECK_ROW(!strcmp(vault_call_name("shop", "all", args, pool), apr_pstrcat(pool, "shop/all", text, NULL)),
                  rows[i].why);
        free(text);
        json_decref(args);
    }
    CHECK_ROW(!strcmp(vault_call_name("shop", "all", NULL, pool), "shop/all"), "no arguments at all");
    apr_pool_destroy(pool);
}

void vault_call_name_suite(void)
{
    CU_pSuite suite = CU_add_suite("call_name", NULL, NULL);

    CU_ADD_TEST(suite, names_are_what_jansson_writes);
}
