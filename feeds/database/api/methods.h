/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file methods.h
 * The methods of the feed. docs/feeds.md describes each of them for its callers.
 */
#ifndef DATABASE_METHODS_H
#define DATABASE_METHODS_H

#include "database/model/database.h"

extern const vault_feed_method_t database_methods[];

#endif
