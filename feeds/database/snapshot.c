/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of transactions: see snapshot.h. */
#include "snapshot.h"

#include <string.h>

#include "apr_strings.h"

/* Only what was seen up to `last`, a transaction. */
static void cut(database_snapshot_t *s, apr_int64_t last)
{
    s->end = last < s->end ? last + 1 : s->end;
    while (s->count > 0 && s->missing[s->count - 1] >= s->end) {
        s->count--;
    }
}

int database_snapshot_read(database_snapshot_t *s, const char *text)
{
    char *at;
    apr_int64_t last = apr_strtoi64(text, &at, 10);

    s->count = 0;
    s->end = *at == ':' ? apr_strtoi64(at + 1, &at, 10) : 0;
    if (*at != ':' || last < 1 || s->end < last) {
        return 0;
    }
    at++;
    while (*at != '\0' && *at != '/' && s->count < DATABASE_SNAPSHOT_MAX) {
        int is_distance = *at == '.';
        const char *digits = at + (is_distance || *at == ',');
        apr_int64_t number = apr_strtoi64(digits, &at, 10);

        if (number < 0 || (is_distance && number > s->end - last)) {
            return 0; /* the sum is beyond the end, and perhaps beyond the largest number */
        }
        last = is_distance ? last + number : number;
        if (at == digits || last >= s->end || (s->count > 0 && last <= s->missing[s->count - 1])) {
            return 0;
        }
        s->missing[s->count++] = last;
    }
    if (*at == '/') {
        cut(s, apr_strtoi64(at + 1, &at, 10));
    }
    return *at == '\0';
}

/* Where it is among those missing, or would be. */
static int place_of(const database_snapshot_t *s, apr_int64_t xid)
{
    int i = 0;

    while (i < s->count && s->missing[i] < xid) {
        i++;
    }
    return i;
}

int database_snapshot_has(const database_snapshot_t *s, apr_int64_t xid)
{
    int i = place_of(s, xid);

    return xid < s->end && (i == s->count || s->missing[i] != xid);
}

int database_snapshot_follows(const database_snapshot_t *s, const database_snapshot_t *saw, apr_int64_t xid)
{
    if (saw->end - s->end > DATABASE_SNAPSHOT_MAX) {
        return 0;
    }
    for (int i = 0; i < s->count; i++) {
        if (s->missing[i] != xid && database_snapshot_has(saw, s->missing[i])) {
            return 0;
        }
    }
    for (apr_int64_t other = s->end; other < saw->end; other++) {
        if (other != xid && database_snapshot_has(saw, other)) {
            return 0;
        }
    }
    return 1;
}

/* What began before `xid`, and nobody knows of. */
static int miss_up_to(database_snapshot_t *s, apr_int64_t xid)
{
    for (; s->end < xid; s->end++) {
        if (s->count == DATABASE_SNAPSHOT_MAX) {
            return 0;
        }
        s->missing[s->count++] = s->end;
    }
    s->end = xid + 1;
    return 1;
}

int database_snapshot_join(database_snapshot_t *s, const database_snapshot_t *saw, apr_int64_t xid)
{
    int i = place_of(s, xid);

    if (!database_snapshot_follows(s, saw, xid)) {
        return 0;
    }
    if (xid >= s->end) {
        return miss_up_to(s, xid);
    }
    if (i < s->count && s->missing[i] == xid) {
        s->count--;
        memmove(&s->missing[i], &s->missing[i + 1], (apr_size_t)(s->count - i) * sizeof(s->missing[0]));
    }
    return 1;
}

const char *database_snapshot_text(const database_snapshot_t *s, apr_size_t most, apr_pool_t *pool)
{
    apr_int64_t last = s->count > 0 ? s->missing[0] : s->end;
    const char *text = apr_psprintf(pool, "%" APR_INT64_T_FMT ":%" APR_INT64_T_FMT ":", last, s->end);

    for (int i = 0; i < s->count && text != NULL; i++) {
        text = apr_psprintf(pool, "%s.%" APR_INT64_T_FMT, text, s->missing[i] - last);
        last = s->missing[i];
        text = strlen(text) <= most ? text : NULL;
    }
    return text;
}
