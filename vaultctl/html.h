/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file html.h
 * What the HTML of a page says of mod_vault: its script element, the stream that another client takes, and tags of SSI
 * that nothing has handled. Comments are none of its elements, nor is what only looks like one in a script. Pure.
 */
#ifndef VAULTCTL_HTML_H
#define VAULTCTL_HTML_H

#include "apr_pools.h"

typedef struct vaultctl_html_t {
    const char *script; /* the src of vault.js, as it is written; NULL: the HTML has no such element */
    const char *page;   /* its data-vault-page, or without a script the page of the stream; NULL: it has none */
    const char *stream; /* what an element says of a stream of HTML, up to the query: /vault/poll; NULL: none does */
    int ssi;            /* there is a comment like <!--#vault …--> or <!--#include …--> */
    int password;       /* there is a field for a password */
} vaultctl_html_t;

/** Look through the whole text.
 * @param text  `length` bytes and a NUL */
void vaultctl_html_read(vaultctl_html_t *html, const char *text, apr_size_t length, apr_pool_t *pool);

#endif
