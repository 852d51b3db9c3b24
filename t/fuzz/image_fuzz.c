/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file image_fuzz.c
 * Parses any text as the image of a row. Checks that the result is the same as jansson's.
 */
#include "log/image.h"

#include "sql/rows.h"

#include "fuzz.h"

static void log_cb(int level, const char *fmt, ...)
{
}

static const vault_host_t host = {.abi = VAULT_FEED_ABI, .size = sizeof(vault_host_t), .log = log_cb};

static void is_as_jansson_has_it(const json_t *row, json_t *image)
{
    const char *name;
    json_t *cell;

    json_object_foreach(image, name, cell)
    {
        json_t *value = sql_cell_json(json_string_value(cell));

        must(json_equal(value, json_object_get(row, name)));
        json_decref(value);
    }
}

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    sql_database_t db = {.host = &host};
    sql_call_t c = {.db = &db, .pool = pool};
    json_t *image = json_loads(text, 0, NULL);
    json_t *changes = json_pack("[{s:s,s:n}]", "old", text, "new");

    if (changes != NULL && log_image_decode(&c, changes) == APR_SUCCESS) {
        is_as_jansson_has_it(json_object_get(json_array_get(changes, 0), "old"), image);
    }
    json_decref(image);
    json_decref(changes);
}
