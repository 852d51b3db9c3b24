/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file native_sqlite3.h
 * Cells of SQLite that cost less: it spends far more on reading a statement than on most rows.
 *
 * Cells (driver.h) are made by a function of ours rather than by an expression, which is long. The function, `vault_cell(X)`,
 * is known to the connections that are made here and to no other: what stays in a database, as a trigger does, cannot use it.
 * Nor `vault_has(X,Y,Z)`, which is `instr(X,Z)>0 OR instr(Y,Z)>0` of texts, a third of its price, and never NULL.
 */
#ifndef SQL_NATIVE_SQLITE3_H
#define SQL_NATIVE_SQLITE3_H

#include <dbi/dbi.h>

#include "apr.h"

#define SQL_NATIVE_SQLITE3_CELL "vault_cell"
#define SQL_NATIVE_SQLITE3_HAS "vault_has"

/** Find functions of SQLite that libdbi's module hands out. Another feed of the process may be at work already, with the same: what is there is not
 * written again.
 * @return whether all were found */
int sql_native_sqlite3_find(dbi_driver driver, const char *const *wanted, void **found, apr_size_t count);

/** Find what is needed in libdbi's module. Before any connection is made; again, for another feed, does no harm. */
void sql_native_sqlite3_start(dbi_driver driver);

/** Was it found? If not, cells are made by the expression, and all else by statements through libdbi. Any thread. */
int sql_native_sqlite3_works(void);

/** Make both functions known to a connection. Does nothing unless it works. @return whether that went well */
int sql_native_sqlite3_register(dbi_conn dbi);

#endif
