/* SPDX-License-Identifier: Apache-2.0 */
/* notify: for writers outside of the server, from a shell. */
#include "apr_strings.h"

#include "http.h"
#include "output.h"

/* How long a notify is repeated that the server cannot accept now. */
#define PATIENCE apr_time_from_sec(60)

/* Repeats the notify, since a lost one would leave pages outdated. */
static const char *insist(vaultctl_http_t *http, vaultctl_answer_t *answer, const char *form, apr_pool_t *pool)
{
    apr_time_t end = apr_time_now() + PATIENCE;
    const char *why = vaultctl_http_ask(http, answer, "notify", form, 0, pool);

    while (why == NULL && (answer->status == 429 || answer->status == 503) && apr_time_now() < end) {
        apr_sleep(apr_time_from_sec(answer->retry_after > 0 ? answer->retry_after : 1));
        why = vaultctl_http_ask(http, answer, "notify", form, 0, pool);
    }
    return why;
}

static void print_answer(const vaultctl_options_t *options, json_t *answer, const char *interest)
{
    if (options->json) {
        json_object_set_new(answer, "interest", json_string(interest));
        vaultctl_print_json(answer, JSON_COMPACT);
    }
    else if (json_is_false(json_object_get(answer, "held"))) {
        vaultctl_print("%s: no page holds it\n", interest);
    }
}

static int notify(vaultctl_http_t *http, const vaultctl_options_t *options, const char *interest, apr_pool_t *pool)
{
    const char *form = apr_pstrcat(pool, "interest=", vaultctl_http_escape(http, interest, pool), NULL);
    vaultctl_answer_t answer;
    const char *why = insist(http, &answer, form, pool);
    json_t *json;

    if (why != NULL) {
        return vaultctl_say(VAULTCTL_TROUBLE, "%s", why);
    }
    json = answer.status == 200 || answer.status == 202 ? vaultctl_http_object(&answer) : NULL;
    if (json == NULL) {
        return vaultctl_http_say(&answer);
    }
    print_answer(options, json, interest);
    json_decref(json);
    return VAULTCTL_DONE;
}

int vaultctl_notify(const vaultctl_options_t *options, char *const *words, int count, apr_pool_t *pool)
{
    vaultctl_http_t *http;
    int status = VAULTCTL_DONE;

    if (count == 0) {
        return vaultctl_say(VAULTCTL_USAGE, "which interest?");
    }
    http = vaultctl_http_open(options, pool);
    if (http == NULL) {
        return VAULTCTL_TROUBLE;
    }
    for (int i = 0; i < count && status == VAULTCTL_DONE; i++) {
        status = notify(http, options, words[i], pool);
    }
    return status;
}
