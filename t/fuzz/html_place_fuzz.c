/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file html_place_fuzz.c
 * Scans any document in parts of any length, which the first byte selects. Checks that the position does not
 * depend on the parts, and that no more is kept than html_place.h allows.
 */
#include "base/html_place.h"

#include "fuzz.h"

/* Copies each part, so that reading beyond it is detected. */
static apr_ssize_t find(const char *text, apr_size_t length, apr_size_t step)
{
    vault_html_t h = {0};
    apr_size_t from = 0, to = 0, keep;

    while (to < length) {
        char *part;
        apr_ssize_t place;

        to = to + step < length ? to + step : length;
        part = malloc(to - from);
        memcpy(part, text + from, to - from);
        place = vault_html_find(&h, part, to - from, &keep);
        free(part);
        if (place >= 0) {
            must((apr_size_t)place < to - from);
            return (apr_ssize_t)from + place;
        }
        must(keep <= VAULT_HTML_KEEP_MAX && keep <= to - from);
        from = to - keep;
    }
    return -1;
}

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    if (length > 1) {
        apr_ssize_t place = find(text + 1, length - 1, length - 1);

        must(find(text + 1, length - 1, 1) == place);
        must(find(text + 1, length - 1, (unsigned char)text[0] % 17 + 1) == place);
    }
}
