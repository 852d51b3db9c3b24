/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_html_fuzz.c
 * Any HTML that vaultctl doctor reads. Checked besides crashes: what is found stands in the text, a page's id
 * is never without its script, and what comes behind a comment that has no end changes nothing.
 */
#include "html.h"

#include "fuzz.h"

static int is_same(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static int holds(const char *text, apr_size_t length, const char *part)
{
    return part == NULL || *part == '\0' || memmem(text, length, part, strlen(part)) != NULL;
}

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    static const char tail[] = "<script src=\"/vault/vault.js\" data-vault-page=\"0\"><input type=password>";
    vaultctl_html_t html, longer;
    const char *comment;
    char *more;

    vaultctl_html_read(&html, text, length, pool);
    must(html.page == NULL || html.script != NULL);
    must(holds(text, length, html.script) && holds(text, length, html.page));
    comment = memmem(text, length, "<!--", 4);
    if (comment != text || strstr(text, "-->") != NULL || strlen(text) != length) {
        return;
    }
    more = malloc(length + sizeof(tail));
    memcpy(more, text, length);
    memcpy(more + length, tail, sizeof(tail));
    vaultctl_html_read(&longer, more, length + sizeof(tail) - 1, pool);
    must(is_same(html.script, longer.script) && is_same(html.page, longer.page) && html.password == longer.password);
    free(more);
}
