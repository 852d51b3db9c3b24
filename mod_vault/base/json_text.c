/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON. Spans of a string that need no escape are copied at once. */
#include "base/json_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"

/* The first capacity, enough for most answers. */
#define ROOM 1024
/* A finished text gives back unused capacity if there is more of it than this. */
#define SLACK (16 * 1024)
/* The longest escape sequence and the longest number, in bytes. */
#define ESCAPE_MAX 6
#define NUMBER_MAX 20

/* @return a position with room for `length` bytes and a NUL; NULL: the text is lost */
static char *make_room(vault_json_text_t *t, apr_size_t length)
{
    if (t->lost) {
        return NULL;
    }
    if (t->room - t->length <= length) {
        apr_size_t room = 2 * t->room + length + ROOM;
        char *text = vault_text_resize(t->text, room);
        if (!text) {
            t->lost = 1;
            return NULL;
        }
        t->text = text;
        t->room = room;
    }
    return t->text + t->length;
}

void vault_json_text_bytes(vault_json_text_t *t, const char *json, apr_size_t length)
{
    char *to = make_room(t, length);

    if (to) {
        memcpy(to, json, length);
        t->length += length;
    }
}

void vault_json_text_raw(vault_json_text_t *t, const char *json)
{
    vault_json_text_bytes(t, json, strlen(json));
}

static int is_plain(char c)
{
    static const char special[256] = {[0 ... ' ' - 1] = 1, ['"'] = 1, ['\\'] = 1};

    return !special[(unsigned char)c];
}

static apr_size_t escape(char to[ESCAPE_MAX], char c)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt", digits[] = "0123456789ABCDEF";
    const char *letter;

    memcpy(to, "\\u00", 4);
    for (letter = letters; *letter; letter += 2) {
        if (*letter == c) {
            to[1] = letter[1];
            return 2;
        }
    }
    to[4] = digits[(unsigned char)c >> 4];
    to[5] = digits[c & 15];
    return ESCAPE_MAX;
}

void vault_json_text_string(vault_json_text_t *t, const char *s, apr_size_t length)
{
    const char *end = s + length, *plain;
    char escaped[ESCAPE_MAX];

    vault_json_text_bytes(t, "\"", 1);
    while (s < end) {
        for (plain = s; s < end && is_plain(*s); s++) {
        }
        vault_json_text_bytes(t, plain, (apr_size_t)(s - plain));
        if (s < end) {
            vault_json_text_bytes(t, escaped, escape(escaped, *s++));
        }
    }
    vault_json_text_bytes(t, "\"", 1);
}

void vault_json_text_number(vault_json_text_t *t, apr_uint64_t n)
{
    char digits[NUMBER_MAX], *digit = digits + NUMBER_MAX;

    do {
        *--digit = (char)('0' + n % 10);
        n /= 10;
    } while (n);
    vault_json_text_bytes(t, digit, (apr_size_t)(digits + NUMBER_MAX - digit));
}

void vault_json_text_value(vault_json_text_t *t, json_t *value)
{
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

    json_decref(value);
    if (text) {
        vault_json_text_raw(t, text);
    }
    else {
        t->lost = 1;
    }
    free(text);
}

void vault_json_text_drop(vault_json_text_t *t)
{
    vault_text_free(t->text);
    memset(t, 0, sizeof(*t));
}

void vault_json_text_take(vault_json_text_t *t, vault_json_text_t *other)
{
    t->lost |= other->lost;
    vault_json_text_bytes(t, other->text ? other->text : "", other->length);
    vault_json_text_drop(other);
}

/* An answer can stay in memory for a long time, until a slow client has read it, and up to half of its block
 * may be unused. */
static char *shrink(char *text, apr_size_t length, apr_size_t room)
{
    char *smaller = room - length > SLACK ? vault_text_resize(text, length) : NULL;

    return smaller ? smaller : text;
}

char *vault_json_text_end(vault_json_text_t *t)
{
    char *end = make_room(t, 0), *text = t->text;

    if (end) {
        *end = '\0';
        text = shrink(text, t->length + 1, t->room);
    }
    else {
        vault_text_free(text);
        text = NULL;
    }
    memset(t, 0, sizeof(*t));
    return text;
}
