/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of changes: see listed.h. */
#include "listed.h"

#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "copies.h"

/* A larger number of them is not gone through. */
#define BETWEEN_MAX 512

/* ------------------------------------------------------------ numbers */

static apr_uint64_t check_of(apr_uint64_t life, apr_int64_t number, apr_int64_t id, apr_uint64_t copies)
{
    apr_uint64_t sum = database_copy_mix(database_copy_mix(1, life), (apr_uint64_t)number);

    return database_copy_mix(database_copy_mix(sum, (apr_uint64_t)id), copies);
}

static database_number_t *number_at(const database_numbered_t *numbered, apr_int64_t number)
{
    return &numbered->numbers[(apr_uint64_t)number % DATABASE_NUMBERED];
}

void database_numbered_leave(const database_numbered_t *numbered, apr_int64_t number, apr_int64_t id,
                             apr_uint64_t copies)
{
    database_number_t *at = number_at(numbered, number);

    at->id = id;
    at->copies = copies;
    at->check = check_of(numbered->life, number, id, copies);
}

apr_int64_t database_numbered_find(const database_numbered_t *numbered, apr_int64_t number, apr_uint64_t *copies)
{
    database_number_t *at = number_at(numbered, number);
    apr_uint64_t check = at->check, found = at->copies;
    apr_int64_t id = at->id;

    if (check != check_of(numbered->life, number, id, found)) {
        return 0;
    }
    if (copies != NULL) {
        *copies = found;
    }
    return id;
}

/* ------------------------------------------------------------ sets */

/* Where it is among those without a number, or would be. */
static int place_of(const database_listed_t *s, apr_int64_t id)
{
    int from = 0, to = s->count;

    while (from < to) {
        int middle = (from + to) / 2;

        if (s->ids[middle] < id) {
            from = middle + 1;
        }
        else {
            to = middle;
        }
    }
    return from;
}

int database_listed_lists(const database_listed_t *s, apr_int64_t id)
{
    int i = place_of(s, id);

    return i < s->count && s->ids[i] == id;
}

int database_listed_add(database_listed_t *s, apr_int64_t id)
{
    int is_last = s->count > 0 && s->ids[s->count - 1] < id; /* mostly */
    int i = is_last ? s->count : place_of(s, id);

    if (i < s->count && s->ids[i] == id) {
        return 1;
    }
    if (s->count == DATABASE_LISTED_MAX) {
        return 0;
    }
    memmove(&s->ids[i + 1], &s->ids[i], (apr_size_t)(s->count - i) * sizeof(s->ids[0]));
    s->ids[i] = id;
    s->count++;
    return 1;
}

static void drop(database_listed_t *s, apr_int64_t id)
{
    int i = place_of(s, id);

    s->count--;
    memmove(&s->ids[i], &s->ids[i + 1], (apr_size_t)(s->count - i) * sizeof(s->ids[0]));
}

/* A look reads hundreds of them, which is why it is not left to apr_strtoi64. @return what comes after it; NULL: there is none, or it is too
 * large */
static const char *read_number(const char *at, apr_int64_t *number)
{
    if (!apr_isdigit(*at)) {
        return NULL;
    }
    for (*number = 0; apr_isdigit(*at); at++) {
        int digit = *at - '0';

        if (*number > (APR_INT64_MAX - digit) / 10) {
            return NULL;
        }
        *number = *number * 10 + digit;
    }
    return at;
}

int database_listed_read(database_listed_t *s, const char *text)
{
    const char *at = read_number(text, &s->last);
    apr_int64_t id;

    s->count = 0;
    if (at == NULL || *at != ';') {
        return 0;
    }
    if (at[1] == '\0') {
        return 1;
    }
    while (*at != '\0') {
        at = read_number(at + 1, &id);
        if (at == NULL || (*at != ',' && *at != '\0') || !database_listed_add(s, id)) {
            return 0;
        }
    }
    return 1;
}

/* Is it the change with one of the numbers after `from`, up to `to`? @return -1: nobody knows */
static int is_between(const database_numbered_t *numbered, apr_int64_t id, apr_int64_t from, apr_int64_t to)
{
    if (to - from > BETWEEN_MAX) {
        return -1;
    }
    for (apr_int64_t number = from + 1; number <= to; number++) {
        apr_int64_t found = database_numbered_find(numbered, number, NULL);

        if (found == 0 || found == id) {
            return found == 0 ? -1 : 1;
        }
    }
    return 0;
}

int database_listed_has(const database_listed_t *s, apr_int64_t id, apr_int64_t then,
                        const database_numbered_t *numbered)
{
    return database_listed_lists(s, id) ? 1 : is_between(numbered, id, then, s->last);
}

typedef struct following_t {
    apr_int64_t but;
} following_t;

static int is_but(void *data, apr_int64_t id)
{
    return id == ((const following_t *)data)->but;
}

int database_listed_follows(const database_listed_t *s, const database_listed_t *saw, apr_int64_t id,
                            const database_numbered_t *numbered)
{
    following_t following = {id};

    return database_listed_each_new(s, saw, numbered, is_but, &following);
}

int database_listed_each_new(const database_listed_t *s, const database_listed_t *now,
                             const database_numbered_t *numbered, int (*visit)(void *data, apr_int64_t id), void *data)
{
    if (now->last - s->last > BETWEEN_MAX) {
        return 0;
    }
    for (apr_int64_t number = s->last + 1; number <= now->last; number++) {
        apr_int64_t id = database_numbered_find(numbered, number, NULL);

        if (id == 0 || (!database_listed_lists(s, id) && !visit(data, id))) {
            return 0;
        }
    }
    for (int i = 0; i < now->count; i++) {
        int has = database_listed_has(s, now->ids[i], now->last, numbered);

        if (has < 0 || (has == 0 && !visit(data, now->ids[i]))) {
            return 0;
        }
    }
    return 1;
}

void database_listed_shorten(database_listed_t *s, const database_numbered_t *numbered)
{
    apr_int64_t id = database_numbered_find(numbered, s->last + 1, NULL);

    while (id != 0 && database_listed_lists(s, id)) {
        drop(s, id);
        s->last++;
        id = database_numbered_find(numbered, s->last + 1, NULL);
    }
}

const char *database_listed_text(const database_listed_t *s, apr_size_t most, apr_pool_t *pool)
{
    const apr_size_t space = 24 + (apr_size_t)s->count * 21;
    char *text = apr_palloc(pool, space);
    apr_size_t length = (apr_size_t)apr_snprintf(text, space, "%" APR_INT64_T_FMT ";", s->last);

    for (int i = 0; i < s->count; i++) {
        length += (apr_size_t)apr_snprintf(text + length, space - length, "%s%" APR_INT64_T_FMT, i == 0 ? "" : ",",
                                           s->ids[i]);
    }
    return length <= most ? text : NULL;
}
