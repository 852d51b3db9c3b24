/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the name of a feed call: see call_name.h. */
#include "base/call_name.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#define PLAIN_MOST 12

/* One argument and its value, as JSON text. */
typedef struct plain_t {
    const char *key, *quote, *value;
} plain_t;

static int is_plain(const char *text)
{
    for (; *text; text++) {
        if (*text < ' ' || *text > '~' || *text == '"' || *text == '\\') {
            return 0;
        }
    }
    return 1;
}

/* @return 0: this value is not a short plain text, so jansson has to write it */
static int make_plain(plain_t *plain, const char *key, const json_t *value, apr_pool_t *pool)
{
    const char *text = json_string_value(value);
    int is_text = text && strlen(text) == json_string_length(value) && is_plain(text);

    plain->key = key;
    plain->quote = is_text ? "\"" : "";
    plain->value = is_text ? text
                   : json_is_integer(value)
                       ? apr_psprintf(pool, "%" APR_INT64_T_FMT, (apr_int64_t)json_integer_value(value))
                       : NULL;
    return plain->value && is_plain(key);
}

/* Writes short text arguments with the bytes that json_dumps(args, JSON_COMPACT | JSON_SORT_KEYS) would give,
 * at a fraction of its cost.
 * @return NULL: an argument is not such a text */
static const char *write_plainly(const json_t *args, apr_pool_t *pool)
{
    plain_t plain[PLAIN_MOST], one;
    struct iovec pieces[6 * PLAIN_MOST + 1];
    const char *key;
    json_t *value;
    int count = 0, n = 0, i;

    if (json_object_size(args) == 0 || json_object_size(args) > PLAIN_MOST) {
        return NULL;
    }
    /* jansson's iterator wants a pointer that is not const; it changes nothing. */
    json_object_foreach((json_t *)(uintptr_t)args, key, value)
    {
        if (!make_plain(&one, key, value, pool)) {
            return NULL;
        }
        for (i = count++; i > 0 && strcmp(plain[i - 1].key, key) > 0; i--) {
            plain[i] = plain[i - 1];
        }
        plain[i] = one;
    }
    for (i = 0; i < count; i++) {
        const char *texts[] = {
            i == 0 ? "{\"" : ",\"", plain[i].key, "\":", plain[i].quote, plain[i].value, plain[i].quote};

        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++) {
            pieces[n++] = (struct iovec){(void *)(uintptr_t)texts[k], strlen(texts[k])};
        }
    }
    pieces[n++] = (struct iovec){(void *)(uintptr_t) "}", 1};
    return apr_pstrcatv(pool, pieces, (apr_size_t)n, NULL);
}

const char *vault_call_name(const char *feed, const char *method, const json_t *args, apr_pool_t *pool)
{
    const char *plain = write_plainly(args, pool);
    char *text = plain ? NULL : json_dumps(args, JSON_COMPACT | JSON_SORT_KEYS);
    const char *name = apr_pstrcat(pool, feed, "/", method, plain ? plain : text ? text : "", NULL);

    free(text);
    return name;
}
