/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file html_place.h
 * Where in an HTML document that goes by in parts something can be put in for the whole of it: before `</head>`, or what comes of
 * `<body`, `</body>` and `</html>` when there is no such thing. Comments, attributes, scripts and other text that only looks like a tag do
 * not count. An author may say the place: before the comment `<!--vault-->`.
 *
 * Pure; works in place.
 */
#ifndef VAULT_HTML_PLACE_H
#define VAULT_HTML_PLACE_H

#include "apr.h"

/** So many bytes at the end of a part may have to be seen again. */
#define VAULT_HTML_KEEP_MAX 12

/** Where the last part has ended. Zeroed: in text. */
typedef struct vault_html_t {
    enum { VAULT_HTML_TEXT, VAULT_HTML_TAG, VAULT_HTML_COMMENT, VAULT_HTML_RAW } state;
    char quote;      /* in a tag: the quote that ends the value, or 0 */
    const char *raw; /* in raw text, or in the tag before it: the name of the element */
} vault_html_t;

/** Look at the next part.
 * @param keep  how many of its last bytes must come again, at the beginning of the next part, since what they are is not clear yet
 * @return how many bytes of it come before the place; -1: it is not in here */
apr_ssize_t vault_html_find(vault_html_t *h, const char *text, apr_size_t length, apr_size_t *keep);

#endif
