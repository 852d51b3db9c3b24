/* SPDX-License-Identifier: Apache-2.0 */
/* Scans for elements `<!--#name attribute="value" … -->`. mod_include decides where an element ends by its quotes.
 * This scan reads on to `-->` regardless of quotes, and a dollar sign anywhere before it counts. So it can only err
 * on the safe side: an element whose quotes contain `-->` has an open quote there, and is personal.
 */
#include "output/ssi_elements.h"

#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

typedef struct element_t {
    const char *name;
    apr_size_t name_length;
    const char *rest; /* the attributes */
    apr_size_t rest_length;
} element_t;

static const char *find(const char *text, apr_size_t length, const char *what)
{
    apr_size_t n = strlen(what);
    const char *at;

    while (length >= n && (at = memchr(text, what[0], length - n + 1))) {
        if (!memcmp(at, what, n)) {
            return at;
        }
        length -= (apr_size_t)(at + 1 - text);
        text = at + 1;
    }
    return NULL;
}

/* @return where to search for the next element; NULL: there are no more, or `element` has no end */
static const char *next_element(const char *text, const char *end, element_t *element, int *broken)
{
    const char *at = find(text, (apr_size_t)(end - text), "<!--#"), *stop;

    if (!at) {
        return NULL;
    }
    at += 5;
    stop = find(at, (apr_size_t)(end - at), "-->");
    if (!stop) {
        *broken = 1;
        return NULL;
    }
    while (at < stop && apr_isspace(*at)) {
        at++;
    }
    element->name = at;
    while (at < stop && !apr_isspace(*at)) {
        at++;
    }
    element->name_length = (apr_size_t)(at - element->name);
    element->rest = at;
    element->rest_length = (apr_size_t)(stop - at);
    return stop + 3;
}

static int is_one_of(const char *text, apr_size_t length, const char *const *names)
{
    for (; *names; names++) {
        if (strlen(*names) == length && !strncasecmp(text, *names, length)) {
            return 1;
        }
    }
    return 0;
}

/* Is there an unquoted end, so that what was found is all of the element? */
static int is_whole(const element_t *e)
{
    char quote = 0;
    apr_size_t i;

    for (i = 0; i < e->rest_length; i++) {
        char c = e->rest[i];
        if (c == '\\') {
            i++;
        }
        else if (quote ? c == quote : c == '"' || c == '\'' || c == '`') {
            quote = quote ? 0 : c;
        }
    }
    return !quote;
}

static int is_accepted(const element_t *e)
{
    static const char *const plain[] = {"feed", "vault", "comment", "config", NULL};

    return !memchr(e->rest, '$', e->rest_length) && is_whole(e) && is_one_of(e->name, e->name_length, plain);
}

static apr_size_t skip_space(const element_t *e, apr_size_t at)
{
    while (at < e->rest_length && apr_isspace(e->rest[at])) {
        at++;
    }
    return at;
}

/* Characters that mod_include decodes, and those that no URL has. */
static int is_plain(const char *url, apr_size_t length)
{
    apr_size_t i;

    for (i = 0; i < length; i++) {
        if (!apr_isgraph(url[i]) || strchr("&\\$<>\"'`#", url[i])) {
            return 0;
        }
    }
    return 1;
}

/* The URL of `include virtual="URL"`; NULL: the element has another form. mod_include takes the scheme of a URL for a
 * part of its path. */
static const char *included(const element_t *e, apr_pool_t *pool)
{
    static const char attribute[] = "virtual=\"";
    apr_size_t at = skip_space(e, 0), n = sizeof(attribute) - 1;
    const char *url, *end;

    if (at + n > e->rest_length || memcmp(e->rest + at, attribute, n)) {
        return NULL;
    }
    url = e->rest + at + n;
    end = memchr(url, '"', e->rest_length - at - n);
    if (!end || end == url || (url[0] == '/' && url[1] == '/') || !is_plain(url, (apr_size_t)(end - url)) ||
        skip_space(e, (apr_size_t)(end + 1 - e->rest)) != e->rest_length) {
        return NULL;
    }
    return apr_pstrmemdup(pool, url, (apr_size_t)(end - url));
}

static int is_include(const element_t *e)
{
    static const char *const include[] = {"include", NULL};

    return is_one_of(e->name, e->name_length, include);
}

const char *vault_ssi_personal(const char *text, apr_size_t length, apr_array_header_t *includes, apr_pool_t *pool)
{
    const char *at = text, *end = text + length, *url;
    element_t e = {.name = NULL};
    int broken = 0;

    while ((at = next_element(at, end, &e, &broken))) {
        if (is_include(&e) && (url = included(&e, pool))) {
            APR_ARRAY_PUSH(includes, const char *) = url;
        }
        else if (!is_accepted(&e)) {
            return apr_psprintf(pool, "its SSI element %.*s may depend on the request or on the time",
                                (int)(e.name_length < 20 ? e.name_length : 20), e.name);
        }
    }
    return broken ? "an SSI element in it has no end" : NULL;
}
