/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file preload_library.c
 * Loaded before a program's libraries (LD_PRELOAD): simulates a program that is linked with other database
 * client libraries than libdbi's modules. A call of one of these functions ends the program.
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
