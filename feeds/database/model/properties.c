/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of entities: see properties.h. */
#include "database/model/properties.h"

#include <string.h>

#include "sql/rows.h"

/* Each whole number below it is exactly one double. */
#define EXACT_MAX 9007199254740992.0

const char *database_property_column(const json_t *property)
{
    return json_string_value(json_is_object(property) ? json_object_get(property, "column") : property);
}

const char *database_property_type(const json_t *property)
{
    return json_string_value(json_object_get(property, "type"));
}

/* A decimal is a text in the form of the database. */
static json_t *number_of(json_t *value)
{
    json_t *number =
        json_is_string(value) ? json_loads(json_string_value(value), JSON_DECODE_ANY, NULL) : json_incref(value);

    if (json_is_boolean(number)) {
        json_t *digit = json_integer(json_is_true(number));

        json_decref(number);
        return digit;
    }
    if (!json_is_number(number)) {
        json_decref(number);
        return NULL;
    }
    return number;
}

/* @return NULL: it is none */
static json_t *integer_of(json_t *value, apr_pool_t *pool)
{
    json_t *number = number_of(value);
    double real = json_number_value(number);

    if (json_is_real(number)) {
        json_decref(number);
        return real > -EXACT_MAX && real < EXACT_MAX && real == (double)(json_int_t)real
                   ? json_integer((json_int_t)real)
                   : NULL;
    }
    return number;
}

static json_t *real_of(json_t *value, apr_pool_t *pool)
{
    json_t *number = number_of(value);
    json_t *real = number != NULL ? json_real(json_number_value(number)) : NULL;

    json_decref(number);
    return real;
}

static json_t *boolean_of(json_t *value, apr_pool_t *pool)
{
    json_t *number = number_of(value);
    json_t *boolean = number != NULL ? json_boolean(json_number_value(number) != 0) : NULL;

    json_decref(number);
    return boolean;
}

static json_t *text_of(json_t *value, apr_pool_t *pool)
{
    return json_string(sql_text_of(value, pool));
}

static const struct {
    const char *name;
    json_t *(*value)(json_t *value, apr_pool_t *pool);
} types[] = {{"integer", integer_of}, {"real", real_of}, {"text", text_of}, {"boolean", boolean_of}};

#define TYPES (sizeof(types) / sizeof(types[0]))

int database_property_is_type(const char *type)
{
    for (size_t i = 0; i < TYPES; i++) {
        if (strcmp(types[i].name, type) == 0) {
            return 1;
        }
    }
    return 0;
}

json_t *database_property_value(const json_t *property, json_t *value, apr_pool_t *pool)
{
    const char *type = database_property_type(property);
    json_t *shown = NULL;

    for (size_t i = 0; type != NULL && value != NULL && i < TYPES; i++) {
        if (strcmp(types[i].name, type) == 0) {
            shown = types[i].value(value, pool);
        }
    }
    return shown != NULL ? shown : value != NULL ? json_incref(value) : json_null();
}

void database_properties_show(const json_t *properties, json_t *row, apr_pool_t *pool)
{
    const char *name;
    json_t *property;

    /* jansson's iterator takes a pointer that is not const, but changes nothing. */
    json_object_foreach((json_t *)(uintptr_t)properties, name, property)
    {
        if (database_property_type(property) != NULL) {
            json_object_set_new(row, name, database_property_value(property, json_object_get(row, name), pool));
        }
    }
}
