/* SPDX-License-Identifier: Apache-2.0 */
/* Properties and collections: views of columns and of foreign keys, so that all views of one column agree. */
#include "database/live/objects.h"

#include <string.h>

#include "apr_hash.h"
#include "apr_strings.h"

#include "database/changes/change_read.h"
#include "database/live/instances.h"
#include "database/live/links.h"
#include "database/model/properties.h"
#include "database/rows/arguments.h"
#include "database/rows/delta.h"
#include "database/rows/fold.h"
#include "database/rows/interests.h"
#include "database/rows/select.h"
#include "sql/catalogue.h"
#include "sql/connection.h"

/* ------------------------------------------------------------ entities */

static const char *name_in(const json_t *object, const char *member)
{
    return json_string_value(json_object_get(object, member));
}

/* @param found  NULL unless APR_SUCCESS */
static apr_status_t find_entity(sql_call_t *c, const char *name, const json_t **found)
{
    const database_model_t *model = ((const database_t *)c->db)->model;

    *found = model != NULL ? json_object_get(model->entities, name) : NULL;
    if (*found != NULL) {
        return APR_SUCCESS;
    }
    return sql_fail(c, APR_EINVAL, "%s entity \"%s\"",
                    model != NULL ? "the model has no" : "this feed has no model=FILE, so no", sql_shown(c, name));
}

/* Does c->table, the table of the entity, have every column of the entity? */
static apr_status_t check_columns(sql_call_t *c, const json_t *properties)
{
    const char *property;
    json_t *column;

    json_object_foreach((json_t *)(uintptr_t)properties, property, column)
    {
        if (sql_table_column_named(c->table, database_property_column(column)) == NULL) {
            return sql_fail(c, APR_EINVAL, "table \"%s\" has no column \"%s\"", sql_shown(c, c->table->name),
                            database_property_column(column));
        }
    }
    return APR_SUCCESS;
}

/* An element as pages see it: its key as "id", and its properties. */
static json_t *element(const sql_call_t *c, const json_t *entity, const json_t *row)
{
    json_t *object = json_object();
    const char *property;
    json_t *column;

    json_object_set_new(object, "id", database_key_shown(c->table, row, c->pool));
    json_object_foreach(json_object_get(entity, "properties"), property, column)
    {
        json_object_set(object, property, json_object_get(row, database_property_column(column)));
    }
    database_properties_show(json_object_get(entity, "properties"), object, c->pool);
    return object;
}

/* ------------------------------------------------------------ properties */

/* @param given  receives the name */
static apr_status_t check_property(sql_call_t *c, const json_t *properties, const char *name, apr_hash_t *given)
{
    if (json_object_get(properties, name) == NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"property\": the entity has no property \"%s\"", sql_shown(c, name));
    }
    if (apr_hash_get(given, name, APR_HASH_KEY_STRING) != NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"property\": \"%s\" is given twice", sql_shown(c, name));
    }
    apr_hash_set(given, name, APR_HASH_KEY_STRING, name);
    return APR_SUCCESS;
}

/* What is new of one property. NULL: it did not change. */
static json_t *say_property(const sql_call_t *c, const json_t *property, const char *name, const database_seen_t *seen)
{
    json_t *said = database_seen_attribute(seen, database_property_column(property), "property", name);
    json_t *old = json_object_get(said, "old"), *new = json_object_get(said, "new");

    if (said == NULL || database_property_type(property) == NULL) {
        return said;
    }
    json_object_set_new(said, "old", database_property_value(property, old, c->pool));
    json_object_set_new(said, "new", database_property_value(property, new, c->pool));
    /* The column may contain different values that the property shows as the same. */
    if (!seen->first && seen->old != NULL && seen->row != NULL &&
        json_equal(json_object_get(said, "old"), json_object_get(said, "new"))) {
        json_decref(said);
        return NULL;
    }
    return said;
}

/* Appends what is new of the properties in `names`, which are separated by commas. */
static apr_status_t say_properties(sql_call_t *c, const json_t *properties, const char *names,
                                   const database_seen_t *seen, json_t *said)
{
    apr_hash_t *given = apr_hash_make(c->pool);
    char *rest = apr_pstrdup(c->pool, names);

    for (const char *name = strsep(&rest, ","); name != NULL; name = strsep(&rest, ",")) {
        apr_status_t rv = check_property(c, properties, name, given);
        json_t *one;

        if (rv != APR_SUCCESS) {
            return rv;
        }
        one = seen->changed ? say_property(c, json_object_get(properties, name), name, seen) : NULL;
        if (one != NULL) {
            json_array_append_new(said, one);
        }
    }
    return APR_SUCCESS;
}

apr_status_t database_property_changes_body(sql_call_t *c, const char *entity, json_t **rows)
{
    const json_t *found = NULL;
    const char *id, *names;
    database_seen_t seen = {0};
    apr_status_t rv = find_entity(c, entity, &found);

    if (rv == APR_SUCCESS) {
        rv = database_argument_text(c, "id", &id);
    }
    if (rv == APR_SUCCESS) {
        rv = database_argument_text(c, "property", &names);
    }
    if (rv == APR_SUCCESS) {
        c->about.kind = "entity";
        c->about.name = entity;
        rv = database_see_row(c, name_in(found, "table"), id, &seen);
    }
    if (rv == APR_SUCCESS && seen.changed) {
        rv = check_columns(c, json_object_get(found, "properties"));
    }
    c->about.kind = NULL;
    if (rv == APR_SUCCESS) {
        json_t *said = json_array();

        rv = say_properties(c, json_object_get(found, "properties"), names, &seen, said);
        if (rv == APR_SUCCESS && json_array_size(said) > 0) {
            *rows = json_incref(said);
        }
        json_decref(said);
    }
    database_seen_free(&seen);
    return rv;
}

/* ------------------------------------------------------------ collections */

/* A collection of one object. */
typedef struct collection_t {
    const char *name;
    const json_t *element; /* the entity of the elements */
    const char *elements;  /* the table of the elements */
    const char *table;     /* the table of the foreign key: that of the elements, or the link table */
    database_key_t key;    /* the foreign key: the id of the object */
    /* the columns of the link table with the element's key; NULL: there is no link table */
    const apr_array_header_t *link;
} collection_t;

static apr_status_t find_collection(sql_call_t *c, const char *entity, collection_t *of)
{
    const json_t *owner, *collection, *through, *found_by;
    const char *id;
    apr_status_t rv = find_entity(c, entity, &owner);

    if (rv == APR_SUCCESS) {
        rv = database_argument_text(c, "id", &id);
    }
    if (rv == APR_SUCCESS) {
        rv = database_argument_text(c, "collection", &of->name);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    collection = json_object_get(json_object_get(owner, "collections"), of->name);
    if (collection == NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"collection\": the entity \"%s\" has no collection \"%s\"",
                        sql_shown(c, entity), sql_shown(c, of->name));
    }
    through = json_object_get(collection, "through");
    found_by = through != NULL ? through : collection;
    rv =
        database_key_parse(c, "id", database_model_columns(json_object_get(found_by, "column"), c->pool), id, &of->key);
    if (rv == APR_SUCCESS) {
        rv = find_entity(c, name_in(collection, "entity"), &of->element);
    }
    of->elements = name_in(of->element, "table");
    of->table = through != NULL ? name_in(through, "table") : of->elements;
    of->link = through != NULL ? database_model_columns(json_object_get(through, "element"), c->pool) : NULL;
    return rv;
}

/* Shows all elements, as at a first view. */
static apr_status_t take_elements(sql_call_t *c, const database_change_read_t *read, const collection_t *of,
                                  database_delta_t *delta)
{
    json_array_extend(delta->added, read->elements);
    return read->odd == NULL
               ? APR_SUCCESS
               : sql_fail(c, APR_EINVAL, "argument \"id\": \"%s\" must be given as the database writes it: \"%s\"",
                          sql_shown(c, of->key.text), sql_shown(c, read->odd));
}

/* An element has not changed if only columns that no property shows have. */
static void add_folded(const sql_call_t *c, const collection_t *of, const database_fold_t *row, database_delta_t *delta)
{
    json_t *old = row->old != NULL ? element(c, of->element, row->old) : NULL;
    json_t *new = row->new != NULL ? element(c, of->element, row->new) : NULL;

    if (old == NULL) {
        json_array_append(delta->added, new);
    }
    else if (new == NULL) {
        json_array_append(delta->removed, old);
    }
    else if (!json_equal(old, new)) {
        json_array_append(delta->changed, new);
    }
    json_decref(old);
    json_decref(new);
}

static database_links_t links_of(const database_change_read_t *read, const collection_t *of)
{
    const database_links_t links = {
        .table = read->table, .owner = &of->key, .element = of->link, .elements = read->with_table};

    return links;
}

static apr_status_t fold_changes(sql_call_t *c, const database_change_read_t *read, const collection_t *of,
                                 database_delta_t *delta)
{
    const database_links_t links = links_of(read, of);
    const json_t *of_elements = read->with != NULL ? read->with->changes : NULL;
    apr_array_header_t *folded;
    json_t *held = NULL;
    apr_status_t rv = APR_SUCCESS;

    if (of->link != NULL) {
        rv = database_links_fold(c, &links, read->changes, of_elements, &folded, &held);
        c->table = links.elements;
    }
    else {
        folded = database_fold_members(read->changes, &of->key, c->pool);
    }
    for (int i = 0; i < folded->nelts && rv == APR_SUCCESS; i++) {
        add_folded(c, of, &APR_ARRAY_IDX(folded, i, database_fold_t), delta);
    }
    c->table = links.table;
    json_decref(held);
    return rv;
}

/* A first view of a collection by a link table: sets read->elements, as for a collection by a column. */
static apr_status_t read_linked(sql_call_t *c, database_change_read_t *read, const collection_t *of)
{
    const database_links_t links = links_of(read, of);
    json_t *rows = NULL;
    apr_status_t rv = database_links_all(c, &links, c->db->rows, &rows, &read->odd);

    read->elements = json_array();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_array_append_new(read->elements, element(c, of->element, json_array_get(rows, i)));
    }
    c->table = links.table;
    json_decref(rows);
    return rv;
}

/* Does the collection fit the model? */
static apr_status_t check_collection(sql_call_t *c, const database_change_read_t *read, const collection_t *of)
{
    const database_links_t links = links_of(read, of);
    const char *missing = database_key_missing(of->key.columns, c->table);
    apr_status_t rv;

    c->table = of->link != NULL ? read->with_table : read->table;
    rv = check_columns(c, json_object_get(of->element, "properties"));
    c->table = read->table;
    if (rv == APR_SUCCESS && of->link != NULL) {
        return database_links_check(c, &links);
    }
    return rv != APR_SUCCESS || missing == NULL
               ? rv
               : sql_fail(c, APR_EINVAL, "table \"%s\" has no column \"%s\"", sql_shown(c, of->table), missing);
}

/* @param holds_column  the page holds the interest of the foreign key's column as well */
static apr_status_t see_collection(sql_call_t *c, database_change_read_t *read, const collection_t *of,
                                   int holds_column, json_t **rows)
{
    database_delta_t delta;
    apr_status_t rv = check_collection(c, read, of);

    if (rv == APR_SUCCESS && read->span.since == NULL) {
        rv = database_check_name(c, &of->key);
    }
    if (rv == APR_SUCCESS && read->span.since == NULL && of->link != NULL) {
        rv = read_linked(c, read, of);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    read->is_absent =
        read->span.since == NULL && json_array_size(read->elements) == 0 && database_has_spellings(c, &of->key);
    if (read->is_absent && !holds_column) {
        return APR_SUCCESS;
    }
    database_delta_make(&delta);
    if (read->span.since != NULL) {
        rv = fold_changes(c, read, of, &delta);
    }
    else {
        rv = take_elements(c, read, of, &delta);
    }
    if (rv == APR_SUCCESS) {
        rv = database_change_read_keep(c, read);
    }
    *rows = database_delta_answer(&delta, read->span.since == NULL && !read->was_absent, read->reset);
    return rv;
}

static apr_status_t see_collection_once(sql_call_t *c, const collection_t *of, int holds_column, int *is_absent,
                                        json_t **rows)
{
    const database_wanted_t wanted = {
        .most = c->db->rows,
        .alone = of->link == NULL,
        .with = of->link != NULL ? of->elements : NULL,
        .members = &of->key,
        .properties = json_object_get(of->element, "properties"),
    };
    database_change_read_t read;
    apr_status_t rv = database_change_read_begin_watched(c, &read, of->table, &wanted);

    if (rv == APR_SUCCESS) {
        rv = database_change_read_end(c, &read, see_collection(c, &read, of, holds_column, rows));
    }
    *is_absent = rv == APR_SUCCESS && read.is_absent;
    return rv;
}

/* For the elements of all objects. An interest for each column, since a change of any of them may add an element. */
static apr_status_t create_columns(sql_call_t *c, const collection_t *of, int *needed)
{
    apr_status_t rv = APR_SUCCESS;

    for (int i = 0; i < of->key.columns->nelts && rv == APR_SUCCESS; i++) {
        int moved = 0;

        rv = database_interest_create(
            c, database_interest_column(of->table, database_key_column(of->key.columns, i), c->pool), &moved);
        *needed |= moved;
    }
    return rv;
}

apr_status_t database_collection_changes_body(sql_call_t *c, const char *entity, json_t **rows)
{
    collection_t of = {0};
    int was_absent = database_change_read_was_absent(c);
    int needed = 0, of_column = 0, of_elements = 0, is_absent;
    apr_status_t rv = find_collection(c, entity, &of);

    if (rv == APR_SUCCESS) {
        rv = database_interest_create(c, database_interest_members(of.table, of.key.columns, of.key.text, c->pool),
                                      &needed);
    }
    if (rv == APR_SUCCESS && of.link != NULL) {
        rv = database_interest_create(c, database_interest_table(of.elements, c->pool), &of_elements);
    }
    if (rv == APR_SUCCESS && was_absent) {
        rv = create_columns(c, &of, &of_column);
    }
    if (rv != APR_SUCCESS || !(needed || of_column || of_elements)) {
        return rv;
    }
    c->about.kind = "entity";
    c->about.name = entity;
    c->about.part = of.name;
    rv = see_collection_once(c, &of, was_absent, &is_absent, rows);
    if (rv == APR_SUCCESS && is_absent && !was_absent) {
        /* Elements may be added with a key that is written in another way. Read again, now that the page holds this
         * interest. */
        sql_conn_give_back(c);
        rv = create_columns(c, &of, &of_column);
        rv = rv == APR_SUCCESS ? see_collection_once(c, &of, 1, &is_absent, rows) : rv;
    }
    return rv;
}
