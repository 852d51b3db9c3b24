/* SPDX-License-Identifier: Apache-2.0 */
/* Describes the facts of a page in words. */
#include "admin/explain.h"

#include <jansson.h>

#include "apr_strings.h"

#include "admin/cache_status.h"
#include "base/now.h"
#include "base/utf8.h"
#include "mod_vault/vault.h"
#include "page/page_facts.h"
#include "page/page_name.h"
#include "request/reply.h"
#include "server/server.h"
#include "wait/waiters.h"

/* Several causes can be set. The first row that matches is the one that the dispatcher has acted on. */
static const struct cause_t {
    unsigned bits;
    const char *word;
} causes[] = {
    {VAULT_CAUSE_STOP, "its child ended"},
    {VAULT_CAUSE_END, "its time was up"},
    {VAULT_CAUSE_NOTIFY, "an interest was notified"},
    {VAULT_CAUSE_DUE, "a failed method was due again"},
};

static const char *cause_word(unsigned bits)
{
    unsigned i;

    for (i = 0; i < sizeof(causes) / sizeof(causes[0]); i++) {
        if (bits & causes[i].bits) {
            return causes[i].word;
        }
    }
    return "its client, or httpd";
}

/* The seconds since `then`, with a fraction; null for never. */
static json_t *seconds_since(apr_uint64_t then, apr_time_t now)
{
    return then ? json_real((double)(now - (apr_time_t)then) / APR_USEC_PER_SEC) : json_null();
}

static int has_moved(const vault_dep_t *d)
{
    return vault_interest_stamp(vault_server->notifier, d->interest) > d->stamp;
}

const char *vault_explain_text(const char *text, apr_pool_t *pool)
{
    apr_size_t length;

    return text ? vault_page_shorten(vault_utf8_clean(text, strlen(text), &length, pool), pool) : NULL;
}

const char *vault_explain_interest(vault_interest_t interest, apr_pool_t *pool)
{
    char name[VAULT_INTEREST_MAX + 1];

    vault_interest_name(vault_server->notifier, interest, name, sizeof(name));
    return vault_explain_text(apr_pstrdup(pool, name), pool);
}

static json_t *dep_json(const vault_dep_t *d, apr_pool_t *pool)
{
    return json_pack("{s:s, s:I, s:I, s:b}", "name", vault_explain_interest(d->interest, pool), "seen",
                     (json_int_t)d->stamp, "stamp",
                     (json_int_t)vault_interest_stamp(vault_server->notifier, d->interest), "moved", has_moved(d));
}

static json_t *deps_json(const apr_array_header_t *deps)
{
    json_t *list = json_array();
    int i;

    for (i = 0; deps && i < deps->nelts; i++) {
        json_array_append_new(list, dep_json(&APR_ARRAY_IDX(deps, i, vault_dep_t), deps->pool));
    }
    return list;
}

static const char *refused_state(const vault_refusal_t *refusal, apr_pool_t *pool)
{
    apr_time_t now = vault_now();

    return refusal->until > now ? apr_psprintf(pool, "refused with status %u: tried again in %d s", refusal->status,
                                               (int)apr_time_sec(refusal->until - now) + 1)
                                : apr_psprintf(pool, "refused with status %u: to be tried again", refusal->status);
}

static const char *method_state(const vault_method_t *m, apr_pool_t *pool)
{
    int i;

    if (m->refusal.status) {
        return refused_state(&m->refusal, pool);
    }
    if (!m->deps) {
        return "never run";
    }
    for (i = 0; i < m->deps->nelts; i++) {
        if (has_moved(&APR_ARRAY_IDX(m->deps, i, vault_dep_t))) {
            return "to be run";
        }
    }
    return m->deps->nelts ? "waits" : "has no interest: never runs again";
}

static json_t *methods_json(const vault_state_t *s)
{
    json_t *list = json_array();
    int i;

    for (i = 0; i < s->methods->nelts; i++) {
        const vault_method_t *m = &APR_ARRAY_IDX(s->methods, i, vault_method_t);
        json_array_append_new(
            list, json_pack("{s:s, s:s, s:o, s:i, s:s?, s:o}", "url", vault_explain_text(m->url, s->methods->pool),
                            "state", method_state(m, s->methods->pool), "refused",
                            m->refusal.status ? json_integer(m->refusal.status) : json_null(), "shared", (int)m->shared,
                            "personal", vault_cache_status_meaning(m->personal), "interests", deps_json(m->deps)));
    }
    return list;
}

static json_t *cursors_json(const vault_state_t *s)
{
    apr_pool_t *pool = s->cursors->pool;
    json_t *list = json_array();
    int i;

    for (i = 0; i < s->cursors->nelts; i++) {
        const vault_cursor_t *c = &APR_ARRAY_IDX(s->cursors, i, vault_cursor_t);
        json_array_append_new(list, json_pack("{s:s, s:s, s:s?, s:o}", "method", vault_explain_text(c->scope, pool),
                                              "call", vault_explain_text(c->key, pool), "place",
                                              vault_explain_text(c->value, pool), "interests", deps_json(c->deps)));
    }
    return list;
}

static json_t *properties_json(const vault_state_t *s)
{
    apr_pool_t *pool = s->properties->pool;
    json_t *object = json_object();
    int i;

    for (i = 0; i < s->properties->nelts; i++) {
        const vault_property_t *p = &APR_ARRAY_IDX(s->properties, i, vault_property_t);
        json_object_set_new(object, vault_explain_text(p->key, pool), json_string(vault_explain_text(p->value, pool)));
    }
    return object;
}

static json_t *staged_json(const vault_page_facts_t *f)
{
    json_t *list = json_array();
    unsigned i;

    for (i = 0; i < f->count; i++) {
        if (f->staged[i]) {
            json_array_append_new(list, json_integer((json_int_t)f->staged[i]->seq));
        }
    }
    return list;
}

static void add_state(json_t *page, const vault_page_facts_t *f)
{
    json_object_set_new(page, "Seq", json_integer((json_int_t)f->base->seq));
    json_object_set_new(page, "Unacknowledged", staged_json(f));
    json_object_set_new(page, "Methods", methods_json(f->base));
    json_object_set_new(page, "Cursors", cursors_json(f->base));
    json_object_set_new(page, "Properties", properties_json(f->base));
}

const char *vault_explain_state(const vault_page_facts_t *f, apr_time_t now)
{
    return !f->base               ? "its HTML is not complete"
           : f->idle_since >= now ? "polled"
           : f->polled            ? "between polls"
                                  : "never polled";
}

static json_t *page_json(const vault_page_t *which, const vault_page_facts_t *f, apr_pool_t *pool)
{
    apr_time_t now = vault_now();
    char name[VAULT_PAGE_NAME_LEN + 1];
    json_t *page;

    vault_page_name(which, name);
    page = json_pack("{s:s, s:s, s:s?}", "Page", name, "State", vault_explain_state(f, now), "Owner",
                     vault_explain_text(f->owner, pool));
    json_object_set_new(page, "IdleSeconds",
                        f->idle_since < now ? seconds_since((apr_uint64_t)f->idle_since, now) : json_integer(0));
    json_object_set_new(page, "LastWake",
                        json_pack("{s:o, s:s?}", "seconds", seconds_since(f->last.woken_at, now), "why",
                                  f->last.woken_at ? cause_word(f->last.causes) : NULL));
    json_object_set_new(page, "LastRound",
                        json_pack("{s:o, s:I, s:I, s:I}", "seconds", seconds_since(f->last.ran_at, now), "methods",
                                  (json_int_t)f->last.ran, "wrote", (json_int_t)f->last.wrote, "failed",
                                  (json_int_t)f->last.failed));
    if (f->base) {
        add_state(page, f);
    }
    return page;
}

int vault_explain(request_rec *r, const char *name)
{
    vault_page_facts_t facts;
    vault_page_t page;
    apr_status_t rv = vault_page_find(vault_server->pages, &page, name);

    if (rv == APR_EINVAL) {
        return vault_reply_error(
            r, HTTP_BAD_REQUEST,
            "page: 1 to 12 hexadecimal digits of a page's name are accepted, or its whole id of 40");
    }
    if (rv == APR_EEXIST) {
        return vault_reply_error(r, HTTP_CONFLICT, "several pages begin so");
    }
    if (rv != APR_SUCCESS || vault_page_facts(vault_server->pages, &page, &facts, r->pool) != APR_SUCCESS) {
        return vault_reply_error(r, HTTP_NOT_FOUND, "there is no such page");
    }
    return vault_reply_json(r, HTTP_OK, page_json(&page, &facts, r->pool));
}
