/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the names and labels of OpenMetrics. */
#include "base/metric_text.h"

#include <string.h>

#include "apr_lib.h"

const char *vault_metric_name(const char *prefix, const char *name, apr_pool_t *pool)
{
    apr_size_t length = strlen(prefix);
    char *metric = apr_palloc(pool, length + 2 * strlen(name) + 1), *to = metric + length;

    memcpy(metric, prefix, length);
    for (; *name; name++) {
        if (apr_isupper(*name)) {
            *to++ = '_';
        }
        *to++ = (*name & 0x80) || !apr_isalnum(*name) ? '_' : (char)apr_tolower(*name);
    }
    *to = '\0';
    return metric;
}

const char *vault_metric_label(const char *text, apr_pool_t *pool)
{
    char *escaped = apr_palloc(pool, 2 * strlen(text) + 1), *to = escaped;

    for (; *text; text++) {
        if (*text == '\\' || *text == '"' || *text == '\n') {
            *to++ = '\\';
        }
        *to++ = *text == '\n' ? 'n' : *text;
    }
    *to = '\0';
    return escaped;
}
