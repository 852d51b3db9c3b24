/* SPDX-License-Identifier: Apache-2.0 */
/* What a page shows: see shown.h. */
#include "shown.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

#define FAULTS_PRINTED 20

shown_counts_t shown_counts;

static int faults;

static void say_fault(const shown_t *shown, int method, int thing, const char *what, long row)
{
    if (faults++ < FAULTS_PRINTED) {
        printf("FAULT: page %d, method %d, thing %d: row %ld %s; it shows %ld\n", shown->page, method, thing, row, what,
               shown->last[method]);
    }
}

static void say_garbled(const shown_t *shown, const char *what, const char *text)
{
    shown_counts.garbled++;
    if (faults++ < FAULTS_PRINTED) {
        printf("FAULT: page %d: %s: %.300s\n", shown->page, what, text);
    }
}

void shown_begin(shown_t *shown, const site_t *site, int page)
{
    shown->page = page;
    shown->last = calloc((size_t)site_methods(site), sizeof *shown->last);
    if (shown->last == NULL) {
        wire_die("out of memory");
    }
}

int shown_view(shown_t *shown, const site_t *site, const char *html)
{
    static const char mark[] = "<p id=\"view\">";
    const char *at = strstr(html, mark);
    int methods = site_methods(site);
    char *end;

    if (at == NULL) {
        return 0;
    }
    at += sizeof mark - 1;
    for (int i = 0; i < methods; i++) {
        if (site_is_table(site, site_thing(site, shown->page, i))) {
            shown->last[i] = -1;
            continue;
        }
        shown->last[i] = strtol(at, &end, 10);
        if (end == at) {
            return 0;
        }
        at = end;
    }
    return 1;
}

static void take_row(shown_t *shown, int method, int thing, long row)
{
    long last = shown->last[method] < 0 ? 0 : shown->last[method];

    if (row <= last) {
        shown_counts.doubled++;
        say_fault(shown, method, thing, "came twice", row);
    }
    else if (row > last + 1) {
        shown_counts.lost++;
        say_fault(shown, method, thing, "came where rows before it are missing", row);
    }
    shown->last[method] = row;
    shown_counts.rows++;
}

/* One number a line. */
static void take_lines(shown_t *shown, int method, int thing, const char *body)
{
    char *end;

    while (*body != '\0') {
        long row = strtol(body, &end, 10);

        if (end == body || *end != '\n') {
            say_garbled(shown, "an update that is no list of numbers", body);
            return;
        }
        take_row(shown, method, thing, row);
        body = end + 1;
    }
}

/* Rows of a table as JSON. A first view shows the newest row, and what came before it is none of the page's
 * business. */
static void take_rows(shown_t *shown, int method, int thing, const char *body, int first)
{
    json_t *rows = json_loads(body, 0, NULL);
    json_t *row;
    size_t i;

    if (!json_is_array(rows)) {
        say_garbled(shown, "an update that is no list of rows", body);
    }
    json_array_foreach(rows, i, row)
    {
        long id = (long)json_integer_value(json_object_get(row, "id"));

        if (first && i == 0 && id >= shown->last[method]) {
            shown->last[method] = id - 1;
        }
        take_row(shown, method, thing, id);
    }
    if (first && shown->last[method] < 0) {
        shown->last[method] = 0;
    }
    json_decref(rows);
}

/* Which method of the page it is, by its URL; -1: none. */
static int find_method(const shown_t *shown, const site_t *site, const char *url)
{
    const char *number = strstr(url, "name=%23"), *table = strstr(url, "table=t");
    int thing = number ? atoi(number + 8) : table ? site->keys + atoi(table + 7) : -1;

    for (int i = 0; i < site_methods(site); i++) {
        if (site_thing(site, shown->page, i) == thing) {
            return i;
        }
    }
    return -1;
}

static void take_update(shown_t *shown, const site_t *site, const json_t *update)
{
    const char *url = json_string_value(json_object_get(update, "method")),
               *body = json_string_value(json_object_get(update, "body")),
               *format = json_string_value(json_object_get(update, "format"));
    int method = url != NULL ? find_method(shown, site, url) : -1, thing;

    if (method < 0 || body == NULL) {
        say_garbled(shown, "an update of none of its methods", url != NULL ? url : "");
        return;
    }
    shown_counts.updates++;
    thing = site_thing(site, shown->page, method);
    if (site_is_table(site, thing)) {
        take_rows(shown, method, thing, body, format != NULL && strcmp(format, "first") == 0);
    }
    else {
        take_lines(shown, method, thing, body);
    }
}

uint64_t shown_apply(shown_t *shown, const site_t *site, const char *answer)
{
    json_t *root = json_loads(answer, 0, NULL), *updates = json_object_get(root, "updates"), *update;
    uint64_t seq = (uint64_t)json_integer_value(json_object_get(root, "seq"));
    size_t i;

    if (seq == 0 || json_array_size(updates) == 0) {
        say_garbled(shown, "an answer without seq or updates", answer);
        json_decref(root);
        return 0;
    }
    shown_counts.answers++;
    json_array_foreach(updates, i, update)
    {
        take_update(shown, site, update);
    }
    json_decref(root);
    return seq;
}

int shown_differs(const shown_t *shown, const site_t *site, const long *truth, int print)
{
    int differs = 0;

    for (int i = 0; i < site_methods(site); i++) {
        int thing = site_thing(site, shown->page, i);

        if (shown->last[i] == truth[thing]) {
            continue;
        }
        differs++;
        if (print && faults++ < FAULTS_PRINTED) {
            printf("FAULT: page %d, method %d, thing %d: it shows %ld, a fresh view %ld\n", shown->page, i, thing,
                   shown->last[i], truth[thing]);
        }
    }
    return differs;
}
