/* SPDX-License-Identifier: Apache-2.0 */
/* Decodes images of rows, as the change table stores them. */
#include "log/image.h"

#include "sql/rows.h"

json_t *log_image_row(const char *image)
{
    json_t *cells = json_loads(image, 0, NULL);
    const char *name;
    json_t *cell;
    void *safe;

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

/* Replaces an image by the row that it describes. -1: it cannot be read. */
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
            return sql_fail(c, APR_EGENERAL, "the change table cannot be read: an image in it is not valid");
        }
    }
    return APR_SUCCESS;
}
