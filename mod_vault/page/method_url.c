/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the URLs of methods. */
#include "page/method_url.h"

int vault_method_is_url(const char *url)
{
    const char *p;

    for (p = url; *p > ' ' && *p <= '~' && *p != '#'; p++) {
    }
    return !*p && p - url <= VAULT_URL_MAX;
}
