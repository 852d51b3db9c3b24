/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the model file, and checks all that can be checked without the database. */
#include "database/model/model.h"

#include <string.h>

#include "apr_strings.h"
#include "apr_tables.h"

#include "database/model/properties.h"
#include "database/model/query_text.h"
#include "database/model/tables.h"

/* A property that shows a column. */
typedef struct shown_t {
    const char *where, *type;
} shown_t;

/* What is being checked, for error sentences. */
typedef struct checker_t {
    apr_pool_t *pool;
    const char *where; /* `entity "Profile"` */
    const char *wrong; /* the first sentence */
    apr_hash_t *shown; /* the first property that shows a column, by table and column: of shown_t */
} checker_t;

static int complain(checker_t *k, const char *wrong)
{
    if (k->wrong == NULL) {
        k->wrong = apr_pstrcat(k->pool, k->where, k->where[0] != '\0' ? ": " : "", wrong, NULL);
    }
    return 0;
}

static int is_name(const json_t *value)
{
    return json_is_string(value) && json_string_length(value) > 0 &&
           strlen(json_string_value(value)) == json_string_length(value);
}

/* Does `object` have only these members? */
static int knows_members(checker_t *k, const json_t *object, const char *const *known)
{
    const char *name;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)object, name, value)
    {
        int found = 0;

        for (int i = 0; known[i] != NULL; i++) {
            found |= strcmp(known[i], name) == 0;
        }
        if (!found) {
            return complain(k, apr_psprintf(k->pool, "\"%s\" is unknown", name));
        }
    }
    return 1;
}

static int has_name(checker_t *k, const json_t *object, const char *member, int needed)
{
    const json_t *value = json_object_get(object, member);

    if ((value == NULL && !needed) || is_name(value)) {
        return 1;
    }
    return complain(k, apr_psprintf(k->pool, "\"%s\" takes a name", member));
}

/* Is it the name of a table that does not belong to a feed of mod_vault? */
static int is_of_the_site(checker_t *k, const json_t *table)
{
    if (!database_table_is_own(json_string_value(table))) {
        return 1;
    }
    return complain(
        k, apr_psprintf(k->pool, "table \"%s\": names that begin with " LOG_OWN_TABLES " are of mod_vault's own tables",
                        json_string_value(table)));
}

/* Is it a list of names, with at least one? */
static int has_names(checker_t *k, const json_t *object, const char *member)
{
    const json_t *list = json_object_get(object, member);
    int good = json_array_size(list) > 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        good &= is_name(json_array_get(list, i));
    }
    return good || complain(k, apr_psprintf(k->pool, "\"%s\" takes a list of names", member));
}

/* Is it a name, or a list of names, which are the columns of a key? */
static int has_columns(checker_t *k, const json_t *object, const char *member)
{
    return json_is_array(json_object_get(object, member)) ? has_names(k, object, member)
                                                          : has_name(k, object, member, 1);
}

/* ------------------------------------------------------------ entities */

static const char *type_shown(checker_t *k, const char *type)
{
    return type != NULL ? apr_psprintf(k->pool, "of the type %s", type) : "without a type";
}

/* Properties that show the same column must show the same values. */
static int check_agreement(checker_t *k, const char *table, const char *name, const json_t *property)
{
    const char *column = database_property_column(property);
    const char *id = apr_psprintf(k->pool, "%" APR_SIZE_T_FMT ":%s%s", strlen(table), table, column);
    const char *type = database_property_type(property);
    const shown_t *first = apr_hash_get(k->shown, id, APR_HASH_KEY_STRING);
    shown_t *shown;

    if (first == NULL) {
        shown = apr_palloc(k->pool, sizeof(*shown));
        shown->where = apr_psprintf(k->pool, "%s, property \"%s\"", k->where, name);
        shown->type = type;
        apr_hash_set(k->shown, id, APR_HASH_KEY_STRING, shown);
        return 1;
    }
    if (type == NULL || first->type == NULL ? type == first->type : strcmp(type, first->type) == 0) {
        return 1;
    }
    return complain(k,
                    apr_psprintf(k->pool,
                                 "property \"%s\" shows the column \"%s\" of table \"%s\" %s, %s shows it %s: two "
                                 "properties that show one column have the same type",
                                 name, column, table, type_shown(k, type), first->where, type_shown(k, first->type)));
}

/* Is it the name of a column, or an object with a column and a type? */
static int is_property(const json_t *property)
{
    const json_t *type = json_object_get(property, "type");

    return is_name(property) ||
           (is_name(json_object_get(property, "column")) && json_object_size(property) == (type != NULL ? 2 : 1) &&
            (type == NULL || (is_name(type) && database_property_is_type(json_string_value(type)))));
}

static int check_properties(checker_t *k, const json_t *entity)
{
    json_t *properties = json_object_get(entity, "properties");
    const char *name;
    json_t *column;

    if (!json_is_object(properties) || json_object_size(properties) == 0) {
        return complain(k, "\"properties\" takes an object of names of properties and their columns");
    }
    json_object_foreach(properties, name, column)
    {
        if (name[0] == '\0' || strchr(name, ',') != NULL || !is_property(column)) {
            return complain(
                k,
                apr_psprintf(k->pool,
                             "property \"%s\": a name without commas is accepted, and the name of a "
                             "column, or an object with \"column\" and a \"type\", which is " DATABASE_PROPERTY_TYPES,
                             name));
        }
        if (!check_agreement(k, json_string_value(json_object_get(entity, "table")), name, column)) {
            return 0;
        }
    }
    return 1;
}

/* Checks how elements are found: by a column of their table, or by a link table. */
static int check_found_by(checker_t *k, const json_t *collection)
{
    static const char *const known[] = {"table", "column", "element", NULL};
    const json_t *through = json_object_get(collection, "through");

    if (through == NULL) {
        return has_columns(k, collection, "column");
    }
    if (json_object_get(collection, "column") != NULL) {
        return complain(k, "\"column\" and \"through\" are both there: one of them says how elements are found");
    }
    k->where = apr_psprintf(k->pool, "%s, \"through\"", k->where);
    if (!json_is_object(through)) {
        return complain(k, "an object with \"table\", \"column\" and \"element\" is accepted");
    }
    return knows_members(k, through, known) && has_name(k, through, "table", 1) &&
           is_of_the_site(k, json_object_get(through, "table")) && has_columns(k, through, "column") &&
           has_columns(k, through, "element");
}

static int check_collections(checker_t *k, const json_t *entity, const json_t *entities)
{
    static const char *const known[] = {"entity", "column", "through", NULL};
    json_t *collections = json_object_get(entity, "collections");
    const char *owner = k->where;
    const char *name;
    json_t *collection;

    if (collections != NULL && !json_is_object(collections)) {
        return complain(k, "\"collections\" takes an object");
    }
    json_object_foreach(collections, name, collection)
    {
        const char *element = json_string_value(json_object_get(collection, "entity"));

        k->where = apr_psprintf(k->pool, "%s, collection \"%s\"", owner, name);
        if (!json_is_object(collection)) {
            return complain(k, "an object with \"entity\", and \"column\" or \"through\", is accepted");
        }
        if (!knows_members(k, collection, known) || !has_name(k, collection, "entity", 1)) {
            return 0;
        }
        if (json_object_get(entities, element) == NULL) {
            return complain(k, apr_psprintf(k->pool, "there is no entity \"%s\"", element));
        }
        if (!check_found_by(k, collection)) {
            return 0;
        }
    }
    k->where = owner;
    return 1;
}

static int check_entities(checker_t *k, const json_t *entities)
{
    static const char *const known[] = {"table", "properties", "collections", NULL};
    const char *name;
    json_t *entity;

    if (!json_is_object(entities)) {
        return complain(k, "\"entities\" takes an object");
    }
    json_object_foreach((json_t *)(uintptr_t)entities, name, entity)
    {
        k->where = apr_psprintf(k->pool, "entity \"%s\"", name);
        if (!json_is_object(entity)) {
            return complain(k, "an object is accepted");
        }
        if (!knows_members(k, entity, known) || !has_name(k, entity, "table", 1) ||
            !is_of_the_site(k, json_object_get(entity, "table")) || !check_properties(k, entity) ||
            !check_collections(k, entity, entities)) {
            return 0;
        }
    }
    return 1;
}

/* ------------------------------------------------------------ queries */

/* Is it an object of names and types? */
static int check_types(checker_t *k, const json_t *query, const char *member, int needed)
{
    static const char *const types[] = {"integer", "real", "text", "boolean", "blob", NULL};
    json_t *object = json_object_get(query, member);
    const char *name;
    json_t *type;

    if (object == NULL ? needed : !json_is_object(object) || (needed && json_object_size(object) == 0)) {
        return complain(k, apr_psprintf(k->pool, "\"%s\" takes an object of names and types", member));
    }
    json_object_foreach(object, name, type)
    {
        int found = 0;

        /* A blob can be a column of the result, but not a parameter. */
        for (int i = 0; types[i] != NULL && (needed || strcmp(types[i], "blob") != 0); i++) {
            found |= json_is_string(type) && strcmp(types[i], json_string_value(type)) == 0;
        }
        if (!found) {
            return complain(k, apr_psprintf(k->pool, "\"%s\": the type of \"%s\" is integer, real, text%s or boolean",
                                            member, name, needed ? ", blob" : ""));
        }
    }
    return 1;
}

static int check_text(checker_t *k, const json_t *query)
{
    const char *at = json_string_value(json_object_get(query, "sql"));
    const json_t *parameters = json_object_get(query, "parameters");
    database_piece_t piece;
    database_piece_e kind;

    if (!database_query_reads(at)) {
        return complain(k, "\"sql\" takes one SELECT, or WITH and a SELECT");
    }
    while ((kind = database_query_piece(&at, &piece)) != DATABASE_PIECE_END) {
        const char *text = apr_pstrmemdup(k->pool, piece.text, piece.length);

        if (kind == DATABASE_PIECE_PARAMETER && json_object_get(parameters, text) == NULL) {
            return complain(k, apr_psprintf(k->pool, "\"sql\": the parameter \":%s\" is not in \"parameters\"", text));
        }
        if (kind == DATABASE_PIECE_SQL && strcmp(text, ";") == 0) {
            return complain(k, "\"sql\" takes one SELECT without a semicolon");
        }
    }
    return 1;
}

/* Are the columns of the key columns of the result? */
static int check_key(checker_t *k, const json_t *query)
{
    const json_t *key = json_object_get(query, "key");
    const json_t *columns = json_object_get(query, "columns");

    for (size_t i = 0; i < json_array_size(key); i++) {
        if (json_object_get(columns, json_string_value(json_array_get(key, i))) == NULL) {
            return complain(k, apr_psprintf(k->pool, "\"key\": \"%s\" is not one of \"columns\"",
                                            json_string_value(json_array_get(key, i))));
        }
    }
    return 1;
}

static int check_tables(checker_t *k, const json_t *query)
{
    const json_t *tables = json_object_get(query, "tables");
    int good = tables == NULL || has_names(k, query, "tables");

    for (size_t i = 0; i < json_array_size(tables) && good; i++) {
        good = is_of_the_site(k, json_array_get(tables, i));
    }
    return good;
}

static int check_queries(checker_t *k, const json_t *queries)
{
    static const char *const known[] = {"sql", "tables", "columns", "key", "parameters", NULL};
    const char *name;
    json_t *query;

    k->where = "";
    if (!json_is_object(queries)) {
        return complain(k, "\"queries\" takes an object");
    }
    json_object_foreach((json_t *)(uintptr_t)queries, name, query)
    {
        k->where = apr_psprintf(k->pool, "query \"%s\"", name);
        if (!json_is_object(query)) {
            return complain(k, "an object is accepted");
        }
        if (!knows_members(k, query, known) || !has_name(k, query, "sql", 1) || !check_tables(k, query) ||
            !has_names(k, query, "key") || !check_types(k, query, "columns", 1) || !check_key(k, query) ||
            !check_types(k, query, "parameters", 0) || !check_text(k, query)) {
            return 0;
        }
    }
    return 1;
}

/* ------------------------------------------------------------ the file */

static apr_status_t drop(void *data)
{
    json_decref(data);
    return APR_SUCCESS;
}

/* The object of `member`, or an empty one. */
static const json_t *part(json_t *file, const char *member)
{
    if (json_object_get(file, member) == NULL) {
        json_object_set_new(file, member, json_object());
    }
    return json_object_get(file, member);
}

const apr_array_header_t *database_model_columns(const json_t *names, apr_pool_t *pool)
{
    apr_array_header_t *columns = apr_array_make(pool, 1, sizeof(const char *));

    if (json_is_string(names)) {
        APR_ARRAY_PUSH(columns, const char *) = json_string_value(names);
    }
    for (size_t i = 0; i < json_array_size(names); i++) {
        APR_ARRAY_PUSH(columns, const char *) = json_string_value(json_array_get(names, i));
    }
    return columns;
}

static void add_link(database_model_t *model, const json_t *collection, apr_pool_t *pool)
{
    const json_t *element = json_object_get(model->entities, json_string_value(json_object_get(collection, "entity")));
    const json_t *through = json_object_get(collection, "through");
    const char *table = json_string_value(json_object_get(through != NULL ? through : element, "table"));
    apr_array_header_t *links = apr_hash_get(model->links, table, APR_HASH_KEY_STRING);

    if (links == NULL) {
        links = apr_array_make(pool, 2, sizeof(const apr_array_header_t *));
        apr_hash_set(model->links, table, APR_HASH_KEY_STRING, links);
    }
    APR_ARRAY_PUSH(links, const apr_array_header_t *) =
        database_model_columns(json_object_get(through != NULL ? through : collection, "column"), pool);
}

/* They are looked up for every change, so they are computed once. */
static void find_links(database_model_t *model, apr_pool_t *pool)
{
    const char *name, *of;
    json_t *entity, *collection;

    model->links = apr_hash_make(pool);
    json_object_foreach((json_t *)(uintptr_t)model->entities, name, entity)
    {
        json_object_foreach(json_object_get(entity, "collections"), of, collection)
        {
            add_link(model, collection, pool);
        }
    }
}

const char *database_model_read(const database_model_t **model, const char *path, apr_pool_t *pool)
{
    static const char *const known[] = {"entities", "queries", NULL};
    database_model_t *made = apr_pcalloc(pool, sizeof(*made));
    checker_t k = {.pool = pool, .where = "", .shown = apr_hash_make(pool)};
    json_error_t error;
    json_t *file;

    made->path = apr_pstrdup(pool, path);
    stat(path, &made->state); /* before it is read: a change in between shows */
    file = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (file == NULL) {
        return error.line > 0 ? apr_psprintf(pool, "model=%s: line %d: %s", path, error.line, error.text)
                              : apr_psprintf(pool, "model=%s: the file cannot be read: %s", path, error.text);
    }
    apr_pool_cleanup_register(pool, file, drop, apr_pool_cleanup_null);
    if (!json_is_object(file)) {
        return apr_psprintf(pool, "model=%s: an object with \"entities\" and \"queries\" is accepted", path);
    }
    made->entities = part(file, "entities");
    made->queries = part(file, "queries");
    if (!knows_members(&k, file, known) || !check_entities(&k, made->entities) || !check_queries(&k, made->queries)) {
        return apr_psprintf(pool, "model=%s: %s", path, k.wrong);
    }
    find_links(made, pool);
    *model = made;
    return NULL;
}

const apr_array_header_t *database_model_links(const database_model_t *model, const char *table)
{
    return model != NULL ? apr_hash_get(model->links, table, APR_HASH_KEY_STRING) : NULL;
}

const char *database_model_is_current(const database_model_t *model)
{
    struct stat now;

    if (model == NULL) {
        return NULL;
    }
    if (stat(model->path, &now) != 0) {
        return "the file cannot be read any more: a restart would fail";
    }
    return now.st_ino == model->state.st_ino && now.st_dev == model->state.st_dev &&
                   now.st_size == model->state.st_size && now.st_mtim.tv_sec == model->state.st_mtim.tv_sec &&
                   now.st_mtim.tv_nsec == model->state.st_mtim.tv_nsec
               ? "as the file is"
               : "the file has changed: a graceful restart takes it up";
}
