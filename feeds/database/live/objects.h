/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file objects.h
 * The methods for objects: properties and collections of entities.
 */
#ifndef DATABASE_OBJECTS_H
#define DATABASE_OBJECTS_H

#include "database/model/database.h"

/** Bodies of methods (methods.c). */
apr_status_t database_property_changes_body(sql_call_t *c, const char *entity, json_t **rows);
apr_status_t database_collection_changes_body(sql_call_t *c, const char *entity, json_t **rows);

#endif
