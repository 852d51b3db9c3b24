/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file methods.h
 * What the feed can be asked. docs/feeds.md describes each method for those who call it.
 */
#ifndef DATABASE_METHODS_H
#define DATABASE_METHODS_H

#include "database/model/database.h"

extern const vault_feed_method_t database_methods[];

#endif
