/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file json_text.h
 * JSON written as text, byte for byte as jansson's JSON_COMPACT has it. For what polls are told: it has few forms and is nearly all one
 * string, which jansson copies, checks and writes character by character.
 *
 * A writer begins with all zeros. Thread: the one that has the writer.
 */
#ifndef VAULT_JSON_TEXT_H
#define VAULT_JSON_TEXT_H

#include <jansson.h>

#include "apr.h"

typedef struct vault_json_text_t {
    char *text; /* text.h */
    apr_size_t length, room;
    int lost; /* there was no memory, or something that cannot be JSON: nothing comes of it */
} vault_json_text_t;

/** Write what is JSON already. */
void vault_json_text_raw(vault_json_text_t *t, const char *json);

/** The same, of so many bytes. */
void vault_json_text_bytes(vault_json_text_t *t, const char *json, apr_size_t length);

/** Write a string, in quotes.
 * @param s  UTF-8 (utf8.h); may hold NULs */
void vault_json_text_string(vault_json_text_t *t, const char *s, apr_size_t length);

void vault_json_text_number(vault_json_text_t *t, apr_uint64_t n);

/** Write what jansson has made. Takes the reference; NULL: nothing comes of the whole. */
void vault_json_text_value(vault_json_text_t *t, json_t *value);

/** Write what another writer has written. That one is as at its beginning; what it has lost this one loses. */
void vault_json_text_take(vault_json_text_t *t, vault_json_text_t *other);

/** Forget it all. The writer is as at its beginning. */
void vault_json_text_drop(vault_json_text_t *t);

/** The end of it. The writer is as at its beginning.
 * @return the text, NUL-terminated, for vault_text_free(); NULL: it was lost */
char *vault_json_text_end(vault_json_text_t *t);

#endif
