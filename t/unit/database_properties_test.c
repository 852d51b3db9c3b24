/* SPDX-License-Identifier: Apache-2.0 */
/* Properties with a type, and two properties that show one column. */
#include <CUnit/CUnit.h>

#include "database_scene.h"
#include "database/model/model.h"
#include "database/model/properties.h"
#include "unit.h"

void vault_database_properties_suite(void);

/* ------------------------------------------------------------ types */

static void test_types(void)
{
    static const struct {
        const char *type, *value, *shown, *why;
    } rows[] = {
        {"boolean", "[1]", "[true]", "as MariaDB and SQLite have it"},
        {"boolean", "[0]", "[false]", "0 is false"},
        {"boolean", "[true]", "[true]", "as PostgreSQL has it"},
        {"boolean", "[\"0.0\"]", "[false]", "a decimal"},
        {"boolean", "[\"no\"]", "[\"no\"]", "a word is none"},
        {"integer", "[\"7\"]", "[7]", "digits"},
        {"integer", "[\"7.00\"]", "[7]", "a decimal without a fraction"},
        {"integer", "[\"7.50\"]", "[\"7.50\"]", "with one it is none"},
        {"integer", "[9007199254740993]", "[9007199254740993]", "all 64 bits"},
        {"integer", "[\"99999999999999999999\"]", "[\"99999999999999999999\"]", "more than 64 bits"},
        {"integer", "[true]", "[1]", "a boolean"},
        {"integer", "[\" 7 dwarfs\"]", "[\" 7 dwarfs\"]", "what only begins with one is none"},
        {"real", "[\"1.50\"]", "[1.5]", "a decimal"},
        {"real", "[2]", "[2.0]", "a whole number"},
        {"real", "[\"NaN\"]", "[\"NaN\"]", "no number of JSON"},
        {"text", "[7]", "[\"7\"]", "a number"},
        {"text", "[\"7\"]", "[\"7\"]", "a text"},
        {"text", "[false]", "[\"false\"]", "a boolean"},
        {"text", "[null]", "[null]", "null stays null"},
        {"integer", "[null]", "[null]", "null stays null"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *property = json_pack("{s:s,s:s}", "column", "c", "type", rows[i].type);
        json_t *list = json_loads(rows[i].value, 0, NULL);
        json_t *shown = json_pack("[o]", database_property_value(property, json_array_get(list, 0), suite_pool));
        char *text = json_dumps(shown, JSON_COMPACT);

        check(text, rows[i].shown, rows[i].value, rows[i].why);
        free(text);
        json_decref(shown);
        json_decref(list);
        json_decref(property);
    }
}

/* ------------------------------------------------------------ one column, two entities */

#define TWO(first, second)                                                                                             \
    "{\"entities\":{\"Login\":{\"table\":\"users\",\"properties\":{\"on\":" first "}},"                                \
    "\"Card\":{\"table\":\"users\",\"properties\":{\"name\":\"name\",\"active\":" second "}},"                         \
    "\"Other\":{\"table\":\"rooms\",\"properties\":{\"active\":\"active\"},"                                           \
    "\"collections\":{\"cards\":{\"entity\":\"Card\",\"column\":\"room\"}}}}}"
#define BOOLEAN "{\"column\":\"active\",\"type\":\"boolean\"}"

static void test_agreement(void)
{
    static const struct {
        const char *text, *wrong;
    } rows[] = {
        {TWO("\"active\"", "\"active\""), NULL},
        {TWO(BOOLEAN, BOOLEAN), NULL},
        {TWO(BOOLEAN, "{\"type\":\"integer\",\"column\":\"active\"}"),
         "entity \"Card\": property \"active\" shows the column \"active\" of table \"users\" of the type integer, "
         "entity "
         "\"Login\", property \"on\" shows it of the type boolean: two properties that show one column have the same "
         "type"},
        {TWO(BOOLEAN, "\"active\""),
         "of table \"users\" without a type, entity \"Login\", property \"on\" shows it of the"},
        {TWO("{\"column\":\"active\"}", BOOLEAN),
         "of the type boolean, entity \"Login\", property \"on\" shows it without a"},
        {TWO("{\"column\":\"active\",\"type\":\"blob\"}", BOOLEAN),
         "entity \"Login\": property \"on\": a name without commas is accepted, and the name of a column, or an object "
         "with \"column\" and a \"type\", which is integer, real, text or boolean"},
        {TWO("{\"type\":\"text\"}", BOOLEAN), "entity \"Login\": property \"on\": a name without commas is accepted"},
        {TWO("{\"column\":\"active\",\"kind\":\"text\"}", BOOLEAN),
         "entity \"Login\": property \"on\": a name without"},
        {TWO("{\"column\":\"active\",\"type\":null}", BOOLEAN), "entity \"Login\": property \"on\": a name without"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *path = write_file("agreement.json", rows[i].text);
        const database_model_t *model = NULL;
        const char *wrong = database_model_read(&model, path, suite_pool);

        CU_ASSERT_EQUAL(wrong == NULL, rows[i].wrong == NULL);
        if (rows[i].wrong != NULL) {
            check(wrong != NULL ? wrong : "accepted", rows[i].wrong, rows[i].text, "a sentence when httpd starts");
        }
    }
}

/* A change of the column, by any program, is seen by pages of both entities, which show the same. */
static void test_seen_by_both(void)
{
    static const char of_login[] = "{\"entity\":\"Login\",\"id\":\"1\",\"property\":\"on\"}";
    static const char of_card[] = "{\"entity\":\"Card\",\"id\":\"1\",\"property\":\"active\"}";
    static const char cards[] = "{\"entity\":\"Other\",\"id\":\"5\",\"collection\":\"cards\"}";
    static const struct {
        const char *does, *old, *new;
    } rows[] = {
        {"UPDATE users SET active=0 WHERE id=1", "true", "false"},
        {NULL, "false", "true"},                              /* by the feed */
        {"UPDATE users SET active=2 WHERE id=1", NULL, NULL}, /* true in another spelling */
        {"UPDATE users SET active=NULL WHERE id=1", "true", "null"},
    };
    host_page_t login = {0}, card = {0}, collection = {0};
    dbi_inst instance;
    dbi_conn other = stranger(&instance, "both.db");
    scene_t s;

    stranger_does(other, "CREATE TABLE users(id INTEGER PRIMARY KEY,name TEXT,active INTEGER,room INTEGER);"
                         "CREATE TABLE rooms(id INTEGER PRIMARY KEY,active TEXT);"
                         "INSERT INTO users VALUES(1,'Ann',1,5),(2,'Bob',1,6);");
    stranger_leaves(instance, other);
    feed_open(&s.feed, apr_psprintf(suite_pool, "database=%s model=%s", path_of("both.db"),
                                    write_file("both.json", TWO(BOOLEAN, BOOLEAN))));
    CU_ASSERT_PTR_NULL_FATAL(s.feed.wrong);
    with_statements(&s.feed, "users", log_dialect_watch);
    s.other = stranger(&s.instance, "both.db");
    check(ask(&s.feed, &login, "get_property_changes", of_login), "[{\"property\":\"on\",\"old\":null,\"new\":true}]",
          of_login, "first view");
    check(ask(&s.feed, &card, "get_property_changes", of_card), "[{\"property\":\"active\",\"old\":null,\"new\":true}]",
          of_card, "first view");
    check(ask(&s.feed, &collection, "get_collection_changes", cards),
          "{\"added\":[{\"id\":1,\"name\":\"Ann\",\"active\":true}],\"removed\":[],\"changed\":[]}", cards,
          "first view");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *both = rows[i].new == NULL
                               ? "nothing"
                               : apr_psprintf(suite_pool, "\"old\":%s,\"new\":%s}]", rows[i].old, rows[i].new);

        if (rows[i].does != NULL) {
            stranger_does(s.other, rows[i].does);
            host_notify("DB-users-1");
            host_notify("DB-users.room=5");
        }
        else {
            ask(&s.feed, NULL, "update", "{\"table\":\"users\",\"key\":\"1\",\"values\":{\"active\":1}}");
        }
        check(ask(&s.feed, &login, "get_property_changes", of_login), both, of_login, "one entity");
        check(ask(&s.feed, &card, "get_property_changes", of_card), both, of_card, "the other");
        check(ask(&s.feed, &collection, "get_collection_changes", cards),
              rows[i].new == NULL ? both
                                  : apr_psprintf(suite_pool,
                                                 "{\"added\":[],\"removed\":[],\"changed\":[{\"id\":1,\"name\":\"Ann\","
                                                 "\"active\":%s}]}",
                                                 rows[i].new),
              cards, "a collection");
    }
    scene_end(&s);
}

void vault_database_properties_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_properties", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "types", test_types);
    CU_add_test(suite, "properties that show one column agree", test_agreement);
    CU_add_test(suite, "a change is seen by pages of both", test_seen_by_both);
}
