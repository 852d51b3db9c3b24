/* SPDX-License-Identifier: Apache-2.0 */
/* check: has the running server check itself, and prints the result. */
#include "http.h"
#include "output.h"

static size_t print_list(const json_t *answer, const char *name, const char *label)
{
    const json_t *list = json_object_get(answer, name), *sentence;
    size_t i;

    json_array_foreach(list, i, sentence)
    {
        vaultctl_print("%s: %s\n", label, vaultctl_json_text(sentence));
    }
    return json_array_size(list);
}

static int print_answer(const json_t *answer)
{
    size_t wrong = print_list(answer, "Wrong", "wrong");
    size_t warnings = print_list(answer, "Warnings", "warning");

    if (wrong + warnings == 0) {
        vaultctl_print("%" JSON_INTEGER_FORMAT " pages, %" JSON_INTEGER_FORMAT " interests, %" JSON_INTEGER_FORMAT
                       " bytes of states: all is well\n",
                       json_integer_value(json_object_get(answer, "Pages")),
                       json_integer_value(json_object_get(answer, "Interests")),
                       json_integer_value(json_object_get(answer, "HeapUsed")));
    }
    return wrong + warnings ? VAULTCTL_FAILED : VAULTCTL_DONE;
}

int vaultctl_check(const vaultctl_options_t *options, char *const *words, int count, apr_pool_t *pool)
{
    vaultctl_http_t *http;
    json_t *answer;
    int status;

    if (count > 0) {
        return vaultctl_say(VAULTCTL_USAGE, "%s: check takes no word", words[0]);
    }
    http = vaultctl_http_open(options, pool);
    status = http != NULL ? vaultctl_http_json(http, &answer, "status?check", NULL, pool) : VAULTCTL_TROUBLE;
    if (status != VAULTCTL_DONE) {
        return status;
    }
    if (!json_is_array(json_object_get(answer, "Wrong")) || !json_is_array(json_object_get(answer, "Warnings"))) {
        status = vaultctl_say(VAULTCTL_TROUBLE, "%sstatus?check: this mod_vault cannot check itself; is it older?",
                              options->url);
    }
    else if (options->json) {
        vaultctl_print_json(answer, JSON_INDENT(2));
        status =
            json_array_size(json_object_get(answer, "Wrong")) || json_array_size(json_object_get(answer, "Warnings"))
                ? VAULTCTL_FAILED
                : VAULTCTL_DONE;
    }
    else {
        status = print_answer(answer);
    }
    json_decref(answer);
    return status;
}
