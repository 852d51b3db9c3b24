/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file json_text.h
 * Writes JSON as text, with the same bytes as jansson's JSON_COMPACT. An answer to a poll consists mostly of
 * one long string, which jansson would copy and validate first, and then write character by character.
 *
 * A writer begins with all zeros. It belongs to one thread.
 */
#ifndef VAULT_JSON_TEXT_H
#define VAULT_JSON_TEXT_H

#include <jansson.h>

#include "apr.h"

typedef struct vault_json_text_t {
    char *text; /* text.h */
    apr_size_t length, room;
    int lost; /* an allocation failed, or a value cannot be written as JSON: the result is NULL */
} vault_json_text_t;

/** Append text that is JSON already. */
void vault_json_text_raw(vault_json_text_t *t, const char *json);

/** Append `length` bytes that are JSON already. */
void vault_json_text_bytes(vault_json_text_t *t, const char *json, apr_size_t length);

/** Write a string, in quotes.
 * @param s  UTF-8 (utf8.h); may hold NULs */
void vault_json_text_string(vault_json_text_t *t, const char *s, apr_size_t length);

void vault_json_text_number(vault_json_text_t *t, apr_uint64_t n);

/** Append a value of jansson. Takes over the reference. If it is NULL, the whole text is lost. */
void vault_json_text_value(vault_json_text_t *t, json_t *value);

/** Append what `other` has written and reset `other`. If `other` has lost its text, this text is lost, too. */
void vault_json_text_take(vault_json_text_t *t, vault_json_text_t *other);

/** Discard the text and reset the writer. */
void vault_json_text_drop(vault_json_text_t *t);

/** Finish the text and reset the writer.
 * @return the text, NUL-terminated, to be freed with vault_text_free(); NULL: it was lost */
char *vault_json_text_end(vault_json_text_t *t);

#endif
