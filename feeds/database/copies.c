/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of changes: see copies.h. */
#include "copies.h"

#include <string.h>

#include "apr_strings.h"

#include "catalogue.h"
#include "image.h"

/* Words of a copy: its checksum and that of its head, which is the length of the text in bytes, and numbers; the texts, each with a NUL at its end. */
enum { WORD_CHECK, WORD_HEAD, WORD_LENGTH, WORD_ID, WORD_XID, WORD_TOP, WORD_SHAPE, WORD_TEXT };

#define TEXT_MAX ((DATABASE_COPY_WORDS - WORD_TEXT) * sizeof(apr_uint64_t))

#define IS_TEXT '='
#define IS_NULL '-'

/* With its NUL, so that texts one after the other stay apart. */
static apr_uint64_t mix_text(apr_uint64_t sum, const char *text)
{
    do {
        sum = database_copy_mix(sum, (unsigned char)*text);
    } while (*text++ != '\0');
    return sum;
}

apr_uint64_t database_copy_shape(const sql_table_t *table)
{
    const char *shape = table->shape != NULL ? table->shape : table->definition;
    apr_uint64_t sum = 1;

    if (shape == NULL) {
        return 0;
    }
    for (int i = 0; i < table->columns->nelts; i++) {
        sum = mix_text(sum, sql_table_column(table, i)->name);
    }
    sum = mix_text(sum, table->key != NULL ? table->key : "");
    return mix_text(sum, shape);
}

static apr_uint64_t add_words(apr_uint64_t sum, const apr_uint64_t *words, int from, int to)
{
    for (int i = from; i < to; i++) {
        sum = database_copy_mix(sum, words[i]);
    }
    return sum;
}

static apr_uint64_t head_sum(apr_uint64_t life, apr_int64_t number, const apr_uint64_t *words)
{
    apr_uint64_t sum = database_copy_mix(database_copy_mix(1, life), (apr_uint64_t)number);

    return add_words(sum, words, WORD_LENGTH, WORD_TEXT);
}

static int words_of(apr_uint64_t length)
{
    return WORD_TEXT + (int)((length + sizeof(apr_uint64_t) - 1) / sizeof(apr_uint64_t));
}

/* ------------------------------------------------------------ pack, leave */

/* A text, or that it is NULL, at `*at`. @return 0: there is no room for it, or it has a NUL */
static int pack_text(char **at, const char *end, const char *kind, const json_t *value)
{
    const char *text = json_is_string(value) ? json_string_value(value) : "";
    apr_size_t length = strlen(text);

    if ((apr_size_t)(end - *at) < strlen(kind) + length + 1 ||
        (json_is_string(value) && length != json_string_length(value))) {
        return 0;
    }
    *at = apr_cpystrn(*at, kind, strlen(kind) + 1);
    memcpy(*at, text, length + 1);
    *at += length + 1;
    return 1;
}

static int pack_member(char **at, const char *end, const json_t *change, const char *name)
{
    const json_t *value = json_object_get(change, name);
    const char kind[] = {json_is_string(value) ? IS_TEXT : IS_NULL, '\0'};

    return pack_text(at, end, kind, value);
}

void database_copy_pack(database_packed_t *packed, const sql_table_t *table, const json_t *change)
{
    char *begin = (char *)&packed->words[WORD_TEXT];
    char *at = begin;
    const char *end = begin + TEXT_MAX;

    memset(packed, 0, sizeof(*packed));
    packed->id = json_integer_value(json_object_get(change, "id"));
    packed->xid = json_integer_value(json_object_get(change, "xid"));
    packed->is_alone = json_integer_value(json_object_get(change, "alone")) == 1;
    packed->words[WORD_ID] = (apr_uint64_t)packed->id;
    packed->words[WORD_XID] = (apr_uint64_t)packed->xid;
    packed->saw = json_string_value(json_object_get(change, "now"));
    packed->words[WORD_SHAPE] = database_copy_shape(table);
    if (strlen(table->name) >= TEXT_MAX) {
        return;
    }
    memcpy(at, table->name, strlen(table->name));
    at += strlen(table->name) + 1;
    if (pack_text(&at, end, "", json_object_get(change, "epoch")) &&
        pack_text(&at, end, "", json_object_get(change, "op")) &&
        pack_text(&at, end, "", packed->xid != 0 ? json_object_get(change, "now") : NULL) &&
        pack_member(&at, end, change, "key") && pack_member(&at, end, change, "old") &&
        pack_member(&at, end, change, "new")) {
        packed->words[WORD_LENGTH] = (apr_uint64_t)(at - begin);
        packed->count = words_of(packed->words[WORD_LENGTH]);
    }
}

void database_copy_pack_end(database_packed_t *packed, const char *saw)
{
    char *begin = (char *)&packed->words[WORD_TEXT];
    apr_size_t length = strlen(saw);

    memset(packed, 0, sizeof(*packed));
    length = length + DATABASE_COPY_TEXTS <= TEXT_MAX ? length : 0;
    memcpy(begin + DATABASE_COPY_SAW, saw, length); /* behind texts that are empty */
    packed->words[WORD_LENGTH] = length + DATABASE_COPY_TEXTS;
    packed->count = words_of(packed->words[WORD_LENGTH]);
}

void database_copy_leave(database_copy_t copy, apr_uint64_t life, apr_int64_t number, database_packed_t *packed,
                         apr_int64_t top)
{
    apr_uint64_t head;

    packed->words[WORD_TOP] = (apr_uint64_t)top;
    for (int i = WORD_LENGTH; i < packed->count; i++) {
        atomic_store_explicit(&copy[i], packed->words[i], memory_order_relaxed);
    }
    head = head_sum(life, number, packed->words);
    copy[WORD_HEAD] = head;
    copy[WORD_CHECK] = add_words(head, packed->words, WORD_TEXT, packed->count);
}

/* ------------------------------------------------------------ find */

/* Copied before it is believed: somebody may be writing it. */
static void read_words(const database_copy_t copy, apr_uint64_t *words, int from, int to)
{
    for (int i = from; i < to; i++) {
        words[i] = atomic_load_explicit(&copy[i], memory_order_relaxed);
    }
}

/* @param words  gets those of the head */
static int read_head(const database_copy_t copy, apr_uint64_t life, apr_int64_t number, apr_uint64_t *words,
                     database_head_t *head)
{
    words[WORD_HEAD] = copy[WORD_HEAD];
    read_words(copy, words, WORD_LENGTH, WORD_TEXT);
    if (words[WORD_HEAD] != head_sum(life, number, words) || words[WORD_LENGTH] > TEXT_MAX) {
        return 0;
    }
    *head = (database_head_t){.id = (apr_int64_t)words[WORD_ID],
                              .xid = (apr_int64_t)words[WORD_XID],
                              .top = (apr_int64_t)words[WORD_TOP],
                              .shape = words[WORD_SHAPE]};
    return 1;
}

int database_copy_peek(const database_copy_t copy, apr_uint64_t life, apr_int64_t number, database_head_t *head)
{
    apr_uint64_t words[WORD_TEXT];

    return read_head(copy, life, number, words, head);
}

int database_copy_find(const database_copy_t copy, apr_uint64_t life, apr_int64_t number, database_found_t *found)
{
    apr_uint64_t check = copy[WORD_CHECK];
    const char *at = (const char *)&found->words[WORD_TEXT];
    int count;

    if (!read_head(copy, life, number, found->words, &found->head)) {
        return 0;
    }
    count = words_of(found->words[WORD_LENGTH]);
    read_words(copy, found->words, WORD_TEXT, count);
    if (check != add_words(found->words[WORD_HEAD], found->words, WORD_TEXT, count)) {
        return 0;
    }
    for (int i = 0; i < DATABASE_COPY_TEXTS; i++) {
        found->texts[i] = at;
        at += strlen(at) + 1;
    }
    return 1;
}

static int set_row(json_t *change, const char *name, const char *text)
{
    return json_object_set_new_nocheck(change, name, text[0] == IS_TEXT ? database_image_row(text + 1) : json_null()) ==
           0;
}

json_t *database_copy_change(const database_found_t *found)
{
    const char *key = found->texts[DATABASE_COPY_KEY];
    json_t *change = json_object();

    json_object_set_new_nocheck(change, "op", json_string(found->texts[DATABASE_COPY_OP]));
    json_object_set_new_nocheck(change, "key", key[0] == IS_TEXT ? json_string(key + 1) : json_null());
    if (!set_row(change, "old", found->texts[DATABASE_COPY_OLD]) ||
        !set_row(change, "new", found->texts[DATABASE_COPY_NEW])) {
        json_decref(change);
        return NULL;
    }
    return change;
}

/* ------------------------------------------------------------ a sieve */

void database_sieve_make(database_sieve_t *sieve, const sql_call_t *c, const sql_column_t *column, const char *value)
{
    const database_dialect_t *dialect = database_dialect_of(c->db);

    sieve->count = dialect->images_of != NULL ? dialect->images_of(sieve->images, column, value, c->pool) : 0;
}

int database_sieve_passes(const database_sieve_t *sieve, const database_found_t *found)
{
    for (int i = 0; i < sieve->count; i++) {
        if (strstr(found->texts[DATABASE_COPY_NEW], sieve->images[i]) != NULL ||
            strstr(found->texts[DATABASE_COPY_OLD], sieve->images[i]) != NULL) {
            return 1;
        }
    }
    return sieve->count == 0;
}
