/* SPDX-License-Identifier: Apache-2.0 */
/* pages: lists all pages, or shows one page. */
#include <stdio.h>
#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "http.h"
#include "output.h"

/* The length of a page's name: the server shows no more of its id. */
#define NAME_LENGTH 12

static const char *text(const json_t *object, const char *name)
{
    return vaultctl_json_text(json_object_get(object, name));
}

static double seconds(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static json_int_t number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static void print_words(const json_t *list)
{
    const json_t *word;
    size_t i;

    json_array_foreach(list, i, word)
    {
        vaultctl_print(" %s", vaultctl_json_text(word));
    }
}

/* ---------------------------------------------------------------------- list */

static void print_page(const json_t *page)
{
    const json_t *owner = json_object_get(page, "Owner");

    vaultctl_print("%-*s %-26s %8.1f  ", NAME_LENGTH, text(page, "Page"), text(page, "State"),
                   seconds(page, "IdleSeconds"));
    if (json_is_string(owner)) {
        vaultctl_print("%s", json_string_value(owner));
    }
    else {
        vaultctl_print("address#%s", text(page, "Client"));
    }
    print_words(json_object_get(page, "Methods"));
    fputs("  [", stdout);
    print_words(json_object_get(page, "Interests"));
    fputs(" ]\n", stdout);
}

static void print_list(const json_t *pages)
{
    const json_t *page;
    size_t i;

    vaultctl_print("%-*s %-26s %8s  %s\n", NAME_LENGTH, "Page", "State", "Idle s", "Whose, methods [interests]");
    json_array_foreach(pages, i, page)
    {
        print_page(page);
    }
}

static const char *path_of_list(vaultctl_http_t *http, const vaultctl_options_t *o, apr_pool_t *pool)
{
    const char *path = "status?pages";

    if (o->owner != NULL) {
        path = apr_pstrcat(pool, path, "&owner=", vaultctl_http_escape(http, o->owner, pool), NULL);
    }
    if (o->interest != NULL) {
        path = apr_pstrcat(pool, path, "&interest=", vaultctl_http_escape(http, o->interest, pool), NULL);
    }
    return o->waiting ? apr_pstrcat(pool, path, "&state=polled", NULL)
           : o->idle  ? apr_pstrcat(pool, path, "&state=idle", NULL)
                      : path;
}

/* @param answer  to be released by the caller; contains the list "Pages" */
static int ask_list(vaultctl_http_t *http, json_t **answer, const char *path, const vaultctl_options_t *options,
                    apr_pool_t *pool)
{
    int status = vaultctl_http_json(http, answer, path, NULL, pool);

    if (status == VAULTCTL_DONE && !json_is_array(json_object_get(*answer, "Pages"))) {
        json_decref(*answer);
        return vaultctl_say(VAULTCTL_TROUBLE, "%s%s: this is not what mod_vault answers", options->url, path);
    }
    return status;
}

static int list(vaultctl_http_t *http, const vaultctl_options_t *options, apr_pool_t *pool)
{
    json_t *answer;
    int status = ask_list(http, &answer, path_of_list(http, options, pool), options, pool);

    if (status != VAULTCTL_DONE) {
        return status;
    }
    if (options->json) {
        vaultctl_print_json(json_object_get(answer, "Pages"), JSON_INDENT(2));
    }
    else {
        print_list(json_object_get(answer, "Pages"));
    }
    json_decref(answer);
    return VAULTCTL_DONE;
}

/* ------------------------------------------------------------------ one page */

static void print_interests(const json_t *interests)
{
    const json_t *interest;
    size_t i;

    json_array_foreach(interests, i, interest)
    {
        vaultctl_print("    %s: seen %" JSON_INTEGER_FORMAT ", now %" JSON_INTEGER_FORMAT "%s\n",
                       text(interest, "name"), number(interest, "seen"), number(interest, "stamp"),
                       json_is_true(json_object_get(interest, "moved")) ? " (moved)" : "");
    }
}

/* Whether the output of another run was used for the page, or why that cannot be. */
static void print_sharing(const json_t *method)
{
    json_int_t shared = number(method, "shared");

    if (shared > 0) {
        vaultctl_print("    shared %" JSON_INTEGER_FORMAT " time%s\n", shared, shared == 1 ? "" : "s");
    }
    if (json_is_string(json_object_get(method, "personal"))) {
        vaultctl_print("    personal because %s\n", text(method, "personal"));
    }
}

static void print_methods(const json_t *methods)
{
    const json_t *method;
    size_t i;

    json_array_foreach(methods, i, method)
    {
        vaultctl_print("  %s: %s\n", text(method, "url"), text(method, "state"));
        print_sharing(method);
        print_interests(json_object_get(method, "interests"));
    }
}

static void print_cursors(const json_t *cursors)
{
    const json_t *cursor;
    size_t i;

    json_array_foreach(cursors, i, cursor)
    {
        vaultctl_print("  %s is at %s\n", text(cursor, "call"), text(cursor, "place"));
    }
}

static void print_properties(json_t *properties)
{
    const char *key;
    const json_t *value;

    json_object_foreach(properties, key, value)
    {
        vaultctl_print("  %s = %s\n", key, vaultctl_json_text(value));
    }
}

static void print_history(const json_t *page)
{
    const json_t *wake = json_object_get(page, "LastWake"), *round = json_object_get(page, "LastRound");

    if (json_is_number(json_object_get(wake, "seconds"))) {
        vaultctl_print("Woken           %.1f s ago: %s\n", seconds(wake, "seconds"), text(wake, "why"));
    }
    if (json_is_number(json_object_get(round, "seconds"))) {
        vaultctl_print("Last round      %.1f s ago: %" JSON_INTEGER_FORMAT " of its methods ran, %" JSON_INTEGER_FORMAT
                       " had something to show, %" JSON_INTEGER_FORMAT " failed\n",
                       seconds(round, "seconds"), number(round, "methods"), number(round, "wrote"),
                       number(round, "failed"));
    }
}

static void print_one(const json_t *page)
{
    const json_t *staged = json_object_get(page, "Unacknowledged"), *seq;
    size_t i;

    vaultctl_print("Page            %s\n", text(page, "Page"));
    vaultctl_print("State           %s, idle for %.1f s\n", text(page, "State"), seconds(page, "IdleSeconds"));
    vaultctl_print("Owner           %s\n", text(page, "Owner"));
    print_history(page);
    vaultctl_print("Answer          number %" JSON_INTEGER_FORMAT " is what the browser has\n", number(page, "Seq"));
    json_array_foreach(staged, i, seq)
    {
        vaultctl_print("                number %" JSON_INTEGER_FORMAT " was sent and not acknowledged yet\n",
                       json_integer_value(seq));
    }
    puts("Methods");
    print_methods(json_object_get(page, "Methods"));
    if (json_array_size(json_object_get(page, "Cursors"))) {
        puts("Places in the data");
        print_cursors(json_object_get(page, "Cursors"));
    }
    if (json_object_size(json_object_get(page, "Properties"))) {
        puts("Properties");
        print_properties(json_object_get(page, "Properties"));
    }
}

static int show(vaultctl_http_t *http, const vaultctl_options_t *options, const char *id, apr_pool_t *pool)
{
    const char *path = apr_pstrcat(pool, "status?page=", vaultctl_http_escape(http, id, pool), NULL);
    json_t *page;
    int status = vaultctl_http_json(http, &page, path, NULL, pool);

    if (status != VAULTCTL_DONE) {
        return status;
    }
    if (options->json) {
        vaultctl_print_json(page, JSON_INDENT(2));
    }
    else {
        print_one(page);
    }
    json_decref(page);
    return VAULTCTL_DONE;
}

int vaultctl_pages(const vaultctl_options_t *options, char *const *words, int count, apr_pool_t *pool)
{
    vaultctl_http_t *http;

    if (count > 1) {
        return vaultctl_say(VAULTCTL_USAGE, "%s: pages takes one id at most", words[1]);
    }
    if (options->waiting && options->idle) {
        return vaultctl_say(VAULTCTL_USAGE, "--waiting and --idle exclude each other");
    }
    http = vaultctl_http_open(options, pool);
    if (http == NULL) {
        return VAULTCTL_TROUBLE;
    }
    if (count == 0) {
        return list(http, options, pool);
    }
    return show(http, options, apr_pstrndup(pool, words[0], NAME_LENGTH), pool);
}
