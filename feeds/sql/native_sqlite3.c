/* SPDX-License-Identifier: Apache-2.0 */
/* What is done past libdbi's sqlite3 module.
 *
 * SQLite itself is reached through what the module hands out of it, so that there is one SQLite in the process, the
 * module's.
 */
#include "native_sqlite3.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <dbi/dbi-dev.h>
#include <jansson.h>

#include "apr_escape.h"
#include "apr_strings.h"

/* Of sqlite3.h: types of values, an encoding, a property of a function. */
enum { TYPE_INTEGER = 1, TYPE_REAL = 2, TYPE_TEXT = 3, TYPE_BLOB = 4, ENCODING_UTF8 = 1, DETERMINISTIC = 0x800 };

typedef void (*callback_fn)(void *context, int count, void **values);

/* By name, in the order of `functions`. */
static const char *const names[] = {"sqlite3_create_function", "sqlite3_value_type",  "sqlite3_value_text",
                                    "sqlite3_value_blob",      "sqlite3_value_bytes", "sqlite3_value_double",
                                    "sqlite3_result_text",     "sqlite3_result_int"};

#define FUNCTIONS (sizeof(names) / sizeof(names[0]))

/* const after start, as long as a feed of the process is at work */
static union {
    void *found[FUNCTIONS];
    struct {
        int (*create_function)(void *db, const char *name, int arguments, int how, void *data, callback_fn function,
                               callback_fn step, void (*final)(void *));
        int (*value_type)(void *value);
        const char *(*value_text)(void *value);
        const void *(*value_blob)(void *value);
        int (*value_bytes)(void *value);
        double (*value_double)(void *value);
        void (*result_text)(void *context, const char *text, int length, void (*release)(void *));
        void (*result_int)(void *context, int number);
    } of;
} functions;

static int works; /* likewise */

/* The cell `kind`, then `length` bytes without a NUL; they are SQLite's from here on. With a NUL at its end, and without a length, it is
 * handed out as it is: else SQLite makes a copy to have one there. */
static void answer(void *context, char kind, const char *bytes, size_t length)
{
    char *cell = malloc(length + 2);

    if (cell != NULL) {
        cell[0] = kind;
        memcpy(cell + 1, bytes, length);
        cell[length + 1] = '\0';
        functions.of.result_text(context, cell, -1, free);
    }
}

static void answer_hex(void *context, char kind, const void *bytes, size_t length)
{
    char *digits = malloc(2 * length + 1);

    if (digits != NULL && apr_escape_hex(digits, bytes, length, 0, NULL) == APR_SUCCESS) {
        answer(context, kind, digits, 2 * length);
    }
    else if (length == 0) {
        answer(context, kind, "", 0);
    }
    free(digits);
}

/* jansson's writer does not obey the locale, as printf does; 17 digits give every double back. It has none for infinity. */
static void answer_real(void *context, double number)
{
    json_t *real = json_real(number);
    char *digits = real != NULL ? json_dumps(real, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;

    answer(context, 'R', digits != NULL ? digits : "", digits != NULL ? strlen(digits) : 0);
    free(digits);
    json_decref(real);
}

/* NULL stays NULL, which is what a function answers that answers nothing. */
static void cell_cb(void *context, int count, void **values)
{
    void *value = values[0];
    const char *text;
    size_t length;

    switch (functions.of.value_type(value)) {
    case TYPE_INTEGER:
        text = functions.of.value_text(value);
        answer(context, 'I', text, strlen(text));
        break;
    case TYPE_REAL:
        answer_real(context, functions.of.value_double(value));
        break;
    case TYPE_TEXT:
        text = functions.of.value_text(value);
        length = (size_t)functions.of.value_bytes(value);
        if (memchr(text, 0, length) != NULL) {
            answer_hex(context, 'H', text, length);
        }
        else {
            answer(context, 'T', text, length);
        }
        break;
    case TYPE_BLOB:
        text = functions.of.value_blob(value);
        answer_hex(context, 'B', text, (size_t)functions.of.value_bytes(value));
        break;
    }
}

/* As bytes: for a text SQLite would make a copy that ends with a NUL. */
static int has(void *row, void *value)
{
    const char *bytes = functions.of.value_blob(row);
    const char *wanted = functions.of.value_blob(value);

    return bytes != NULL && wanted != NULL &&
           memmem(bytes, (size_t)functions.of.value_bytes(row), wanted, (size_t)functions.of.value_bytes(value)) !=
               NULL;
}

static void has_cb(void *context, int count, void **values)
{
    functions.of.result_int(context, has(values[1], values[2]) || has(values[0], values[2]));
}

int sql_native_sqlite3_find(dbi_driver driver, const char *const *wanted, void **found, apr_size_t count)
{
    int all = 1;

    for (apr_size_t i = 0; i < count; i++) {
        void *function = dbi_driver_specific_function(driver, wanted[i]);

        if (found[i] != function) {
            found[i] = function;
        }
        all &= function != NULL;
    }
    return all;
}

void sql_native_sqlite3_start(dbi_driver driver)
{
    int all = sql_native_sqlite3_find(driver, names, functions.found, FUNCTIONS);

    if (works != all) {
        works = all;
    }
}

int sql_native_sqlite3_works(void)
{
    return works;
}

int sql_native_sqlite3_register(dbi_conn dbi)
{
    void *db = ((dbi_conn_t *)dbi)->connection;
    const int how = ENCODING_UTF8 | DETERMINISTIC;

    return !works ||
           (functions.of.create_function(db, SQL_NATIVE_SQLITE3_CELL, 1, how, NULL, cell_cb, NULL, NULL) == 0 &&
            functions.of.create_function(db, SQL_NATIVE_SQLITE3_HAS, 3, how, NULL, has_cb, NULL, NULL) == 0);
}
