/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file html_place.h
 * Finds where to insert something into an HTML document that arrives in parts: before `</head>`, or else before
 * `<body`, `</body>` or `</html>`, whichever comes first. An author can choose the position with the comment
 * `<!--vault-->`. Text in comments, attributes and scripts that only looks like a tag is ignored.
 *
 * Pure functions; they do not copy the text.
 */
#ifndef VAULT_HTML_PLACE_H
#define VAULT_HTML_PLACE_H

#include "apr.h"

/** The largest number of bytes at the end of a part that have to be passed again with the next part. */
#define VAULT_HTML_KEEP_MAX 12

/** The tokenizer's state after a part. All zeros: in text, which is where a document begins. */
typedef struct vault_html_t {
    enum { VAULT_HTML_TEXT, VAULT_HTML_TAG, VAULT_HTML_COMMENT, VAULT_HTML_RAW } state;
    char quote;      /* in a tag: the quote that ends the value, or 0 */
    const char *raw; /* in raw text, or in the tag before it: the name of the element */
} vault_html_t;

/** Scan the next part of the document.
 * @param keep  receives how many bytes at the end of the part have to be passed again at the start of the next
 *              part, because they may be the beginning of a tag
 * @return the offset of the position in this part; -1: it is not in this part */
apr_ssize_t vault_html_find(vault_html_t *h, const char *text, apr_size_t length, apr_size_t *keep);

#endif
