/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the place for the script element: the right one, however the HTML is cut into parts. */
#include "base/html_place.h"

#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "unit.h"

/* A bar stands where the place is; none: there is no place. */
static const struct {
    const char *html, *why;
} rows[] = {
    {"<html><head><title>t</title>|</head><body></body></html>", "the usual one"},
    {"<HTML><HEAD>|</HEAD ><BODY>", "in capitals, with a blank"},
    {"<!DOCTYPE html>\n<title>t</title>\n|<body><p>text", "no end of the head"},
    {"<p>text</p>|</body></html>", "no head at all"},
    {"<p>text</p>|</html>", "only the end"},
    {"<p>text</p>", "a fragment"},
    {"", "nothing"},
    {"<p>a < b <1 < </p>|</body>", "signs that open nothing"},
    {"<header>x</header><bodyguard></heads>|</body>", "longer names"},
    {"<!-- </head><body> -->|</head>", "a comment"},
    {"<!----></p>|</head>", "an empty comment"},
    {"<!-- a -- > b --- --->|</head>", "dashes in a comment"},
    {"<p title=\"</head>\">|</head>", "a value in quotes"},
    {"<p title='</head>\"'>|</head>", "in the other quotes"},
    {"<script>var a = '</head>'; // <body>\n</script>|</head>", "a script"},
    {"<SCRIPT>'</head>'</Script>|</head>", "a script in capitals"},
    {"<style>a::before{content:'</head>'}</style>|</head>", "a style sheet"},
    {"<title></head></title>|</head>", "a title is text"},
    {"<textarea><body></textarea>|</body>", "a form's text, and a name as long as can be"},
    {"<script>a</scrip></script>|</head>", "an end that is none"},
    {"<p>x</p>|<!--vault--><p></head>", "where the author says"},
    {"<!--vault-- ><!-- vault -->|</head>", "other comments"},
    {"<?xml version='1.0'?>|</head>", "an instruction"},
    {"<![CDATA[ x ]]>|</head>", "a section"},
    {"</>|</head>", "an end of nothing"},
    {"<p title=\"</head>", "a quote that never ends"},
    {"<!-- </head>", "a comment that never ends"},
    {"x<", "a sign at the end"},
    {"x</hea", "half a tag at the end"},
};

/* In parts of `first` bytes and then `size` each. @return where the place is, -1: nowhere */
static long find(const char *html, size_t length, size_t first, size_t size)
{
    vault_html_t h;
    char *part = malloc(length + VAULT_HTML_KEEP_MAX + 1);
    size_t kept = 0, at = 0;
    long place = -1;

    memset(&h, 0, sizeof(h));
    while (at < length && place < 0) {
        size_t n = at == 0 ? first : size, keep;
        char *exact;

        n = n < length - at ? n : length - at;
        memcpy(part + kept, html + at, n);
        exact = malloc(kept + n); /* ends where it ends, for the sanitizer */
        memcpy(exact, part, kept + n);
        place = (long)vault_html_find(&h, exact, kept + n, &keep);
        if (place >= 0) {
            place += (long)(at - kept);
        }
        else {
            CU_ASSERT_FATAL(keep <= kept + n && keep <= VAULT_HTML_KEEP_MAX);
            memmove(part, exact + kept + n - keep, keep);
            kept = keep;
        }
        at += n;
        free(exact);
    }
    free(part);
    return place;
}

static void the_place_is_the_same_however_the_text_is_cut(void)
{
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char html[128];
        const char *bar = strchr(rows[i].html, '|');
        long wanted = bar ? bar - rows[i].html : -1;
        size_t length = 0, first;
        const char *p;

        for (p = rows[i].html; *p; p++) {
            if (p != bar) {
                html[length++] = *p;
            }
        }
        for (first = 1; first <= length; first++) {
            CHECK_ROW(find(html, length, first, length) == wanted, rows[i].why);
            CHECK_ROW(find(html, length, first, 1) == wanted, rows[i].why);
            CHECK_ROW(find(html, length, first, 3) == wanted, rows[i].why);
        }
    }
}

/* Any bytes: no step outside, no endless loop, and no more kept than promised. */
static void any_bytes_will_do(void)
{
    static const char signs[] = "<>/!-\"'abdehimnopstuvy \xff";
    unsigned seed = 7, i;
    char text[200];
    size_t k;

    for (i = 0; i < 20000; i++) {
        size_t length = (size_t)rand_r(&seed) % sizeof(text);
        long whole;

        for (k = 0; k < length; k++) {
            text[k] = signs[(unsigned)rand_r(&seed) % (sizeof(signs) - 1)];
        }
        whole = find(text, length, length, length);
        CU_ASSERT_EQUAL(find(text, length, 1 + length / 3, 7), whole);
    }
}

void vault_html_place_suite(void)
{
    CU_pSuite suite = CU_add_suite("html_place", NULL, NULL);

    CU_ADD_TEST(suite, the_place_is_the_same_however_the_text_is_cut);
    CU_ADD_TEST(suite, any_bytes_will_do);
}
