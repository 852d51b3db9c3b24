/* SPDX-License-Identifier: Apache-2.0 */
/* cache: lists what the output store keeps, and drops outputs. */
#include <stdio.h>
#include <string.h>

#include "apr_strings.h"

#include "http.h"
#include "output.h"

static const char *text(const json_t *object, const char *name)
{
    return vaultctl_json_text(json_object_get(object, name));
}

static json_int_t number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

/* ---------------------------------------------------------------------- list */

/* The bytes of a form, "-" without it, and an asterisk if they are in a file. */
static const char *bytes_of(const json_t *forms, const char *name, apr_pool_t *pool)
{
    const json_t *form;
    size_t i;

    json_array_foreach(forms, i, form)
    {
        if (strcmp(text(form, "Form"), name) == 0) {
            return apr_psprintf(pool, "%" APR_INT64_T_FMT "%s", (apr_int64_t)number(form, "Bytes"),
                                strcmp(text(form, "Where"), "file") == 0 ? "*" : "");
        }
    }
    return "-";
}

static void print_output(const json_t *output, apr_pool_t *pool)
{
    const json_t *forms = json_object_get(output, "Forms");

    vaultctl_print(
        "%-9s %9s %9s %9s %9" JSON_INTEGER_FORMAT " %8" JSON_INTEGER_FORMAT " %5" JSON_INTEGER_FORMAT " %8.1f  %s %s",
        text(output, "State"), bytes_of(forms, "plain", pool), bytes_of(forms, "gzip", pool),
        bytes_of(forms, "brotli", pool), number(output, "Hits"), number(output, "Renewals"), number(output, "Waits"),
        json_number_value(json_object_get(output, "AgeSeconds")), text(output, "Kind"), text(output, "Url"));
    if (json_is_string(json_object_get(output, "RenewedBy"))) {
        vaultctl_print("  [%s]", text(output, "RenewedBy"));
    }
    if (json_is_string(json_object_get(output, "Why"))) {
        vaultctl_print("  (%s)", text(output, "Why"));
    }
    putchar('\n');
}

static void print_list(const json_t *answer, apr_pool_t *pool)
{
    const json_t *outputs = json_object_get(answer, "Outputs"), *output;
    json_int_t left = number(answer, "Found") - (json_int_t)json_array_size(outputs);
    apr_pool_t *row;
    size_t i;

    apr_pool_create(&row, pool);
    vaultctl_print("%-9s %9s %9s %9s %9s %8s %5s %8s  %s\n", "State", "Bytes", "gzip", "brotli", "Hits", "Renewals",
                   "Waits", "Age s", "Kind, URL [renewed by] (why it is personal)");
    json_array_foreach(outputs, i, output)
    {
        print_output(output, row);
        apr_pool_clear(row);
    }
    if (left > 0) {
        vaultctl_print("and %" JSON_INTEGER_FORMAT " more: --limit, --match\n", left);
    }
}

static const char *path_of_list(vaultctl_http_t *http, const vaultctl_options_t *o, apr_pool_t *pool)
{
    const char *path = "status?cache";

    if (o->match != NULL) {
        path = apr_pstrcat(pool, path, "&match=", vaultctl_http_escape(http, o->match, pool), NULL);
    }
    if (o->sort != NULL) {
        path = apr_pstrcat(pool, path, "&sort=", vaultctl_http_escape(http, o->sort, pool), NULL);
    }
    return o->limit ? apr_psprintf(pool, "%s&limit=%d", path, o->limit) : path;
}

static int list(vaultctl_http_t *http, const vaultctl_options_t *options, apr_pool_t *pool)
{
    const char *path = path_of_list(http, options, pool);
    json_t *answer;
    int status = vaultctl_http_json(http, &answer, path, NULL, pool);

    if (status != VAULTCTL_DONE) {
        return status;
    }
    if (!json_is_array(json_object_get(answer, "Outputs"))) {
        status = vaultctl_say(VAULTCTL_TROUBLE, "%s%s: this is not what mod_vault answers", options->url, path);
    }
    else if (options->json) {
        vaultctl_print_json(json_object_get(answer, "Outputs"), JSON_INDENT(2));
    }
    else {
        print_list(answer, pool);
    }
    json_decref(answer);
    return status;
}

/* ---------------------------------------------------------------------- drop */

/* @param what  for the message */
static int drop(vaultctl_http_t *http, const vaultctl_options_t *options, const char *form, const char *what,
                apr_pool_t *pool)
{
    json_t *answer;
    int status = vaultctl_http_json(http, &answer, "status?cache", form, pool);

    if (status != VAULTCTL_DONE) {
        return status;
    }
    if (options->json) {
        vaultctl_print_json(answer, JSON_COMPACT);
    }
    else {
        vaultctl_print("%s: %" JSON_INTEGER_FORMAT " dropped\n", what, number(answer, "Dropped"));
    }
    json_decref(answer);
    return VAULTCTL_DONE;
}

static int drop_some(vaultctl_http_t *http, const vaultctl_options_t *o, char *const *urls, int count, apr_pool_t *pool)
{
    int status = VAULTCTL_DONE;

    if (o->all) {
        return drop(http, o, "all=1", "all", pool);
    }
    if (o->match != NULL) {
        return drop(http, o, apr_pstrcat(pool, "match=", vaultctl_http_escape(http, o->match, pool), NULL), o->match,
                    pool);
    }
    for (int i = 0; i < count && status == VAULTCTL_DONE; i++) {
        status =
            drop(http, o, apr_pstrcat(pool, "url=", vaultctl_http_escape(http, urls[i], pool), NULL), urls[i], pool);
    }
    return status;
}

int vaultctl_cache(const vaultctl_options_t *options, char *const *words, int count, apr_pool_t *pool)
{
    int drops = count > 0 && strcmp(words[0], "drop") == 0;
    vaultctl_http_t *http;

    if (count > 0 && !drops) {
        return vaultctl_say(VAULTCTL_USAGE, "%s: cache takes no word but drop", words[0]);
    }
    if (!drops && options->all) {
        return vaultctl_say(VAULTCTL_USAGE, "--all is for cache drop");
    }
    if (drops && options->all + (options->match != NULL) + (count > 1) != 1) {
        return vaultctl_say(VAULTCTL_USAGE, "which outputs? URLs, --match TEXT or --all, one of these");
    }
    http = vaultctl_http_open(options, pool);
    if (http == NULL) {
        return VAULTCTL_TROUBLE;
    }
    return drops ? drop_some(http, options, words + 1, count - 1, pool) : list(http, options, pool);
}
