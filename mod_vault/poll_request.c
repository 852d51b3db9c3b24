/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a poll: page=ID&seq=N, and perhaps tab=NONCE, ack=1. */
#include "poll_request.h"

#include "apr_general.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include "log.h"
#include "mod_vault.h"
#include "now.h"
#include "reply.h"
#include "suspend.h"

APLOG_USE_MODULE(vault);

static int parse_u64(const char *text, apr_uint64_t *value)
{
    char *end;

    if (!apr_isdigit(*text) || strlen(text) > 19) {
        return 0;
    }
    *value = (apr_uint64_t)apr_strtoi64(text, &end, 10);
    return *end == '\0';
}

static int parse_tab(const char *text, apr_uint64_t tab[2])
{
    char part[17];
    int i;

    if (strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32) {
        return 0;
    }
    for (i = 0; i < 2; i++) {
        apr_cpystrn(part, text + 16 * i, sizeof(part));
        tab[i] = strtoull(part, NULL, 16);
    }
    return 1;
}

/* A poll must end before the connection's Timeout would end it. */
static void report_clamp(request_rec *r, apr_interval_time_t wanted, apr_interval_time_t most)
{
    static int said;

    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) {
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                      VLTNO(00034) "VaultLongPollTimeout %d is too long for Timeout: polls wait %d s",
                      (int)apr_time_sec(wanted), (int)apr_time_sec(most));
    }
}

/* How long it may wait: as configured, a tenth more or less so that pages do not poll in step, and within the Timeout. */
static apr_interval_time_t hold_time(request_rec *r, const vault_location_t *l)
{
    apr_interval_time_t wanted = apr_time_from_sec(vault_location_timeout(l)), hold, most = vault_suspension_longest(r);
    unsigned char random = 128;

    apr_generate_random_bytes(&random, sizeof(random));
    hold = wanted + wanted / 1280 * ((int)random - 128);
    if (wanted > most) {
        report_clamp(r, wanted, most);
    }
    return hold < most ? hold : most;
}

int vault_poll_request_read(vault_poll_request_t *q, request_rec *r, apr_pool_t *pool)
{
    const char *id, *seq, *tab;
    apr_table_t *params;
    int status = vault_reply_params(r, &params, pool);

    if (status != OK) {
        return status;
    }
    id = apr_table_get(params, "page");
    seq = apr_table_get(params, "seq");
    tab = apr_table_get(params, "tab");
    if (!id || !seq || !parse_u64(seq, &q->take.seq) || (tab && !parse_tab(tab, q->take.tab))) {
        return HTTP_BAD_REQUEST;
    }
    if (!vault_page_parse(&q->page, id)) {
        return HTTP_GONE;
    }
    q->ack = apr_table_get(params, "ack") != NULL;
    q->take.owner = r->user;
    q->take.now = vault_now();
    q->take.until = q->take.now + hold_time(r, vault_location_of(r));
    return OK;
}
