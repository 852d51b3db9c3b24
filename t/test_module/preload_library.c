/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_library.c
 * Loaded in front of a program's libraries (LD_PRELOAD): the program is linked with another client library of each database than libdbi's
 * modules are, as if these came from elsewhere. Whoever calls these functions ends.
 */
#include <stdlib.h>

void sqlite3_prepare(void);
void PQconsumeInput(void);
void mysql_init(void);

void sqlite3_prepare(void)
{
    abort();
}

void PQconsumeInput(void)
{
    abort();
}

void mysql_init(void)
{
    abort();
}
