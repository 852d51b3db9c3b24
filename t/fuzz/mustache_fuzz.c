/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mustache_fuzz.c
 * Feeds any template with any JSON to the compiler and the renderer.
 *
 * The first byte of an input says how long the template is, in 255ths of what follows; the rest is JSON. The partial
 * "p" is the template itself, "q" a fixed one. Checked besides crashes: an error is a sentence with a line, no write is
 * empty, two renderings of one template are the same.
 */
#include "template/mustache.h"

#include "fuzz.h"

/* What one input may write. */
#define OUTPUT_MAX 100000

typedef struct sink_t {
    const vault_mustache_t *self;
    const vault_mustache_t *other;
    apr_size_t len;
    apr_uint32_t sum;
} sink_t;

static apr_status_t write_cb(void *baton, const char *text, apr_size_t len)
{
    sink_t *sink = baton;
    apr_size_t i;

    if (len == 0) {
        abort();
    }
    for (i = 0; i < len; i++) {
        sink->sum = sink->sum * 31 + (unsigned char)text[i];
    }
    sink->len += len;
    return sink->len > OUTPUT_MAX ? APR_ENOSPC : APR_SUCCESS;
}

static const vault_mustache_t *partial_cb(void *baton, const char *name)
{
    const sink_t *sink = baton;

    return !strcmp(name, "p") ? sink->self : !strcmp(name, "q") ? sink->other : NULL;
}

static void render_twice(const vault_mustache_t *self, const json_t *context, apr_pool_t *pool)
{
    static const char other[] = "{{! x }}a\n  {{#a}}\n{{.}}\n\n {{>r}}{{/a}}\n\t{{>r}}\nb{{>p}}";
    sink_t first = {.self = self}, second;
    vault_mustache_t *template;
    const char *error;
    apr_status_t status;

    if (vault_mustache_compile(&template, other, sizeof other - 1, &error, pool) != APR_SUCCESS) {
        abort();
    }
    first.other = template;
    second = first;
    status = vault_mustache_render(self, context, partial_cb, &first, write_cb, &first, pool);
    if (status != vault_mustache_render(self, context, partial_cb, &second, write_cb, &second, pool) ||
        first.len != second.len || first.sum != second.sum) {
        abort();
    }
}

static void feed_both(const char *text, apr_size_t len, const char *json, apr_size_t json_len, apr_pool_t *pool)
{
    vault_mustache_t *template;
    const char *error;
    json_t *context;
    apr_status_t status = vault_mustache_compile(&template, text, len, &error, pool);

    if (status != APR_SUCCESS) {
        if (status != APR_EINVAL || template || !error || strncmp(error, "line ", 5) != 0) {
            abort();
        }
        return;
    }
    context = json_loadb(json, json_len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    render_twice(template, context, pool);
    json_decref(context);
}

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    apr_size_t size = length > 0 ? (length - 1) * (unsigned char)text[0] / 255 : 0;
    char *template = malloc(size + 1); /* apart, so that reading past the end shows */

    if (length > 0) {
        memcpy(template, text + 1, size);
        feed_both(template, size, text + 1 + size, length - 1 - size, pool);
    }
    free(template);
}
