/* SPDX-License-Identifier: Apache-2.0 */
/* The output of methods, as JSON or as server-sent events. */
#include "poll/updates.h"

#include <string.h>

static apr_status_t drop_texts(void *u)
{
    vault_json_text_drop(&((vault_updates_t *)u)->text);
    vault_json_text_drop(&((vault_updates_t *)u)->refused);
    return APR_SUCCESS;
}

void vault_updates_begin(vault_updates_t *u, apr_pool_t *pool, int events)
{
    memset(u, 0, sizeof(*u));
    u->events = events;
    apr_pool_cleanup_register(pool, u, drop_texts, apr_pool_cleanup_null);
}

static void write_text(vault_json_text_t *t, const char *before, const char *s)
{
    vault_json_text_raw(t, before);
    vault_json_text_string(t, s, strlen(s));
}

static void write_update(vault_json_text_t *t, const vault_output_t *o)
{
    write_text(t, "{\"method\":", o->url);
    write_text(t, ",\"type\":", o->type);
    vault_json_text_raw(t, ",\"body\":");
    vault_json_text_string(t, o->body, o->length);
    if (o->format) {
        write_text(t, ",\"format\":", o->format);
    }
    vault_json_text_raw(t, "}");
}

static void write_refused(vault_json_text_t *t, const vault_refused_t *refused)
{
    write_text(t, "{\"method\":", refused->url);
    vault_json_text_raw(t, ",\"status\":");
    vault_json_text_number(t, (apr_uint64_t)refused->status);
    write_text(t, ",\"error\":", refused->error);
    vault_json_text_raw(t, "}");
}

/* A NUL would end the text. HTML parsers replace it by this character. */
static void write_line(vault_json_text_t *t, const char *line, const char *end)
{
    const char *nul;

    vault_json_text_raw(t, "data: ");
    for (; (nul = memchr(line, '\0', (apr_size_t)(end - line))); line = nul + 1) {
        vault_json_text_bytes(t, line, (apr_size_t)(nul - line));
        vault_json_text_raw(t, "\xef\xbf\xbd");
    }
    vault_json_text_bytes(t, line, (apr_size_t)(end - line));
    vault_json_text_raw(t, "\n");
}

/* A line of an event stream ends with CR, LF, or both. The client joins the data lines of an event with LF. */
static void write_lines(vault_json_text_t *t, const char *text, apr_size_t length)
{
    const char *end = text + length, *line = text, *p;

    do {
        for (p = line; p < end && *p != '\r' && *p != '\n'; p++) {
        }
        write_line(t, line, p);
        line = p + 1 + (end - p > 1 && p[0] == '\r' && p[1] == '\n');
    } while (p < end);
}

static void write_event(vault_json_text_t *t, const vault_output_t *o)
{
    if (o->format) {
        vault_json_text_raw(t, "event: ");
        vault_json_text_raw(t, o->format);
        vault_json_text_raw(t, "\n");
    }
    write_lines(t, o->body, o->length);
}

int vault_answer_budget_allows(vault_answer_budget_t *budget, apr_size_t length)
{
    budget->full |= budget->used && (budget->used >= budget->most || length > budget->most - budget->used);
    return !budget->full;
}

/* Charges the budget for the text written after `before`, or removes that text. */
static int charge(vault_json_text_t *t, apr_size_t before, vault_answer_budget_t *budget)
{
    if (!vault_answer_budget_allows(budget, t->length - before)) {
        t->length = before;
        return 0;
    }
    budget->used += t->length - before;
    return 1;
}

/* Both formats of a text are at least as long as the text itself. */
int vault_updates_add(vault_updates_t *u, const vault_output_t *output, vault_answer_budget_t *budget)
{
    apr_size_t before = u->text.length;

    if (!vault_answer_budget_allows(budget, output->length)) {
        return 0;
    }
    if (u->count) {
        vault_json_text_raw(&u->text, u->events ? "\n" : ",");
    }
    if (u->events) {
        write_event(&u->text, output);
    }
    else {
        write_update(&u->text, output);
    }
    if (!charge(&u->text, before, budget)) {
        return 0;
    }
    u->count++;
    return 1;
}

int vault_updates_refuse(vault_updates_t *u, const vault_refused_t *refused, vault_answer_budget_t *budget)
{
    apr_size_t before = u->refused.length;

    if (u->refusals) {
        vault_json_text_raw(&u->refused, ",");
    }
    write_refused(&u->refused, refused);
    if (budget && !charge(&u->refused, before, budget)) {
        return 0;
    }
    u->refusals++;
    return 1;
}

static void write_array(vault_json_text_t *t, vault_json_text_t *entries)
{
    vault_json_text_raw(t, "[");
    vault_json_text_take(t, entries);
    vault_json_text_raw(t, "]");
}

void vault_updates_write(vault_json_text_t *t, vault_updates_t *u)
{
    write_array(t, &u->text);
    u->count = 0;
}

void vault_updates_write_refused(vault_json_text_t *t, vault_updates_t *u)
{
    write_array(t, &u->refused);
    u->refusals = 0;
}

void vault_updates_write_events(vault_json_text_t *t, vault_updates_t *u, apr_uint64_t seq)
{
    vault_json_text_take(t, &u->text);
    if (u->refusals) {
        vault_json_text_raw(t, u->count ? "\nevent: vault-refused\ndata: " : "event: vault-refused\ndata: ");
        vault_updates_write_refused(t, u);
        vault_json_text_raw(t, "\n");
    }
    vault_json_text_raw(t, "id: ");
    vault_json_text_number(t, seq);
    vault_json_text_raw(t, "\n\n");
    u->count = 0;
}
