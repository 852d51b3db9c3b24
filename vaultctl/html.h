/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file html.h
 * Finds the traces of mod_vault in the HTML of a page: its script element, the stream of another client, and
 * SSI tags that were not processed. Ignores comments, and text in scripts that only looks like an element. Pure
 * functions.
 */
#ifndef VAULTCTL_HTML_H
#define VAULTCTL_HTML_H

#include "apr_pools.h"

typedef struct vaultctl_html_t {
    const char *script; /* the src of vault.js as written; NULL: there is no such element */
    const char *page;   /* its data-vault-page or, without a script, the page of the stream; NULL: none */
    const char *stream; /* the URL of a stream of HTML, up to the query: /vault/poll; NULL: none */
    int ssi;            /* 1: there is a comment like <!--#vault …--> or <!--#include …--> */
    int password;       /* 1: there is a password field */
} vaultctl_html_t;

/** Scan the whole text.
 * @param text  `length` bytes and a NUL */
void vaultctl_html_read(vaultctl_html_t *html, const char *text, apr_size_t length, apr_pool_t *pool);

#endif
