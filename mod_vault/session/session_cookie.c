/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and sets the cookie of a session. */
#include "session/session_cookie.h"

#include <string.h>

#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"

#include "request/main_request.h"

/* Cookies are separated by semicolons, with or without a space. */
static int read_pair(const char *pair, apr_size_t length, const char *name, vault_page_t *session)
{
    apr_size_t named = strlen(name);
    char id[VAULT_PAGE_ID_LEN + 1];

    if (length != named + 1 + VAULT_PAGE_ID_LEN || strncmp(pair, name, named) != 0 || pair[named] != '=') {
        return 0;
    }
    memcpy(id, pair + named + 1, VAULT_PAGE_ID_LEN);
    id[VAULT_PAGE_ID_LEN] = '\0';
    return vault_page_parse(session, id);
}

int vault_session_cookie_next(const char **rest, const char *name, vault_page_t *session)
{
    while (*rest && **rest) {
        const char *pair = *rest + strspn(*rest, "; \t");
        apr_size_t length = strcspn(pair, ";");

        *rest = pair + length;
        while (length && (pair[length - 1] == ' ' || pair[length - 1] == '\t')) {
            length--;
        }
        if (read_pair(pair, length, name, session)) {
            return 1;
        }
    }
    return 0;
}

/* In err_headers_out, which redirects and error responses have, too. Without Max-Age: it ends with the browser, and is
 * void before that if the session expires. */
void vault_session_cookie_set(request_rec *r, const char *name, const vault_page_t *session)
{
    request_rec *top = vault_main_request(r);
    const char *secure = strcmp(ap_http_scheme(top), "https") ? "" : "; Secure";
    char id[VAULT_PAGE_ID_LEN + 1];

    vault_page_format(session, id);
    apr_table_addn(top->err_headers_out, "Set-Cookie",
                   apr_pstrcat(top->pool, name, "=", id, "; Path=/; HttpOnly; SameSite=Lax", secure, NULL));
}
