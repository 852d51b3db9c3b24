/* SPDX-License-Identifier: Apache-2.0 */
/* Walks from tag to tag. Attributes are parsed as browsers do: with or without quotes, in upper or lower case. */
#include "html.h"

#include <string.h>
#include <strings.h>

#include "apr_lib.h"
#include "apr_strings.h"
#include "apr_tables.h"

/* Elements whose text ends only at their end tag. */
static const char *const raw_elements[] = {"script", "style",    "textarea", "title",
                                           "xmp",    "noframes", "noembed",  "iframe"};

/* More than any script element has. */
#define ATTRIBUTES_MAX 64

typedef struct reader_t {
    const char *at, *end;
    const char *streaming; /* the page of the stream */
    apr_pool_t *pool;
} reader_t;

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static void skip_spaces(reader_t *r)
{
    while (r->at < r->end && is_space(*r->at)) {
        r->at++;
    }
}

/* The text up to one of `stops` or a space. */
static const char *take_word(reader_t *r, const char *stops)
{
    const char *begin = r->at;

    while (r->at < r->end && *r->at && !is_space(*r->at) && strchr(stops, *r->at) == NULL) {
        r->at++;
    }
    return apr_pstrmemdup(r->pool, begin, (apr_size_t)(r->at - begin));
}

static const char *take_value(reader_t *r)
{
    const char *begin;
    char quote;

    skip_spaces(r);
    if (r->at == r->end || (*r->at != '"' && *r->at != '\'')) {
        return take_word(r, ">");
    }
    quote = *r->at++;
    begin = r->at;
    while (r->at < r->end && *r->at != quote) {
        r->at++;
    }
    r->at += r->at < r->end;
    return apr_pstrmemdup(r->pool, begin, (apr_size_t)(r->at - begin - (r->at > begin && r->at[-1] == quote)));
}

/* The attributes of a tag, up to its end. */
static apr_table_t *take_attributes(reader_t *r)
{
    apr_table_t *attributes = apr_table_make(r->pool, 4);

    for (skip_spaces(r); r->at < r->end && *r->at != '>'; skip_spaces(r)) {
        const char *name = take_word(r, "=/>"), *value = "";

        skip_spaces(r);
        if (r->at < r->end && *r->at == '=') {
            r->at++;
            value = take_value(r);
        }
        else if (*name == '\0') {
            r->at++; /* a slash, or a byte that no name has */
        }
        if (*name != '\0' && apr_table_elts(attributes)->nelts < ATTRIBUTES_MAX &&
            apr_table_get(attributes, name) == NULL) {
            apr_table_setn(attributes, name, value);
        }
    }
    r->at += r->at < r->end;
    return attributes;
}

static void skip_comment(reader_t *r, vaultctl_html_t *html)
{
    const char *end = strstr(r->at, "-->");

    html->ssi |= r->at[strlen("<!--")] == '#';
    r->at = end != NULL ? end + strlen("-->") : r->end;
}

static void skip_raw(reader_t *r, const char *name)
{
    size_t length = strlen(name);

    for (; r->at < r->end; r->at++) {
        if (r->at[0] == '<' && r->at[1] == '/' && strncasecmp(r->at + 2, name, length) == 0) {
            return;
        }
    }
}

static int ends_with(const char *text, const char *end)
{
    size_t length = strcspn(text, "?#"), size = strlen(end);

    return length >= size && strncmp(text + length - size, end, size) == 0;
}

/* The first script with an id counts, otherwise the first vault.js. */
static void take_script(vaultctl_html_t *html, const apr_table_t *attributes)
{
    const char *src = apr_table_get(attributes, "src"), *page = apr_table_get(attributes, "data-vault-page");

    if (src == NULL || html->page != NULL || (page == NULL && (html->script != NULL || !ends_with(src, "/vault.js")))) {
        return;
    }
    html->script = src;
    html->page = page;
}

/* The first element like <turbo-stream-source src="/vault/poll?page=ID&amp;as=html">. Each client uses another
 * attribute, so only the value is compared. */
static void take_stream(reader_t *r, vaultctl_html_t *html, const apr_table_t *attributes)
{
    static const char begin[] = "/poll?page=";
    const apr_array_header_t *all = apr_table_elts(attributes);

    for (int i = 0; html->stream == NULL && i < all->nelts; i++) {
        const char *value = APR_ARRAY_IDX(all, i, apr_table_entry_t).val, *at = strstr(value, begin);

        if (at != NULL && strstr(at, "as=html") != NULL) {
            const char *id = at + strlen(begin);

            html->stream = apr_pstrmemdup(r->pool, value, (apr_size_t)(at - value) + strlen("/poll"));
            r->streaming = apr_pstrmemdup(r->pool, id, strcspn(id, "&"));
        }
    }
}

static void take_element(reader_t *r, vaultctl_html_t *html)
{
    const char *name, *type;
    apr_table_t *attributes;

    r->at++;
    name = take_word(r, "/>");
    attributes = take_attributes(r);
    if (strcasecmp(name, "script") == 0) {
        take_script(html, attributes);
    }
    take_stream(r, html, attributes);
    type = apr_table_get(attributes, "type");
    html->password |= strcasecmp(name, "input") == 0 && type != NULL && strcasecmp(type, "password") == 0;
    for (size_t i = 0; i < sizeof(raw_elements) / sizeof(raw_elements[0]); i++) {
        if (strcasecmp(name, raw_elements[i]) == 0) {
            skip_raw(r, name);
        }
    }
}

void vaultctl_html_read(vaultctl_html_t *html, const char *text, apr_size_t length, apr_pool_t *pool)
{
    reader_t r = {.at = text, .end = text + length, .pool = pool};

    memset(html, 0, sizeof(*html));
    while (r.at < r.end) {
        if (strncmp(r.at, "<!--", 4) == 0) {
            skip_comment(&r, html);
        }
        else if (*r.at == '<' && apr_isalpha(r.at[1])) {
            take_element(&r, html);
        }
        else {
            r.at++;
        }
    }
    if (html->script == NULL) {
        html->page = r.streaming;
    }
}
