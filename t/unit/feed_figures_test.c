/* SPDX-License-Identifier: Apache-2.0 */
/* What feeds declare and report is checked, and named for monitoring systems. */
#include <CUnit/CUnit.h>

#include <stddef.h>
#include <string.h>

#include "apr_strings.h"

#include "base/feed_figures.h"
#include "base/metric_text.h"
#include "unit.h"

void vault_feed_figures_suite(void);

static apr_pool_t *pool;

static json_t *report_cb(void *self)
{
    return NULL;
}

static void test_declared(void)
{
    static const struct {
        vault_feed_figure_t figures[3];
        const char *wrong, *why;
    } rows[] = {
        {{{"Size", "bytes", VAULT_FIGURE_GAUGE}, {"Sizes", "", VAULT_FIGURE_COUNTER}, {NULL}}, NULL, "two figures"},
        {{{"X", "one letter", VAULT_FIGURE_FACT}, {NULL}}, NULL, "the shortest name"},
        {{{"A123456789012345678901234567890123456789", "", 0}, {NULL}}, NULL, "the longest"},
        {{{"A1234567890123456789012345678901234567890", "", 0}, {NULL}}, "is not named", "one that is longer"},
        {{{"", "", 0}, {NULL}}, "is not named", "none"},
        {{{"size", "", 0}, {NULL}}, "is not named", "a lower-case letter at the beginning"},
        {{{"Ring_Size", "", 0}, {NULL}}, "is not named", "what is neither letter nor digit"},
        {{{"Gr\303\266sse", "", 0}, {NULL}}, "is not named", "a letter that is not ASCII"},
        {{{"Name", "", 0}, {NULL}}, "is not named", "what the status says itself"},
        {{{"Error", "", 0}, {NULL}}, "is not named", "another reserved name"},
        {{{"ReadsTotal", "", VAULT_FIGURE_GAUGE}, {NULL}}, "is not named", "samples of a counter Reads have this name"},
        {{{"Size", "", 0}, {"Size", "", 0}, {NULL}}, "it has two figures", "one name twice"},
        {{{"Size", NULL, 0}, {NULL}}, "has no meaning", "no meaning"},
        {{{"Size", "line\nline", 0}, {NULL}}, "has no meaning", "a meaning of two lines"},
        {{{"Size", "Gr\303\266sse", 0}, {NULL}}, "has no meaning", "one that is not ASCII"},
        {{{"Size", "", 3}, {NULL}}, "is of the kind 3", "a kind that is not known"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const vault_feed_t feed = {.size = sizeof(feed), .figures = rows[i].figures, .report = report_cb};
        const char *wrong = vault_feed_figures_check(&feed, pool);
        int good = rows[i].wrong ? wrong && strstr(wrong, rows[i].wrong) : !wrong;

        CU_ASSERT(good);
        if (!good) {
            printf("\n%s: %s\n", rows[i].why, wrong ? wrong : "accepted");
        }
    }
}

/* The slots are not there in a feed that was built before, nor used where one of them is empty. */
static void test_absent(void)
{
    static const vault_feed_figure_t figures[] = {{"bad", NULL, 9}, {NULL, NULL, 0}};
    const vault_feed_t rows[] = {
        {.size = offsetof(vault_feed_t, figures), .figures = figures, .report = report_cb},
        {.size = offsetof(vault_feed_t, report), .figures = figures, .report = report_cb},
        {.size = sizeof(vault_feed_t), .figures = figures},
        {.size = sizeof(vault_feed_t), .report = report_cb},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT_PTR_NULL(vault_feed_figures_of(&rows[i])->name);
        CU_ASSERT_PTR_NULL(vault_feed_figures_check(&rows[i], pool));
    }
}

static void test_values(void)
{
    static const vault_feed_figure_t figures[] = {
        {"Fact", "", VAULT_FIGURE_FACT}, {"Gauge", "", VAULT_FIGURE_GAUGE}, {"Counter", "", VAULT_FIGURE_COUNTER}, {0}};
    static const struct {
        const char *said, *shown, *why;
    } rows[] = {
        {"{\"Fact\":\"x\",\"Gauge\":-1,\"Counter\":2}", "x -1 2 ", "all is well"},
        {"{\"Fact\":3,\"Counter\":null,\"Other\":1}", "3 - - ", "a fact that is a number, and no values"},
        {"{\"Fact\":true,\"Gauge\":1}", "- 1 - !", "a truth value"},
        {"{\"Fact\":{},\"Gauge\":1.0}", "- - - !", "an object, and a real number"},
        {"{\"Gauge\":\"1\",\"Counter\":-1}", "- - - !", "a text of a gauge, and a counter below 0"},
        {"{\"Fact\":\"a\\u0000b\\u001b[m\\u007f\\n\"}", "a?b?[m?? - - ", "control characters"},
        {"[]", "- - - !", "a list"},
        {"null", "- - - !", "nothing"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *said = json_loads(rows[i].said, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
        const char *error = NULL;
        const vault_feed_value_t *values = vault_feed_values(&error, figures, said, pool);
        char shown[120] = "";

        for (int k = 0; k < 3; k++) {
            size_t used = strlen(shown);
            if (values[k].type == VAULT_FEED_VALUE_NUMBER) {
                snprintf(shown + used, sizeof(shown) - used, "%d ", (int)values[k].number);
            }
            else {
                snprintf(shown + used, sizeof(shown) - used, "%s ", values[k].text ? values[k].text : "-");
            }
        }
        strcat(shown, error ? "!" : "");
        CU_ASSERT_STRING_EQUAL(shown, rows[i].shown);
        if (strcmp(shown, rows[i].shown)) {
            printf("\n%s: %s\n", rows[i].why, shown);
        }
        json_decref(said);
    }
}

static void test_nothing_is_taken(void)
{
    static const vault_feed_figure_t figures[] = {{"Gauge", "", VAULT_FIGURE_GAUGE}, {0}}, none[] = {{0}};
    json_t *said = json_pack("{s:i}", "Gauge", 1);
    const char *late = "it is late", *error = NULL;

    CU_ASSERT_EQUAL(vault_feed_values(&late, figures, said, pool)[0].type, VAULT_FEED_VALUE_NONE);
    CU_ASSERT_STRING_EQUAL(late, "it is late");
    CU_ASSERT_PTR_NOT_NULL(vault_feed_values(&error, none, NULL, pool));
    CU_ASSERT_PTR_NULL(error); /* a feed without figures has none that it could not tell */
    json_decref(said);
}

static void test_texts(void)
{
    char *text = apr_palloc(pool, 10001);
    json_t *said;
    const char *error = NULL;
    static const vault_feed_figure_t figures[] = {{"Fact", "", VAULT_FIGURE_FACT}, {0}};

    CU_ASSERT_STRING_EQUAL(vault_feed_text("a\377b\tc", pool), "a\357\277\275b?c");
    memset(text, 'x', 10000);
    memcpy(text + VAULT_PROPERTY_VALUE_MAX - 1, "\303\266", 2); /* half of it is beyond the end */
    text[10000] = '\0';
    said = json_pack("{s:s}", "Fact", text);
    text = apr_pstrdup(pool, vault_feed_values(&error, figures, said, pool)[0].text);
    CU_ASSERT_EQUAL(strlen(text), VAULT_PROPERTY_VALUE_MAX - 1 + 3);
    CU_ASSERT_STRING_EQUAL(text + VAULT_PROPERTY_VALUE_MAX - 1, "\357\277\275");
    json_decref(said);
}

static void test_metrics(void)
{
    CU_ASSERT_STRING_EQUAL(vault_metric_name("vault", "PagesMax", pool), "vault_pages_max");
    CU_ASSERT_STRING_EQUAL(vault_metric_name("vault_feed_", "my-feed \303\266", pool), "vault_feed_my_feed___");
    CU_ASSERT_STRING_EQUAL(vault_metric_name("v", "", pool), "v");
    CU_ASSERT_STRING_EQUAL(vault_metric_label("a\\b\"c\nd", pool), "a\\\\b\\\"c\\nd");
}

static int start(void)
{
    return apr_pool_create(&pool, NULL);
}

static int stop(void)
{
    apr_pool_destroy(pool);
    return 0;
}

void vault_feed_figures_suite(void)
{
    CU_pSuite suite = CU_add_suite("feed_figures", start, stop);

    CU_add_test(suite, "what a feed declares", test_declared);
    CU_add_test(suite, "a feed that declares nothing, or was built before", test_absent);
    CU_add_test(suite, "what a feed reports", test_values);
    CU_add_test(suite, "a report that is not taken", test_nothing_is_taken);
    CU_add_test(suite, "texts", test_texts);
    CU_add_test(suite, "names and labels of metrics", test_metrics);
}
