/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file properties.h
 * Properties of entities: a column, and the type that its values are shown as.
 *
 *     "name": "full_name"                                  as the database gives them
 *     "active": {"column": "is_active", "type": "boolean"}  1 and 0 of MariaDB and SQLite as true and false
 */
#ifndef DATABASE_PROPERTIES_H
#define DATABASE_PROPERTIES_H

#include <jansson.h>

#include "apr_pools.h"

/** The column of a property of the model. */
const char *database_property_column(const json_t *property);
/** The type of a property of the model: "integer", "real", "text" or "boolean"; NULL: none. */
const char *database_property_type(const json_t *property);
/** "integer, real, text or boolean", and whether `type` is one of them. */
#define DATABASE_PROPERTY_TYPES "integer, real, text or boolean"
int database_property_is_type(const char *type);

/** A value of its column as the property shows it. A value that is not of the type is not changed, and neither is null.
 * @param value  borrowed; NULL: as null
 * @return a new reference */
json_t *database_property_value(const json_t *property, json_t *value, apr_pool_t *pool);

/** Replace the values of `row`, by the names of properties, by the values that these show. */
void database_properties_show(const json_t *properties, json_t *row, apr_pool_t *pool);

#endif
