/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mustache_fuzz.c
 * Feeds any template with any JSON to the compiler and the renderer.
 *
 * The first byte of an input says how long the template is, in 255ths of what follows; the rest is JSON. The partial
 * "p" is the template itself, "q" a fixed one. Checked besides crashes: an error is a sentence with a line, no write is
 * empty, two renderings of one template are the same.
 *
 * With clang: -DFUZZER -fsanitize=fuzzer,address. Without FUZZER: a program that feeds each file that is named.
 */
#include "mustache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apr_general.h"

/* What one input may write. */
#define OUTPUT_MAX 100000

typedef struct sink_t {
    const vault_mustache_t *self;
    const vault_mustache_t *other;
    apr_size_t len;
    apr_uint32_t sum;
} sink_t;

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

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

static void feed(const char *text, apr_size_t len, const char *json, apr_size_t json_len, apr_pool_t *pool)
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

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static int ready;
    apr_pool_t *pool;
    apr_size_t len;
    char *text, *json;

    if (!ready) {
        ready = apr_initialize() == APR_SUCCESS;
    }
    if (size == 0 || apr_pool_create_unmanaged_ex(&pool, NULL, NULL) != APR_SUCCESS) {
        return 0;
    }
    len = (size - 1) * data[0] / 255;
    text = malloc(len ? len : 1); /* apart, so that reading past the end of one shows */
    json = malloc(size - len);
    if (text && json) {
        memcpy(text, data + 1, len);
        memcpy(json, data + 1 + len, size - 1 - len);
        feed(text, len, json, size - 1 - len, pool);
    }
    free(text);
    free(json);
    apr_pool_destroy(pool);
    return 0;
}

#ifndef FUZZER

static int feed_file(const char *path)
{
    static unsigned char data[1 << 20];
    FILE *file = fopen(path, "rb");
    size_t size;

    if (!file) {
        perror(path);
        return 0;
    }
    size = fread(data, 1, sizeof data, file);
    fclose(file);
    LLVMFuzzerTestOneInput(data, size);
    return 1;
}

int main(int argc, char **argv)
{
    int i, fed = 0;

    for (i = 1; i < argc; i++) {
        fed += feed_file(argv[i]);
    }
    printf("%d inputs\n", fed);
    return fed == 0 || fed != argc - 1;
}

#endif
