/* SPDX-License-Identifier: Apache-2.0 */
/* An incremental HTML tokenizer. It recognizes only what it needs in order not to take other text for a tag. */
#include "base/html_place.h"

#include <string.h>
#include <strings.h>

#include "apr_lib.h"

/* Elements whose content is raw text, not markup. */
static const char *const raw_elements[] = {"script", "style", "title", "textarea", "noscript", "iframe", "xmp"};
/* The longest name of an element that the tokenizer compares. */
#define NAME_MAX_ 8

typedef struct scan_t {
    const char *at, *end;
} scan_t;

/* What starts at a `<`: NOTHING means text, UNCLEAR means that more input is needed to decide. */
typedef enum token_t { NOTHING, UNCLEAR, PLACE, TAG, COMMENT } token_t;

/* @return the length of the name at `p`; a value above NAME_MAX_ means that the name is none of those compared */
static apr_size_t name_length(const char *p, const char *end)
{
    apr_size_t n = 0;

    while (p + n < end && n <= NAME_MAX_ && apr_isalnum(p[n])) {
        n++;
    }
    return n;
}

static int is(const char *name, apr_size_t length, const char *what)
{
    return length == strlen(what) && !strncasecmp(name, what, length);
}

/* @return 1: the input begins with `what`; 0: it does not; -1: the input ends before that is decided */
static int begins(const scan_t *s, const char *what)
{
    apr_size_t left = (apr_size_t)(s->end - s->at), length = strlen(what);

    if (strncasecmp(s->at, what, left < length ? left : length)) {
        return 0;
    }
    return left < length ? -1 : 1;
}

static token_t comment(const scan_t *s)
{
    int author = begins(s, "<!--vault-->"), any = begins(s, "<!--");

    if (author) {
        return author < 0 ? UNCLEAR : PLACE;
    }
    return !any ? TAG : any < 0 ? UNCLEAR : COMMENT;
}

static const char *raw_element(const char *name, apr_size_t length)
{
    unsigned i;

    for (i = 0; i < sizeof(raw_elements) / sizeof(raw_elements[0]); i++) {
        if (is(name, length, raw_elements[i])) {
            return raw_elements[i];
        }
    }
    return NULL;
}

static token_t tag(vault_html_t *h, const scan_t *s)
{
    const char *name = s->at + 1;
    int closes = name < s->end && *name == '/';
    apr_size_t length = name_length(name += closes, s->end);

    if (name + length == s->end && length <= NAME_MAX_) {
        return UNCLEAR;
    }
    if (!length) {
        return closes ? TAG : NOTHING;
    }
    if (is(name, length, "body") || (closes && (is(name, length, "head") || is(name, length, "html")))) {
        return PLACE;
    }
    h->raw = closes ? NULL : raw_element(name, length);
    return TAG;
}

static token_t token(vault_html_t *h, const scan_t *s)
{
    if (s->at + 1 == s->end) {
        return UNCLEAR;
    }
    return s->at[1] == '!' ? comment(s) : s->at[1] == '?' ? TAG : tag(h, s);
}

/* Handles a `<` in text. @return as token() */
static token_t open_token(vault_html_t *h, scan_t *s)
{
    token_t t = token(h, s);

    if (t == TAG) {
        h->state = VAULT_HTML_TAG;
        h->quote = 0;
    }
    else if (t == COMMENT) {
        h->state = VAULT_HTML_COMMENT;
    }
    if (t != UNCLEAR && t != PLACE) {
        s->at += t == COMMENT ? 4 : 1;
    }
    return t;
}

static void in_tag(vault_html_t *h, char c)
{
    if (h->quote) {
        h->quote = c == h->quote ? 0 : h->quote;
    }
    else if (c == '"' || c == '\'') {
        h->quote = c;
    }
    else if (c == '>') {
        h->state = h->raw ? VAULT_HTML_RAW : VAULT_HTML_TEXT;
    }
}

/* In a comment or in raw text: can `what` end it here? @return 0: more input is needed */
static int may_end(vault_html_t *h, scan_t *s, const char *what)
{
    int ends = begins(s, what);

    if (ends > 0) {
        h->state = VAULT_HTML_TEXT;
    }
    s->at += ends > 0 ? (h->raw ? 0 : strlen(what)) : ends == 0;
    return ends >= 0;
}

static int in_raw(vault_html_t *h, scan_t *s)
{
    char what[3 + NAME_MAX_] = "</";

    strncat(what, h->raw, NAME_MAX_);
    return may_end(h, s, what);
}

/* Advances within a tag, a comment or raw text. @return 0: more input is needed */
static int step(vault_html_t *h, scan_t *s)
{
    switch (h->state) {
    case VAULT_HTML_COMMENT:
        h->raw = NULL;
        return may_end(h, s, "-->");
    case VAULT_HTML_RAW:
        return in_raw(h, s);
    default:
        in_tag(h, *s->at++);
        return 1;
    }
}

apr_ssize_t vault_html_find(vault_html_t *h, const char *text, apr_size_t length, apr_size_t *keep)
{
    scan_t s = {text, text + length};

    *keep = 0;
    while (s.at < s.end) {
        token_t t;
        if (h->state != VAULT_HTML_TEXT) {
            if (step(h, &s)) {
                continue;
            }
            *keep = (apr_size_t)(s.end - s.at);
            return -1;
        }
        if (*s.at != '<') {
            s.at++;
            continue;
        }
        if ((t = open_token(h, &s)) == PLACE) {
            return s.at - text;
        }
        if (t == UNCLEAR) {
            *keep = (apr_size_t)(s.end - s.at);
            return -1;
        }
    }
    return -1;
}
