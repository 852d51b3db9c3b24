/* SPDX-License-Identifier: Apache-2.0 */
/* Names of pages: the first 48 bits of their ids. */
#include "page/page_name.h"

#include <string.h>

#include "apr_strings.h"

#include "page/page_facts.h"

#define DIGITS "0123456789abcdef"

void vault_page_name(const vault_page_t *page, char name[VAULT_PAGE_NAME_LEN + 1])
{
    char id[VAULT_PAGE_ID_LEN + 1];

    vault_page_format(page, id);
    apr_cpystrn(name, id, VAULT_PAGE_NAME_LEN + 1);
}

static int is_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* The start of the next id in `text` and its number of digits; NULL: there is none. Each request line is searched, so
 * this looks at few characters: an id that begins in the window between `text` and its last character that is no digit
 * would contain that character. So the window goes on behind it. */
static const char *next_id(const char *text, apr_size_t *digits)
{
    const char *end = text + strlen(text), *from, *id;

    for (id = text; end - id >= VAULT_PAGE_ID_LEN; id = from) {
        for (from = id + VAULT_PAGE_ID_LEN; from > id && is_digit(from[-1]); from--) {
        }
        if (from == id) {
            for (*digits = VAULT_PAGE_ID_LEN; is_digit(id[*digits]); ++*digits) {
            }
            return id;
        }
    }
    return NULL;
}

const char *vault_page_shorten(const char *text, apr_pool_t *pool)
{
    apr_size_t digits, length;
    char *shortened, *id;

    if (!text || !next_id(text, &digits)) {
        return text;
    }
    id = shortened = apr_pstrdup(pool, text);
    while ((id = (char *)next_id(id, &digits))) {
        id += VAULT_PAGE_NAME_LEN;
        length = strlen(id + digits - VAULT_PAGE_NAME_LEN);
        memmove(id, id + digits - VAULT_PAGE_NAME_LEN, length + 1);
    }
    return shortened;
}

static apr_status_t find_name(const vault_pages_t *p, vault_page_t *found, const char *name, apr_size_t length)
{
    apr_uint32_t i, last = vault_pages_last(p);
    char other[VAULT_PAGE_NAME_LEN + 1];
    vault_page_t page;
    int count = 0;

    for (i = 1; i <= last && count < 2; i++) {
        if (!vault_page_at(p, i, &page)) {
            continue;
        }
        vault_page_name(&page, other);
        if (!strncmp(other, name, length)) {
            *found = page;
            count++;
        }
    }
    return !count ? APR_NOTFOUND : count > 1 ? APR_EEXIST : APR_SUCCESS;
}

apr_status_t vault_page_find(vault_pages_t *p, vault_page_t *page, const char *name)
{
    apr_size_t length = strlen(name);

    if (length == VAULT_PAGE_ID_LEN && vault_page_parse(page, name)) {
        vault_page_locate(p, page);
        return APR_SUCCESS;
    }
    return length && length <= VAULT_PAGE_NAME_LEN && strspn(name, DIGITS) == length ? find_name(p, page, name, length)
                                                                                     : APR_EINVAL;
}
