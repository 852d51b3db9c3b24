/* SPDX-License-Identifier: Apache-2.0 */
/* Converts results to JSON. */
#include "sql/rows.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "apr_base64.h"
#include "apr_strings.h"

#include "base/hex.h"
#include "sql/catalogue.h"
#include "sql/connection.h"

/* @return NULL: out of memory; otherwise to be freed */
static char *from_hex(const char *digits, size_t *length)
{
    char *bytes;

    *length = strlen(digits) / 2;
    bytes = malloc(*length + 1);
    for (size_t i = 0; bytes != NULL && i < *length; i++) {
        /* If it is no digit, some value. */
        bytes[i] = (char)((vault_hex_value(digits[2 * i]) & 15) << 4 | (vault_hex_value(digits[2 * i + 1]) & 15));
    }
    return bytes;
}

/* The length of the UTF-8 character at `at`; 0: it is none. NUL counts as none, since HTML cannot represent it. */
static size_t character(const unsigned char *at, size_t left)
{
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : at[0] < 0xf5 ? 4 : 0;

    if (length == 0 || length > left || at[0] == 0) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((at[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) || (at[0] == 0xf0 && at[1] < 0x90) ||
        (at[0] == 0xf4 && at[1] > 0x8f)) {
        return 0;
    }
    return length;
}

static json_t *text_json(const char *text, size_t length)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t used = 0;
    json_t *string = memchr(text, 0, length) == NULL ? json_stringn(text, length) : NULL;
    char *repaired = string == NULL ? malloc(3 * length + 1) : NULL;

    if (string != NULL || repaired == NULL) {
        return string;
    }
    for (size_t left = length; left > 0;) {
        size_t whole = character(at, left);
        size_t step = whole != 0 ? whole : 1;

        memcpy(repaired + used, whole != 0 ? (const char *)at : "\xEF\xBF\xBD", whole != 0 ? whole : 3);
        used += whole != 0 ? whole : 3;
        at += step;
        left -= step;
    }
    string = json_stringn(repaired, used);
    free(repaired);
    return string;
}

static json_t *hex_text_json(const char *digits)
{
    size_t length;
    char *bytes = from_hex(digits, &length);
    json_t *string = bytes != NULL ? text_json(bytes, length) : NULL;

    free(bytes);
    return string;
}

static json_t *blob_json(const char *digits)
{
    size_t length;
    char *bytes = from_hex(digits, &length);
    char *encoded = bytes != NULL ? malloc((size_t)apr_base64_encode_len((int)length)) : NULL;
    json_t *string = NULL;

    if (encoded != NULL) {
        apr_base64_encode_binary(encoded, (const unsigned char *)bytes, (int)length);
        string = json_string(encoded);
    }
    free(encoded);
    free(bytes);
    return string;
}

/* jansson's parser does not depend on the locale, unlike strtod. */
static json_t *real_json(const char *digits)
{
    json_t *number = json_loads(digits, JSON_DECODE_ANY, NULL);

    if (json_is_integer(number)) {
        json_t *real = json_real((double)json_integer_value(number));

        json_decref(number);
        return real;
    }
    return number != NULL ? number : json_null();
}

/* An unsigned integer may be too large for JSON integers here: then the value is its digits, as text. */
static json_t *integer_json(const char *digits)
{
    apr_int64_t number;
    char *end;

    errno = 0;
    number = apr_strtoi64(digits, &end, 10);
    return errno == 0 && *end == '\0' ? json_integer(number) : text_json(digits, strlen(digits));
}

json_t *sql_cell_json(const char *cell)
{
    /* Each cell begins with its type, which may be missing if a user writes to vault_changes by hand. */
    if (cell == NULL || cell[0] == '\0') {
        return json_null();
    }
    switch (cell[0]) {
    case 'I':
        return integer_json(cell + 1);
    case 'R':
        return real_json(cell + 1);
    case 'H':
        return hex_text_json(cell + 1);
    case 'L':
        return json_boolean(cell[1] == 't');
    case 'B':
        return blob_json(cell + 1);
    default:
        return text_json(cell + 1, strlen(cell + 1));
    }
}

/* Collects rows one by one. */
typedef struct arriving_t {
    const char *const *names;
    json_t *rows; /* NULL: out of memory */
    int most;
    apr_size_t room; /* bytes; 0: no limit */
    apr_size_t used;
    int over; /* there are more rows */
} arriving_t;

json_t *sql_row_json(const char *const *names, const char *const *cells)
{
    json_t *row = json_object();

    for (unsigned i = 0; row != NULL && names[i] != NULL; i++) {
        /* This also fails for a NULL value. A name that is not UTF-8 cannot be in JSON. */
        if (json_object_set_new(row, names[i], sql_cell_json(cells[i])) != 0) {
            json_decref(row);
            row = NULL;
        }
    }
    return row;
}

/* The least length of the cell in JSON. */
static apr_size_t least_length(const char *cell)
{
    apr_size_t length = cell != NULL && cell[0] != '\0' ? strlen(cell + 1) : 0;

    switch (length != 0 ? cell[0] : '\0') {
    case 'H': /* two digits for each byte */
        return length / 2;
    case 'B': /* base64 has four letters for three bytes */
        return length / 3 * 2;
    default:
        return length;
    }
}

static int has_room(arriving_t *arriving, const char *const *cells)
{
    for (unsigned i = 0; arriving->room != 0 && arriving->names[i] != NULL; i++) {
        arriving->used += least_length(cells[i]);
    }
    arriving->over = arriving->room != 0 && arriving->used > arriving->room;
    return !arriving->over;
}

static int take_row_cb(void *data, const char *const *cells)
{
    arriving_t *arriving = data;

    if (json_array_size(arriving->rows) >= (size_t)arriving->most) {
        return 0;
    }
    if (!has_room(arriving, cells)) {
        return 0;
    }
    if (json_array_append_new(arriving->rows, sql_row_json(arriving->names, cells)) != 0) {
        json_decref(arriving->rows);
        arriving->rows = NULL;
    }
    return arriving->rows != NULL;
}

static void reverse(json_t *rows)
{
    for (size_t i = 0, last = json_array_size(rows); i + 1 < last; i++, last--) {
        json_t *row = json_incref(json_array_get(rows, i));

        json_array_set(rows, i, json_array_get(rows, last - 1));
        json_array_set_new(rows, last - 1, row);
    }
}

const char *const *sql_column_names(sql_call_t *c)
{
    int columns = c->table->columns->nelts;
    const char **names = apr_pcalloc(c->pool, ((apr_size_t)columns + 1) * sizeof(*names));

    for (int i = 0; i < columns; i++) {
        names[i] = sql_table_column(c->table, i)->name;
    }
    return names;
}

/* The limit of the rows in bytes; 0: none. */
static apr_size_t room_of(const sql_call_t *c)
{
    const vault_host_t *host = c->db->host;

    return c->call != NULL && host->size > offsetof(vault_host_t, room) && host->room != NULL ? host->room(c->call) : 0;
}

apr_status_t sql_fetch(sql_call_t *c, const sql_statement_t *sql, const char *const *names, int most, json_t **rows)
{
    arriving_t arriving = {.names = names != NULL ? names : (const char *const *)sql->names->elts,
                           .rows = json_array(),
                           .most = most,
                           .room = room_of(c)};
    apr_status_t rv = sql_conn_run(c, sql, take_row_cb, &arriving);

    *rows = NULL;
    if (rv == APR_SUCCESS && arriving.rows == NULL) {
        rv = sql_fail(c, APR_ENOMEM, "out of memory for rows");
    }
    if (rv == APR_SUCCESS && arriving.over) {
        rv =
            sql_fail(c, APR_ENOSPC,
                     "the rows have more than %lu bytes, which is more than one answer may have: ask for fewer of them",
                     (unsigned long)arriving.room);
    }
    if (rv != APR_SUCCESS) {
        json_decref(arriving.rows);
        return rv;
    }
    *rows = arriving.rows;
    return APR_SUCCESS;
}

apr_status_t sql_fetch_table(sql_call_t *c, const sql_statement_t *sql, int most, int backward, json_t **rows)
{
    apr_status_t rv = sql_fetch(c, sql, sql_column_names(c), most, rows);

    if (rv == APR_SUCCESS && backward) {
        reverse(*rows);
    }
    return rv;
}

const char *sql_json_text(const json_t *value, size_t flags, apr_pool_t *pool)
{
    char *text = json_dumps(value, flags);
    const char *copy = text != NULL ? apr_pstrdup(pool, text) : "";

    free(text);
    return copy;
}

const char *sql_text_of(const json_t *value, apr_pool_t *pool)
{
    if (value == NULL || json_is_null(value)) {
        return NULL;
    }
    if (json_is_string(value)) {
        return apr_pstrdup(pool, json_string_value(value));
    }
    if (json_is_integer(value)) {
        return apr_psprintf(pool, "%" APR_INT64_T_FMT, (apr_int64_t)json_integer_value(value));
    }
    return sql_json_text(value, JSON_ENCODE_ANY | JSON_COMPACT, pool);
}
