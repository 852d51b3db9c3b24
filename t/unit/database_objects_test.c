/* SPDX-License-Identifier: Apache-2.0 */
/* Entities, collections and queries of a model, on watched tables of SQLite. */
#include <CUnit/CUnit.h>

#include "database_scene.h"
#include "database/model/model.h"
#include "sql/driver.h"
#include "sql/statement.h"
#include "unit.h"

void vault_database_objects_suite(void);

/* ------------------------------------------------------------ objects */

static const char model_text[] =
    "{\"entities\":{"
    "\"Profile\":{\"table\":\"profiles\",\"properties\":{\"name\":\"full_name\",\"status\":\"status\"},"
    "\"collections\":{\"posts\":{\"entity\":\"WallPost\",\"column\":\"wall\"},"
    "\"written\":{\"entity\":\"WallPost\",\"column\":\"author\"}}},"
    "\"WallPost\":{\"table\":\"posts\",\"properties\":{\"text\":\"body\"}},"
    "\"Lost\":{\"table\":\"nowhere\",\"properties\":{\"x\":\"y\"}},"
    "\"Broken\":{\"table\":\"posts\",\"properties\":{\"x\":\"nowhere\"}}},"
    "\"queries\":{\"wall\":{\"sql\":\"SELECT p.id, p.body, a.full_name AS author FROM posts p JOIN profiles a ON a.id "
    "= p.author "
    "WHERE p.wall = :wall AND ':no' <> '' -- :neither\",\"tables\":[\"posts\",\"profiles\"],"
    "\"columns\":{\"id\":\"integer\",\"body\":\"text\",\"author\":\"text\"},\"key\":[\"id\"],"
    "\"parameters\":{\"wall\":\"integer\"}}}}";

static const char object_tables[] =
    "CREATE TABLE profiles(id INTEGER PRIMARY KEY,full_name TEXT,status TEXT);"
    "CREATE TABLE posts(id INTEGER PRIMARY KEY,wall INTEGER,author INTEGER,body TEXT,seen INTEGER);"
    "INSERT INTO profiles VALUES(1,'Ann','here'),(2,'Bob','away');"
    "INSERT INTO posts VALUES(1,1,2,'hello',0),(2,2,1,'hi',0);";

static void objects_begin(scene_t *s, const char *name)
{
    static const scene_model_t with = {.sql = object_tables, .model = model_text, .tables = "posts profiles"};

    scene_of_model(s, name, &with, "");
}

static void test_collections(void)
{
    static const step_t steps[] = {
        {"", "{\"added\":[{\"id\":1,\"text\":\"hello\"}],\"removed\":[],\"changed\":[]}", "first view"},
        {"INSERT INTO posts VALUES(3,1,1,'new',0)",
         "{\"added\":[{\"id\":3,\"text\":\"new\"}],\"removed\":[],\"changed\":[]}",
         "inserted by its foreign key, by anyone"},
        {"INSERT INTO posts VALUES(4,2,1,'there',0)", "nothing", "another's"},
        {"UPDATE posts SET wall=1 WHERE id=4",
         "{\"added\":[{\"id\":4,\"text\":\"there\"}],\"removed\":[],\"changed\":[]}", "moved here"},
        {"UPDATE posts SET wall=2,body='gone' WHERE id IN(1,4)",
         "{\"added\":[],\"removed\":[{\"id\":1,\"text\":\"hello\"},{\"id\":4,\"text\":\"there\"}],\"changed\":[]}",
         "moved away: as they were here"},
        {"UPDATE posts SET body='NEW' WHERE id=3",
         "{\"added\":[],\"removed\":[],\"changed\":[{\"id\":3,\"text\":\"NEW\"}]}", "changed"},
        {"UPDATE posts SET seen=1 WHERE id=3", "nothing", "no property"},
        {"INSERT INTO posts VALUES(5,1,1,'x',0);DELETE FROM posts WHERE id=5", "nothing", "added and removed"},
        {"UPDATE posts SET wall=2 WHERE id=3;UPDATE posts SET wall=1 WHERE id=3", "nothing", "there and back"},
        {"DELETE FROM posts WHERE wall=1", "{\"added\":[],\"removed\":[{\"id\":3,\"text\":\"NEW\"}],\"changed\":[]}",
         "deleted with a condition"},
        {NULL, NULL, NULL},
    };
    static const char args[] = "{\"entity\":\"Profile\",\"id\":\"1\",\"collection\":\"posts\"}";
    scene_t s;

    objects_begin(&s, "collections.db");
    run_steps(&s, "get_collection_changes", args, "DB-posts.wall=1", steps);
    stranger_does(s.other, "INSERT INTO posts VALUES(8,1,1,'eight',0)");
    check(
        ask(&s.feed, NULL, "get_collection_changes", "{\"entity\":\"Profile\",\"id\":\"01\",\"collection\":\"posts\"}"),
        "EINVAL: entity \"Profile\", collection \"posts\": the key \"01\" must be given as the database writes it: "
        "\"1\"",
        "01", "interests are names");
    check(ask(&s.feed, NULL, "get_collection_changes", "{\"entity\":\"Profile\",\"id\":\"1\",\"collection\":\"no\"}"),
          "EINVAL: argument \"collection\": the entity \"Profile\" has no collection \"no\"", "no", "unknown");
    check(ask(&s.feed, NULL, "get_collection_changes", "{\"entity\":\"No\",\"id\":\"1\",\"collection\":\"no\"}"),
          "EINVAL: the model has no entity \"No\"", "No", "unknown");
    scene_end(&s);
}

/* A first view is one statement: the watching and the elements, of which there may be none. */
static void test_first_views(void)
{
    static const char first[] = "{\"entity\":\"Profile\",\"id\":\"1\",\"collection\":\"posts\"}";
    static const char shown[] = "{\"added\":[{\"id\":1,\"text\":\"hello\"}],\"removed\":[],\"changed\":[]}";
    scene_t s;

    objects_begin(&s, "first.db");
    check(ask(&s.feed, NULL, "get_collection_changes", first), shown, "first", "prepared");
    stranger_does(s.other, "CREATE TABLE unrelated(id INTEGER PRIMARY KEY)");
    check(ask(&s.feed, NULL, "get_collection_changes", first), shown, "schema", "prepared anew");
    check(
        ask(&s.feed, NULL, "get_collection_changes", "{\"entity\":\"Profile\",\"id\":\"9\",\"collection\":\"posts\"}"),
        "{\"added\":[],\"removed\":[],\"changed\":[]}", "9", "an object that does not exist: empty, but watched");
    with_statements(&s.feed, "posts", log_dialect_unwatch);
    check(ask(&s.feed, NULL, "get_collection_changes", first),
          "EINVAL: entity \"Profile\", collection \"posts\": table \"posts\" is not watched", "unwatched",
          "no row says where it is");
    scene_end(&s);
}

/* Cached tables are used as long as the statements made of them run. If any program alters one, the next call notices. */
static void test_altered_while_known(void)
{
    static const char first[] = "{\"entity\":\"Profile\",\"id\":\"1\",\"collection\":\"posts\"}";
    static const char padded[] = "{\"entity\":\"Profile\",\"id\":\"01\",\"collection\":\"posts\"}";
    static const char shown[] = "{\"added\":[{\"id\":1,\"text\":\"hello\"}],\"removed\":[],\"changed\":[]}";
    static const char *const unrelated[] = {"CREATE TABLE one(id INTEGER PRIMARY KEY)", "DROP TABLE one",
                                            "CREATE INDEX posts_body ON posts(body)"};
    scene_t s;

    objects_begin(&s, "known.db");
    for (int i = 0; i < 12; i++) {
        check(ask(&s.feed, NULL, "get_collection_changes", first), shown, first, "known by and by");
        if (i % 4 == 3) {
            stranger_does(s.other, unrelated[i / 4]);
        }
    }
    check(ask(&s.feed, NULL, "get_collection_changes", padded),
          "EINVAL: entity \"Profile\", collection \"posts\": the key \"01\"", padded, "a column of numbers");
    stranger_does(s.other, "ALTER TABLE posts ADD COLUMN more TEXT");
    check(ask(&s.feed, NULL, "get_collection_changes", first),
          "EGENERAL: entity \"Profile\", collection \"posts\": table \"posts\" has other columns", first, "altered");
    stranger_does(s.other, "DROP TABLE posts;CREATE TABLE posts(id INTEGER PRIMARY KEY,wall TEXT,author INTEGER,body "
                           "TEXT,seen INTEGER,more TEXT);INSERT INTO posts VALUES(1,'1',2,'hello',0,'')");
    with_statements(&s.feed, "posts", log_dialect_watch);
    for (int i = 0; i < 4; i++) {
        check(ask(&s.feed, NULL, "get_collection_changes", first), shown, first, "made anew");
    }
    check(ask(&s.feed, NULL, "get_collection_changes", padded), "{\"added\":[],\"removed\":[],\"changed\":[]}", padded,
          "a column of texts");
    stranger_does(s.other,
                  "DROP TABLE posts;CREATE TABLE posts(id INTEGER PRIMARY KEY,wall INTEGER,author INTEGER,body "
                  "TEXT,seen INTEGER,more TEXT)");
    check(ask(&s.feed, NULL, "get_collection_changes", padded),
          "EINVAL: entity \"Profile\", collection \"posts\": the key \"01\"", padded,
          "refused before any statement ran");
    stranger_does(s.other, "DROP TABLE posts;CREATE TABLE posts(id INTEGER PRIMARY KEY,wall TEXT,author INTEGER,body "
                           "TEXT,seen INTEGER,more TEXT)");
    check(ask(&s.feed, NULL, "get_collection_changes", padded), "{\"added\":[],\"removed\":[],\"changed\":[]}", padded,
          "and no more");
    stranger_does(s.other, "DROP TABLE posts");
    check(ask(&s.feed, NULL, "get_collection_changes", first),
          "EINVAL: entity \"Profile\", collection \"posts\": there is no table \"posts\"", first, "gone");
    scene_end(&s);
}

/* Each page continues from what it was shown, whichever program writes. */
static void test_views_in_turn(void)
{
    static const char *const views[] = {"\"id\":\"1\",\"collection\":\"posts\"", "\"id\":2,\"collection\":\"posts\"",
                                        "\"id\":\"1\",\"collection\":\"written\"",
                                        "\"id\":\"9\",\"collection\":\"posts\""};
    static const char *const interests[] = {"DB-posts.wall=1", "DB-posts.wall=2", "DB-posts.author=1",
                                            "DB-posts.wall=9"};
    static const char *const rows[] = {"1,2", "2,2", "3,1", "9,2"};
    static const char *const shown[] = {"{\"id\":1,\"text\":\"hello\"}", "{\"id\":2,\"text\":\"hi\"}",
                                        "{\"id\":2,\"text\":\"hi\"}", ""};
    scene_t s;

    objects_begin(&s, "turn.db");
    for (int i = 0; i < 16; i++) {
        const char *args = apr_psprintf(suite_pool, "{\"entity\":\"Profile\",%s}", views[i % 4]);
        const char *news = apr_psprintf(suite_pool, "{\"id\":%d,\"text\":\"new\"}", 100 + i);
        host_page_t page = {0};

        check(ask(&s.feed, &page, "get_collection_changes", args),
              apr_psprintf(suite_pool, "{\"added\":[%s],\"removed\":[],\"changed\":[]}", shown[i % 4]), args,
              "in turn");
        stranger_does(s.other,
                      apr_psprintf(suite_pool, "INSERT INTO posts VALUES(%d,%s,'new',0)", 100 + i, rows[i % 4]));
        host_notify(interests[i % 4]);
        check(ask(&s.feed, &page, "get_collection_changes", args),
              apr_psprintf(suite_pool, "{\"added\":[%s],\"removed\":[],\"changed\":[]}", news), args,
              "what came after the view");
        stranger_does(s.other, apr_psprintf(suite_pool, "DELETE FROM posts WHERE id=%d", 100 + i));
        host_notify(interests[i % 4]);
        check(ask(&s.feed, &page, "get_collection_changes", args),
              apr_psprintf(suite_pool, "{\"added\":[],\"removed\":[%s],\"changed\":[]}", news), args, "gone again");
    }
    scene_end(&s);
}

/* First views of collections that have elements and of some that have none, on a connection that knows the table. */
static void test_views_of_nothing(void)
{
    static const char *const lists[] = {"posts", "written"};
    static const char *const shown[] = {"{\"added\":[{\"id\":1,\"text\":\"hello\"}],\"removed\":[],\"changed\":[]}",
                                        "{\"added\":[{\"id\":2,\"text\":\"hi\"}],\"removed\":[],\"changed\":[]}"};
    static const char none[] = "{\"added\":[],\"removed\":[],\"changed\":[]}";
    scene_t s;

    objects_begin(&s, "nothing.db");
    check(ask(&s.feed, NULL, "get_property_changes", "{\"entity\":\"WallPost\",\"id\":\"1\",\"property\":\"text\"}"),
          "[{\"property\":\"text\",\"old\":null,\"new\":\"hello\"}]", "a property", "the table is known");
    for (int i = 0; i < 8; i++) {
        int is_empty = i / 2 % 2;
        const char *args = apr_psprintf(suite_pool, "{\"entity\":\"Profile\",\"id\":\"%s\",\"collection\":\"%s\"}",
                                        is_empty ? "9" : "1", lists[i % 2]);

        check(ask(&s.feed, NULL, "get_collection_changes", args), is_empty ? none : shown[i % 2], args,
              "one with elements, then an object that does not exist");
    }
    scene_end(&s);
}

/* A table that is watched anew has another epoch, of which its schema says nothing. */
static void test_view_of_another_watching(void)
{
    static const char first[] = "{\"entity\":\"Profile\",\"id\":\"1\",\"collection\":\"posts\"}";
    static const char shown[] = "{\"added\":[{\"id\":1,\"text\":\"hello\"}],\"removed\":[],\"changed\":[]}";
    static const char *const epochs[] = {"00ff", "00fe", "it''s", "00fe"};
    scene_t s;

    objects_begin(&s, "another.db");
    check(ask(&s.feed, NULL, "get_collection_changes", first), shown, "first", "known from now on");
    for (int i = 0; i < 4; i++) {
        const char *cursor = apr_psprintf(suite_pool, "w%s:", i == 2 ? "it's" : epochs[i]);

        stranger_does(s.other, apr_psprintf(suite_pool, "UPDATE vault_watched SET epoch='%s'", epochs[i]));
        for (int k = 0; k < 3; k++) {
            host_page_t page = {0};

            check(ask(&s.feed, &page, "get_collection_changes", first), shown, epochs[i], "the same rows");
            CU_ASSERT_NSTRING_EQUAL(page.cursor, cursor, strlen(cursor));
        }
    }
    stranger_does(s.other, "DELETE FROM vault_watched");
    check(ask(&s.feed, NULL, "get_collection_changes", first),
          "EINVAL: entity \"Profile\", collection \"posts\": table \"posts\" is not watched", "none", "no watching");
    scene_end(&s);
}

/* More statements than a connection keeps, each with other values, twice; and one that the database refuses in
 * between. */
static void test_kept_statements(void)
{
    static const char *const walls[] = {"", "\"wall\":null,", "\"wall\":%d,"};
    static const char *const authors[] = {"", "\"author\":null,", "\"author\":%d,"};
    static const char *const bodies[] = {"\"body\":null", "\"body\":\"word\"", "\"body\":\"two words? 'yes'\"",
                                         "\"body\":1.5"};
    const char *saved;
    scene_t s;

    objects_begin(&s, "kept.db");
    for (int i = 0, id = 3; i < 2 * 3 * 3 * 4; i++, id++) {
        const char *wall = apr_psprintf(suite_pool, walls[i % 3], i);
        const char *author = apr_psprintf(suite_pool, authors[i / 3 % 3], i);
        const char *args =
            apr_pstrcat(suite_pool, "{\"table\":\"posts\",\"values\":{", wall, author, bodies[i / 9 % 4], "}}", NULL);

        check(ask(&s.feed, NULL, "save", args), apr_psprintf(suite_pool, "[{\"id\":%d}]", id), args, "saved");
        check(ask(&s.feed, NULL, "save", "{\"table\":\"posts\",\"values\":{\"id\":1}}"), "EINVAL: the database refuses",
              "refused", "there is one");
    }
    saved = ask(&s.feed, NULL, "filter", "{\"table\":\"posts\",\"where\":{\"id\":29}}");
    check(saved, "[{\"id\":29,\"wall\":26,\"author\":26,\"body\":\"two words? 'yes'\",\"seen\":null}]", "29", "whole");
    scene_end(&s);
}

static void test_properties(void)
{
    static const step_t steps[] = {
        {"",
         "[{\"property\":\"status\",\"old\":null,\"new\":\"here\"},{\"property\":\"name\",\"old\":null,\"new\":\"Ann\"}"
         "]",
         "first view"},
        {"UPDATE profiles SET status='out' WHERE id=1", "[{\"property\":\"status\",\"old\":\"here\",\"new\":\"out\"}]",
         "one of them"},
        {"UPDATE profiles SET status='x' WHERE id=2", "nothing", "another's"},
        {NULL, NULL, NULL},
    };
    static const char *const lists[][2] = {
        {"status,,name", "the entity has no property \"\""},    {",status", "the entity has no property \"\""},
        {"status,", "the entity has no property \"\""},         {",", "the entity has no property \"\""},
        {"status, name", "the entity has no property \" name"}, {"status,status", "\"status\" is given twice"},
        {"status,name,status", "\"status\" is given twice"}};
    scene_t s;

    objects_begin(&s, "properties.db");
    run_steps(&s, "get_property_changes", "{\"entity\":\"Profile\",\"id\":1,\"property\":\"status,name\"}",
              "DB-profiles-1", steps);
    check(ask(&s.feed, NULL, "get_property_changes", "{\"entity\":\"Profile\",\"id\":1,\"property\":\"no\"}"),
          "EINVAL: argument \"property\": the entity has no property \"no\"", "no", "unknown");
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        check(ask(&s.feed, NULL, "get_property_changes",
                  apr_psprintf(suite_pool, "{\"entity\":\"Profile\",\"id\":1,\"property\":\"%s\"}", lists[i][0])),
              apr_psprintf(suite_pool, "EINVAL: argument \"property\": %s", lists[i][1]), lists[i][0], "a slip");
    }
    check(ask(&s.feed, NULL, "get_property_changes", "{\"entity\":\"Lost\",\"id\":\"1\",\"property\":\"x\"}"),
          "EINVAL: entity \"Lost\": there is no table \"nowhere\"", "nowhere",
          "the model is to be mended, not the call");
    check(ask(&s.feed, NULL, "get_property_changes", "{\"entity\":\"Broken\",\"id\":1,\"property\":\"x\"}"),
          "EINVAL: entity \"Broken\": table \"posts\" has no column \"nowhere\"", "nowhere", "said at the first use");
    scene_end(&s);
}

static void test_queries(void)
{
    static const step_t steps[] = {
        {"", "{\"added\":[{\"id\":1,\"body\":\"hello\",\"author\":\"Bob\"}],\"removed\":[],\"changed\":[]}",
         "first view"},
        {"", "nothing", "nothing happened"},
        {"INSERT INTO posts VALUES(3,1,1,'new',0)",
         "{\"added\":[{\"id\":3,\"body\":\"new\",\"author\":\"Ann\"}],\"removed\":[],\"changed\":[]}", "came in"},
        {"UPDATE profiles SET full_name='Robert' WHERE id=2",
         "{\"added\":[],\"removed\":[],\"changed\":[{\"id\":1,\"body\":\"hello\",\"author\":\"Robert\"}]}",
         "changed by the other table of the join"},
        {"DELETE FROM posts WHERE id=3",
         "{\"added\":[],\"removed\":[{\"id\":3,\"body\":\"new\",\"author\":\"Ann\"}],\"changed\":[]}", "went out"},
        {"DELETE FROM vault_results; INSERT INTO posts VALUES(9,1,1,'n',0)",
         "{\"added\":[{\"id\":1,\"body\":\"hello\",\"author\":\"Robert\"},{\"id\":9,\"body\":\"n\",\"author\":\"Ann\"}]"
         ","
         "\"removed\":[],\"changed\":[],\"reset\":true}",
         "what the page has is known no more"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    objects_begin(&s, "queries.db");
    run_steps(&s, "get_query_changes", "{\"query\":\"wall\",\"parameters\":{\"wall\":\"1\"}}", "DB-posts", steps);
    check(ask(&s.feed, NULL, "get_query_changes", "{\"query\":\"wall\",\"parameters\":{\"wall\":\"1 OR 1\"}}"),
          "EINVAL: argument \"parameters.wall\" is not of the type integer", "SQL", "a value is a value");
    check(ask(&s.feed, NULL, "get_query_changes", "{\"query\":\"wall\"}"),
          "EINVAL: argument \"parameters.wall\" is missing", "none", "needed");
    check(ask(&s.feed, NULL, "get_query_changes", "{\"query\":\"wall\",\"parameters\":{\"wall\":\"1\",\"x\":1}}"),
          "EINVAL: argument \"parameters.x\": the query \"wall\" has no such parameter", "x", "unknown");
    check(ask(&s.feed, NULL, "get_query_changes", "{\"query\":\"no\"}"), "EINVAL: the model has no query \"no\"", "no",
          "unknown");
    scene_end(&s);
}

static void test_models(void)
{
#define ENTITY(more) "{\"entities\":{\"E\":{\"table\":\"t\",\"properties\":{\"p\":\"c\"}" more "}}}"
#define LINKED(through) ENTITY(",\"collections\":{\"k\":{\"entity\":\"E\",\"through\":" through "}}")
#define QUERY(sql, columns, key, more)                                                                                 \
    "{\"queries\":{\"Q\":{\"sql\":\"" sql "\",\"tables\":[\"t\"],\"columns\":" columns ",\"key\":" key more "}}}"
    static const struct {
        const char *text, *wrong;
    } rows[] = {
        {"{}", NULL},
        {ENTITY(""), NULL},
        {QUERY("SELECT a FROM t", "{\"a\":\"text\"}", "[\"a\"]", ""), NULL},
        {"{", "line 1: "},
        {"[]", "an object with \"entities\" and \"queries\" is accepted"},
        {"{\"entity\":{}}", "\"entity\" is unknown"},
        {"{\"entities\":[]}", "\"entities\" takes an object"},
        {"{\"entities\":{\"E\":{\"properties\":{\"p\":\"c\"}}}}", "entity \"E\": \"table\" takes a name"},
        {"{\"entities\":{\"E\":{\"table\":\"t\"}}}", "entity \"E\": \"properties\" takes an object"},
        {"{\"entities\":{\"E\":{\"table\":\"vault_changes\",\"properties\":{\"p\":\"c\"}}}}",
         "entity \"E\": table \"vault_changes\": names that begin with vault_ are of mod_vault's own tables"},
        {"{\"queries\":{\"Q\":{\"sql\":\"SELECT 1\",\"tables\":[\"t\",\"Vault_message_texts\"],\"columns\":{\"a\":"
         "\"text\"},\"key\":[\"a\"]}}}",
         "query \"Q\": table \"Vault_message_texts\": names that begin with vault_"},
        {ENTITY(",\"key\":\"id\""), "entity \"E\": \"key\" is unknown"},
        {ENTITY(",\"collections\":{\"k\":{\"entity\":\"F\",\"column\":\"e\"}}"),
         "entity \"E\", collection \"k\": there is no entity \"F\""},
        {ENTITY(",\"collections\":{\"k\":{\"entity\":\"E\"}}"), "collection \"k\": \"column\" takes a name"},
        {ENTITY(",\"collections\":{\"k\":{\"entity\":\"E\",\"column\":[\"a\",\"b\"]}}"), NULL},
        {ENTITY(",\"collections\":{\"k\":{\"entity\":\"E\",\"column\":[]}}"),
         "entity \"E\", collection \"k\": \"column\" takes a list of names"},
        {ENTITY(",\"collections\":{\"j\":{\"entity\":\"E\",\"column\":\"a\"},\"k\":[]}"),
         "entity \"E\", collection \"k\": an object with \"entity\", and \"column\" or \"through\", is accepted"},
        {LINKED("{\"table\":\"l\",\"column\":\"a\",\"element\":\"b\"}"), NULL},
        {LINKED("{\"table\":\"l\",\"column\":[\"a\",\"b\"],\"element\":[\"c\",\"d\"]}"), NULL},
        {LINKED("{\"table\":\"l\",\"column\":\"a\",\"element\":\"b\"},\"column\":\"a\""),
         "collection \"k\": \"column\" and \"through\" are both there: one of them says how elements are found"},
        {LINKED("\"l\""),
         "collection \"k\", \"through\": an object with \"table\", \"column\" and \"element\" is accepted"},
        {LINKED("{\"column\":\"a\",\"element\":\"b\"}"), "collection \"k\", \"through\": \"table\" takes a name"},
        {LINKED("{\"table\":\"vault_watched\",\"column\":\"a\",\"element\":\"b\"}"),
         "\"through\": table \"vault_watched\": names that begin with vault_ are of mod_vault's own tables"},
        {LINKED("{\"table\":\"l\",\"element\":\"b\"}"), "\"through\": \"column\" takes a name"},
        {LINKED("{\"table\":\"l\",\"column\":\"a\",\"element\":[7]}"),
         "\"through\": \"element\" takes a list of names"},
        {LINKED("{\"table\":\"l\",\"column\":\"a\"}"), "\"through\": \"element\" takes a name"},
        {LINKED("{\"table\":\"l\",\"column\":\"a\",\"element\":\"b\",\"entity\":\"E\"}"),
         "\"through\": \"entity\" is unknown"},
        {QUERY(" /* ; */ -- x\\n ((Select a FROM t))", "{\"a\":\"text\"}", "[\"a\"]", ""), NULL},
        {QUERY("with x AS (SELECT a FROM t) SELECT a FROM x", "{\"a\":\"text\"}", "[\"a\"]", ""), NULL},
        {QUERY("DELETE FROM t", "{\"a\":\"text\"}", "[\"a\"]", ""),
         "query \"Q\": \"sql\" takes one SELECT, or WITH and a SELECT"},
        {QUERY("'SELECT'", "{\"a\":\"text\"}", "[\"a\"]", ""), "\"sql\" takes one SELECT, or WITH and a SELECT"},
        {QUERY("/* SELECT */", "{\"a\":\"text\"}", "[\"a\"]", ""), "\"sql\" takes one SELECT, or WITH and a SELECT"},
        {QUERY(":SELECT a", "{\"a\":\"text\"}", "[\"a\"]", ""), "\"sql\" takes one SELECT, or WITH and a SELECT"},
        {QUERY("WITHOUT", "{\"a\":\"text\"}", "[\"a\"]", ""), "\"sql\" takes one SELECT, or WITH and a SELECT"},
        {QUERY("SELECT :x", "{\"a\":\"text\"}", "[\"a\"]", ""),
         "query \"Q\": \"sql\": the parameter \":x\" is not in \"parameters\""},
        {QUERY("SELECT 1;", "{\"a\":\"text\"}", "[\"a\"]", ""), "one SELECT without a semicolon"},
        {QUERY("SELECT 1", "{\"a\":\"words\"}", "[\"a\"]", ""), "\"columns\": the type of \"a\" is integer"},
        {QUERY("SELECT 1", "{\"a\":\"text\"}", "[\"b\"]", ""), "\"key\": \"b\" is not one of \"columns\""},
        {QUERY("SELECT 1", "{\"a\":\"text\"}", "[]", ""), "\"key\" takes a list of names"},
        {QUERY("SELECT 1", "{\"a\":\"text\"}", "[\"a\"]", ",\"parameters\":{\"x\":\"blob\"}"),
         "\"parameters\": the type of \"x\" is integer, real, text or boolean"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *path = write_file("models.json", rows[i].text);
        const database_model_t *model = NULL;
        const char *wrong = database_model_read(&model, path, suite_pool);

        if (rows[i].wrong == NULL) {
            CU_ASSERT_PTR_NULL(wrong);
        }
        else {
            check(wrong != NULL ? wrong : "accepted", apr_pstrcat(suite_pool, "model=", path, ": ", NULL), rows[i].text,
                  "named");
            check(wrong != NULL ? wrong : "accepted", rows[i].wrong, rows[i].text, "a sentence");
        }
    }
}

/* ------------------------------------------------------------ the suite */

void vault_database_objects_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_objects", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "collections: added, removed, changed", test_collections);
    CU_add_test(suite, "a first view in one statement", test_first_views);
    CU_add_test(suite, "a table that is altered while it is known", test_altered_while_known);
    CU_add_test(suite, "statements that are kept, and those that give way", test_kept_statements);
    CU_add_test(suite, "views in turn", test_views_in_turn);
    CU_add_test(suite, "views of collections without elements", test_views_of_nothing);
    CU_add_test(suite, "a view after another watching", test_view_of_another_watching);
    CU_add_test(suite, "properties", test_properties);
    CU_add_test(suite, "queries: came in, went out, changed", test_queries);
    CU_add_test(suite, "a wrong model is refused with a sentence", test_models);
}
