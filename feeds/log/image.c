/* SPDX-License-Identifier: Apache-2.0 */
/* Images of rows, as the change table keeps them. */
#include "log/image.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "sql/rows.h"

/* The text between the quotes that `*at` begins with; ends it with a NUL, and goes beyond. NULL: there are none. */
static char *take_quoted(char **at)
{
    char *begin = **at == '"' ? *at + 1 : NULL;
    char *end = begin != NULL ? strchr(begin, '"') : NULL;

    if (end == NULL) {
        return NULL;
    }
    *end = '\0';
    *at = end + 1;
    return begin;
}

/* One column, and where the next one is. 0: that is none, or has something escaped. */
static int take_column(json_t *row, char **at)
{
    char *name, *cell = NULL;

    *at += (*at)[1] == ' ' ? 2 : 1;
    name = take_quoted(at);
    if (name == NULL || **at != ':') {
        return 0;
    }
    *at += (*at)[1] == ' ' ? 2 : 1;
    if (strncmp(*at, "null", 4) == 0) {
        *at += 4;
    }
    else if ((cell = take_quoted(at)) == NULL) {
        return 0;
    }
    return json_object_set_new(row, name, sql_cell_json(cell)) == 0;
}

/* As most images are: an object of nulls and of texts without anything escaped. NULL: it is none, or jansson can say better what it is. */
static json_t *plain_row(char *at)
{
    json_t *row = json_object();
    int good = *at == '{' && at[1] == '"';

    while (good && strcmp(at, "}") != 0) {
        good = (*at == '{' || *at == ',') && take_column(row, &at);
    }
    if (!good) {
        json_decref(row);
        return NULL;
    }
    return row;
}

json_t *log_image_row(const char *image)
{
    char *copy = strchr(image, '\\') == NULL ? strdup(image) : NULL;
    json_t *plain = copy != NULL ? plain_row(copy) : NULL;
    json_t *cells = plain == NULL ? json_loads(image, 0, NULL) : NULL;
    const char *name;
    json_t *cell;
    void *safe;

    free(copy);
    if (plain != NULL) {
        return plain;
    }
    json_object_foreach_safe(cells, safe, name, cell)
    {
        json_t *value = sql_cell_json(json_string_value(cell));

        if (json_object_set_new(cells, name, value) != 0) {
            json_decref(cells);
            return NULL;
        }
    }
    return cells;
}

/* Replace an image by the row that it shows. -1: it cannot be read. */
static int decode(json_t *change, const char *name)
{
    json_t *image = json_object_get(change, name);
    json_t *row;

    if (!json_is_string(image)) {
        return 0;
    }
    row = log_image_row(json_string_value(image));
    return row != NULL ? json_object_set_new(change, name, row) : -1;
}

apr_status_t log_image_decode(sql_call_t *c, json_t *changes)
{
    for (size_t i = 0; i < json_array_size(changes); i++) {
        json_t *change = json_array_get(changes, i);

        if (decode(change, "old") != 0 || decode(change, "new") != 0) {
            return sql_fail(c, APR_EGENERAL, "the change table cannot be read: it holds a row that is none");
        }
    }
    return APR_SUCCESS;
}
