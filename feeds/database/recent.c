/* SPDX-License-Identifier: Apache-2.0 */
/* Changes in memory that children share: see recent.h. */
#include "recent.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "board.h"
#include "catalogue.h"
#include "connection.h"
#include "footprint.h"
#include "image.h"

/* Words of a change: a checksum, its length in bytes, the bytes. */
enum { WORD_CHECK, WORD_LENGTH, WORD_TEXT };

#define TEXT_MAX ((DATABASE_RECENT_WORDS - WORD_TEXT) * sizeof(apr_uint64_t))

/* The texts of a change, each with a NUL at its end, one after the other; the last three begin with what they are. */
enum { TEXT_TABLE, TEXT_EPOCH, TEXT_OP, TEXT_KEY, TEXT_OLD, TEXT_NEW, TEXTS };

#define IS_TEXT '='
#define IS_NULL '-'

/* ------------------------------------------------------------ lives, checksums */

static apr_uint64_t mix(apr_uint64_t sum, apr_uint64_t value)
{
    sum = (sum ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return sum ^ sum >> 29;
}

apr_uint64_t database_recent_life(const sql_call_t *c, database_era_t era, apr_int64_t generation)
{
    const sql_identity_t *file = &c->conn->identity;
    apr_uint64_t life;

    if (database_dialect_of(c->db)->images_of == NULL || generation < 0) {
        return 0;
    }
    life = mix(mix(mix(mix(1, era), file->device), file->inode), (apr_uint64_t)generation);
    return life != 0 ? life : 1;
}

apr_uint64_t database_recent_life_here(const sql_call_t *c, database_era_t era)
{
    const char *generation = c->conn->tables != NULL ? c->conn->generation : NULL;

    return database_recent_life(c, era, generation != NULL ? apr_strtoi64(generation, NULL, 10) : -1);
}

static apr_uint64_t checksum(apr_uint64_t life, apr_int64_t id, const apr_uint64_t *words, int count)
{
    apr_uint64_t sum = mix(mix(1, life), (apr_uint64_t)id);

    for (int i = WORD_LENGTH; i < count; i++) {
        sum = mix(sum, words[i]);
    }
    return sum;
}

static int words_of(apr_uint64_t length)
{
    return WORD_TEXT + (int)((length + sizeof(apr_uint64_t) - 1) / sizeof(apr_uint64_t));
}

/* ------------------------------------------------------------ leave */

static void raise_end(database_recent_t *recent, apr_int64_t now)
{
    apr_int64_t end = recent->end;

    while (end < now && !atomic_compare_exchange_weak(&recent->end, &end, now)) {
    }
}

void database_recent_begin(const database_t *feed, apr_uint64_t life, apr_int64_t now)
{
    database_recent_t *recent = database_board_recent(feed);

    if (recent->life == life) {
        raise_end(recent, now);
        return;
    }
    recent->life = 0;
    recent->end = now;
    recent->life = life;
}

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

void database_recent_pack(database_packed_t *packed, const char *table, const json_t *change)
{
    char *begin = (char *)&packed->words[WORD_TEXT];
    char *at = begin;
    const char *end = begin + TEXT_MAX;

    memset(packed, 0, sizeof(*packed));
    packed->id = json_integer_value(json_object_get(change, "id"));
    if (strlen(table) >= TEXT_MAX) {
        return;
    }
    memcpy(at, table, strlen(table));
    at += strlen(table) + 1;
    if (pack_text(&at, end, "", json_object_get(change, "epoch")) &&
        pack_text(&at, end, "", json_object_get(change, "op")) && pack_member(&at, end, change, "key") &&
        pack_member(&at, end, change, "old") && pack_member(&at, end, change, "new")) {
        packed->words[WORD_LENGTH] = (apr_uint64_t)(at - begin);
        packed->count = words_of(packed->words[WORD_LENGTH]);
    }
}

static void leave(database_recent_t *recent, apr_uint64_t life, const database_packed_t *packed)
{
    _Atomic apr_uint64_t *words = recent->changes[packed->id % DATABASE_RECENT];

    for (int i = WORD_LENGTH; i < packed->count; i++) {
        atomic_store_explicit(&words[i], packed->words[i], memory_order_relaxed);
    }
    words[WORD_CHECK] = checksum(life, packed->id, packed->words, packed->count);
}

int database_recent_leave(const database_t *feed, apr_uint64_t life, const database_packed_t *packed, int count,
                          apr_int64_t now)
{
    database_recent_t *recent = database_board_recent(feed);

    if (recent->life != life || life == 0) {
        return recent->life == life;
    }
    for (int i = 0; i < count; i++) {
        if (packed[i].count > 0 && packed[i].id > 0) {
            leave(recent, life, &packed[i]);
        }
    }
    raise_end(recent, now);
    return 1;
}

/* ------------------------------------------------------------ look */

/* A change as it was left. */
typedef struct found_t {
    apr_uint64_t words[DATABASE_RECENT_WORDS];
    const char *texts[TEXTS];
} found_t;

/* Copied before it is believed: somebody may be writing it. */
static int find(const database_recent_t *recent, apr_uint64_t life, apr_int64_t id, found_t *found)
{
    const _Atomic apr_uint64_t *words = recent->changes[id % DATABASE_RECENT];
    apr_uint64_t check = words[WORD_CHECK];
    apr_uint64_t length = words[WORD_LENGTH];
    const char *at = (const char *)&found->words[WORD_TEXT];
    int count;

    if (length > TEXT_MAX) {
        return 0;
    }
    count = words_of(length);
    found->words[WORD_LENGTH] = length;
    for (int i = WORD_TEXT; i < count; i++) {
        found->words[i] = atomic_load_explicit(&words[i], memory_order_relaxed);
    }
    if (check != checksum(life, id, found->words, count)) {
        return 0;
    }
    for (int i = 0; i < TEXTS; i++) {
        found->texts[i] = at;
        at += strlen(at) + 1;
    }
    return 1;
}

/* What an image must have one of; none: nobody knows. */
typedef struct sieve_t {
    const char *images[2];
    int count;
} sieve_t;

static int passes(const found_t *found, const sieve_t *sieve)
{
    for (int i = 0; i < sieve->count; i++) {
        if (strstr(found->texts[TEXT_NEW], sieve->images[i]) != NULL ||
            strstr(found->texts[TEXT_OLD], sieve->images[i]) != NULL) {
            return 1;
        }
    }
    return sieve->count == 0;
}

static json_t *text_or_null(const char *text)
{
    return text[0] == IS_TEXT ? json_string(text + 1) : json_null();
}

/* As changes.h says, its images not yet decoded. */
static json_t *change_of(const found_t *found)
{
    json_t *change = json_object();

    json_object_set_new(change, "op", json_string(found->texts[TEXT_OP]));
    json_object_set_new(change, "key", text_or_null(found->texts[TEXT_KEY]));
    json_object_set_new(change, "old", text_or_null(found->texts[TEXT_OLD]));
    json_object_set_new(change, "new", text_or_null(found->texts[TEXT_NEW]));
    return change;
}

/* All that is wanted after `since`, up to `end`. NULL: not all is here. */
static json_t *collect(const database_recent_t *recent, apr_uint64_t life, const sql_call_t *c, const char *epoch,
                       const sieve_t *sieve, apr_int64_t since, apr_int64_t end)
{
    json_t *changes = json_array();
    int good = 1;

    for (apr_int64_t id = since + 1; id <= end && good; id++) {
        found_t found;

        good = find(recent, life, id, &found);
        if (good && strcmp(found.texts[TEXT_TABLE], c->table->name) == 0) {
            good = strcmp(found.texts[TEXT_EPOCH], epoch) == 0 && found.texts[TEXT_OP][0] != 'W';
            if (good && passes(&found, sieve)) {
                good = json_array_append_new(changes, change_of(&found)) == 0;
            }
        }
    }
    if (!good) {
        json_decref(changes);
        return NULL;
    }
    return changes;
}

/* Is all that was committed here, or announced later? And is the table what it was when this connection read it? */
static apr_uint64_t life_to_believe(const sql_call_t *c, const database_recent_t *recent, const char *epoch)
{
    const database_t *feed = (const database_t *)c->db;
    const char *known = database_dialect_epoch(c->table);
    apr_uint64_t life = database_recent_life_here(c, database_board_era(feed));
    apr_uint64_t footprint;

    if (feed->look == 0 || life == 0 || recent->life != life || known == NULL || strcmp(known, epoch) != 0) {
        return 0;
    }
    footprint = database_footprint(feed, NULL);
    return footprint != 0 && footprint == database_board_known(feed) ? life : 0;
}

int database_recent_look(sql_call_t *c, database_look_t *look, const database_wanted_t *wanted, const char *place,
                         const char *epoch)
{
    const database_recent_t *recent = database_board_recent((const database_t *)c->db);
    const sql_column_t *column = wanted->alone ? sql_table_column_named(c->table, wanted->column) : NULL;
    apr_uint64_t life = column != NULL ? life_to_believe(c, recent, epoch) : 0;
    apr_int64_t since = apr_strtoi64(place, NULL, 10), end = recent->end;
    sieve_t sieve;
    json_t *changes;

    /* A place that is beyond the end may be of what is no more: the database tells. */
    if (life == 0 || since > end || end - since > DATABASE_RECENT) {
        return 0;
    }
    sieve.count = look->dialect->images_of(sieve.images, column, wanted->value, c->pool);
    changes = collect(recent, life, c, epoch, &sieve, since, end);
    if (json_array_size(changes) > (size_t)wanted->most || changes == NULL ||
        database_image_decode(c, changes) != APR_SUCCESS) {
        json_decref(changes);
        return 0;
    }
    look->epoch = epoch;
    look->span.since = place;
    look->next = look->span.now = end > since ? apr_psprintf(c->pool, "%" APR_INT64_T_FMT, end) : place;
    look->changes = changes;
    return 1;
}
