/* SPDX-License-Identifier: Apache-2.0 */
/* Keys of several columns: as text, in triggers, arguments, answers and interests. On SQLite. */
#include <CUnit/CUnit.h>

#include "database_scene.h"
#include "database/rows/keys.h"
#include "unit.h"

void vault_database_keys_suite(void);

/* ------------------------------------------------------------ as text */

static apr_array_header_t *columns_of(int count)
{
    static const char *const names[] = {"a", "b", "c"};
    apr_array_header_t *columns = apr_array_make(suite_pool, 3, sizeof(const char *));

    for (int i = 0; i < count; i++) {
        APR_ARRAY_PUSH(columns, const char *) = names[i];
    }
    return columns;
}

/* Each key has one text, and each text is of one key. */
static void test_text(void)
{
    static const struct {
        const char *values, *text, *why;
    } rows[] = {
        {"[7]", "7", "of one column: the value"},
        {"[\"a,b\\\\\"]", "a,b\\", "whatever is in it"},
        {"[7,3]", "7,3", "of two"},
        {"[\"7\",\"3\"]", "7,3", "a number and its digits are written alike"},
        {"[\"a,b\",\"c\"]", "a\\,b,c", "a comma in the first"},
        {"[\"a\",\"b,c\"]", "a,b\\,c", "in the second: another text"},
        {"[\"a\\\\\",\"b\"]", "a\\\\,b", "a backslash at the end"},
        {"[\"a\",\"\\\\b\"]", "a,\\\\b", "and at the beginning"},
        {"[\"\",\"\",\"\"]", ",,", "of three, all empty"},
        {"[\"\\u00e9\\n\",\"\\\",\",true]", "\xC3\xA9\n,\"\\,,true", "bytes are themselves"},
        {"[\"a\",null]", NULL, "one that is null is no key"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *values = json_loads(rows[i].values, 0, NULL);
        const char *text = database_key_join(values, suite_pool);
        json_t *row = json_object();
        database_key_t key;
        sql_call_t c = {.pool = suite_pool};

        check(text != NULL ? apr_pstrcat(suite_pool, "is ", text, NULL) : "is none",
              rows[i].text != NULL ? apr_pstrcat(suite_pool, "is ", rows[i].text, NULL) : "is none", rows[i].values,
              rows[i].why);
        for (size_t k = 0; k < json_array_size(values); k++) {
            json_object_set(row, k == 0 ? "a" : k == 1 ? "b" : "c", json_array_get(values, k));
        }
        if (text != NULL) {
            CU_ASSERT_EQUAL_FATAL(database_key_parse(&c, "key", columns_of((int)json_array_size(values)), text, &key),
                                  APR_SUCCESS);
            CU_ASSERT_TRUE(database_key_is_in(&key, row, suite_pool));
        }
        for (size_t k = 0; text != NULL && k < json_array_size(values); k++) {
            const json_t *value = json_array_get(values, k);

            CU_ASSERT_STRING_EQUAL(key.values[k], json_is_string(value)    ? json_string_value(value)
                                                  : json_is_integer(value) ? (k == 0 ? "7" : "3")
                                                                           : "true");
        }
        json_decref(row);
        json_decref(values);
    }
}

/* ------------------------------------------------------------ tables */

static const char key_model[] =
    "{\"entities\":{"
    "\"Order\":{\"table\":\"orders\",\"properties\":{\"state\":\"state\",\"note\":\"note\"},"
    "\"collections\":{\"lines\":{\"entity\":\"Line\",\"column\":[\"shop\",\"number\"]},"
    "\"short\":{\"entity\":\"Line\",\"column\":[\"shop\",\"nowhere\"]}}},"
    "\"Line\":{\"table\":\"lines\",\"properties\":{\"item\":\"item\"}}}}";

/* Of lines the key is in another order than the columns. */
static const char key_tables[] =
    "CREATE TABLE orders(shop TEXT,number INTEGER,state TEXT,note TEXT,PRIMARY KEY(shop,number));"
    "CREATE TABLE lines(item TEXT,n INTEGER,shop TEXT,number INTEGER,PRIMARY KEY(number,shop,n));"
    "INSERT INTO orders VALUES('a,b',1,'new',NULL),('a\\',2,'old',NULL);"
    "INSERT INTO lines VALUES('pen',1,'a,b',1),('ink',2,'a,b',1),('cup',1,'a\\',1);";

static void keys_begin(scene_t *s, const char *name)
{
    static const scene_model_t with = {.sql = key_tables, .model = key_model, .tables = "orders lines"};

    scene_of_model(s, name, &with, "");
}

static void test_row(void)
{
    static const step_t steps[] = {
        {"", "[{\"shop\":\"a,b\",\"number\":1,\"state\":\"new\",\"note\":null}]", "first view"},
        {"UPDATE orders SET state='paid' WHERE number=1",
         "[{\"shop\":\"a,b\",\"number\":1,\"state\":\"paid\",\"note\":null}]", "changed"},
        {"UPDATE orders SET state='x' WHERE number=2", "nothing", "another"},
        {"UPDATE orders SET number=3 WHERE number=1", "[]", "its key changed: it is gone"},
        {"UPDATE orders SET number=1 WHERE number=3",
         "[{\"shop\":\"a,b\",\"number\":1,\"state\":\"paid\",\"note\":null}]", "and came back"},
        {NULL, NULL, NULL},
    };
    static const step_t of_property[] = {
        {"", "[{\"property\":\"state\",\"old\":null,\"new\":\"paid\"}]", "first view"},
        {"UPDATE orders SET state='sent' WHERE number=1",
         "[{\"property\":\"state\",\"old\":\"paid\",\"new\":\"sent\"}]", "changed"},
        {NULL, NULL, NULL},
    };
    static const char *const wrong[] = {"a", "a,b,1", "a\\b,1", "a,1\\", "a\\,b\\,1"};
    scene_t s;

    keys_begin(&s, "row.db");
    run_steps(&s, "get_modified_instance", "{\"table\":\"orders\",\"key\":\"a\\\\,b,1\"}", "DB-orders-a\\,b,1", steps);
    run_steps(&s, "get_property_changes", "{\"entity\":\"Order\",\"id\":\"a\\\\,b,1\",\"property\":\"state\"}",
              "DB-orders-a\\,b,1", of_property);
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        json_t *args = json_pack("{s:s,s:s}", "table", "orders", "key", wrong[i]);
        json_t *rows = NULL;
        char sentence[1024];

        CU_ASSERT_EQUAL(ask_json(&s.feed, NULL, "get_modified_instance", args, &rows, sentence), APR_EINVAL);
        check(
            sentence,
            apr_psprintf(suite_pool,
                         "argument \"key\": \"%s\" is not 2 values (shop,number) separated by commas, with a backslash",
                         wrong[i]),
            wrong[i], "no key of two columns");
        json_decref(args);
    }
    check(ask(&s.feed, NULL, "get_modified_instance", "{\"table\":\"orders\",\"key\":\"a\\\\,b,01\"}"),
          "EINVAL: the key \"01\" must be given as the database writes it: \"1\"", "01", "of each part one spelling");
    scene_end(&s);
}

/* What a trigger writes is what a row says of itself. */
static void test_recorded(void)
{
    static const char *const values[] = {"", "a", ",", "\\", "\\,", ",\\", "a,b\\c", "it's", "\xC3\xA9", "1", "01"};
    json_t *all = json_pack("{s:s}", "table", "orders");
    host_page_t page = {0};
    scene_t s;

    keys_begin(&s, "recorded.db");
    check(ask(&s.feed, &page, "get_new_instances", "{\"table\":\"orders\"}"),
          "[{\"shop\":\"a,b\",\"number\":1,\"state\":\"new\",\"note\":null},"
          "{\"shop\":\"a\\\\\",\"number\":2,\"state\":\"old\",\"note\":null}]",
          "all", "in the order of the whole key");
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        json_t *args = json_pack("{s:s,s:{s:s,s:i,s:s}}", "table", "orders", "values", "shop", values[i], "number", 9,
                                 "state", "x");
        json_t *saved = NULL, *rows = NULL, *get;
        const char *id;

        CU_ASSERT_EQUAL_FATAL(ask_json(&s.feed, NULL, "save", args, &saved, NULL), APR_SUCCESS);
        id = json_string_value(json_object_get(json_array_get(saved, 0), "id"));
        CU_ASSERT_PTR_NOT_NULL_FATAL(id);
        get = json_pack("{s:s,s:s}", "table", "orders", "key", id);
        CU_ASSERT_EQUAL_FATAL(ask_json(&s.feed, NULL, "get_modified_instance", get, &rows, NULL), APR_SUCCESS);
        CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(rows, 0), "shop")), values[i]);
        json_decref(rows);
        rows = NULL;
        /* By the key that the trigger wrote. */
        CU_ASSERT_EQUAL_FATAL(ask_json(&s.feed, &page, "get_new_instances", all, &rows, NULL), APR_SUCCESS);
        CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(json_array_get(rows, 0), "shop")), values[i]);
        json_decref(rows);
        rows = NULL;
        CU_ASSERT_EQUAL(ask_json(&s.feed, NULL, "delete", get, &rows, NULL), APR_SUCCESS);
        CU_ASSERT_EQUAL(json_integer_value(json_object_get(json_array_get(rows, 0), "deleted")), 1);
        json_decref(rows);
        json_decref(get);
        json_decref(saved);
        json_decref(args);
    }
    json_decref(all);
    scene_end(&s);
}

/* Found by several columns, and each shown with its key. */
static void test_members(void)
{
    static const step_t steps[] = {
        {"",
         "{\"added\":[{\"id\":\"1,a\\\\,b,1\",\"item\":\"pen\"},{\"id\":\"1,a\\\\,b,2\",\"item\":\"ink\"}],"
         "\"removed\":[],\"changed\":[]}",
         "first view, in the order of the key"},
        {"UPDATE lines SET item='cap' WHERE shop='a\\'", "nothing", "another's"},
        {"INSERT INTO lines VALUES('nib',3,'a,b',1)",
         "{\"added\":[{\"id\":\"1,a\\\\,b,3\",\"item\":\"nib\"}],\"removed\":[],\"changed\":[]}", "a new one"},
        {"UPDATE lines SET item='INK' WHERE n=2",
         "{\"added\":[],\"removed\":[],\"changed\":[{\"id\":\"1,a\\\\,b,2\",\"item\":\"INK\"}]}", "changed"},
        {"UPDATE lines SET number=2 WHERE n=2",
         "{\"added\":[],\"removed\":[{\"id\":\"1,a\\\\,b,2\",\"item\":\"INK\"}],\"changed\":[]}",
         "moved away by one of the columns, which changes its key"},
        {NULL, NULL, NULL},
    };
    static const char args[] = "{\"entity\":\"Order\",\"id\":\"a\\\\,b,1\",\"collection\":\"lines\"}";
    scene_t s;

    keys_begin(&s, "members.db");
    run_steps(&s, "get_collection_changes", args, "DB-lines.shop,number=a\\,b,1", steps);
    check(ask(&s.feed, NULL, "get_collection_changes", "{\"entity\":\"Order\",\"id\":\"1\",\"collection\":\"lines\"}"),
          "EINVAL: argument \"id\": \"1\" is not 2 values (shop,number) separated by commas", "1", "half a key");
    check(
        ask(&s.feed, NULL, "get_collection_changes", "{\"entity\":\"Order\",\"id\":\"a,1\",\"collection\":\"short\"}"),
        "EINVAL: entity \"Order\", collection \"short\": table \"lines\" has no column \"nowhere\"", "short",
        "the model is to be mended");
    scene_end(&s);
}

/* Writers of the feed announce it, too. */
static void test_members_announced(void)
{
    int here, there;
    scene_t s;

    keys_begin(&s, "announced.db");
    here = host_notified("DB-lines.shop,number=a\\,b,1");
    there = host_notified("DB-lines.shop,number=a\\,b,2");
    check(ask(&s.feed, NULL, "update", "{\"table\":\"lines\",\"key\":\"1,a\\\\,b,2\",\"values\":{\"number\":2}}"),
          "[{\"updated\":1}]", "moved", "by its key");
    CU_ASSERT_EQUAL(host_notified("DB-lines.shop,number=a\\,b,1"), here + 1);
    CU_ASSERT_EQUAL(host_notified("DB-lines.shop,number=a\\,b,2"), there + 1);
    scene_end(&s);
}

/* ------------------------------------------------------------ the suite */

void vault_database_keys_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_keys", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "keys as text", test_text);
    CU_add_test(suite, "a row with a key of several columns", test_row);
    CU_add_test(suite, "keys that triggers write", test_recorded);
    CU_add_test(suite, "a collection found by several columns", test_members);
    CU_add_test(suite, "what writers announce of it", test_members_announced);
}
