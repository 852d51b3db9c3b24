/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mustache_test.c
 * Mustache: the rows of mustache_rows.h, what cannot be a row, and the required modules of the public specification,
 * whose files are in mustache-spec (https://github.com/mustache/spec, commit 9cb20c3).
 */
#include "template/mustache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <CUnit/CUnit.h>

#include "apr_general.h"
#include "apr_strings.h"
#include "apr_time.h"

#include "mustache_rows.h"

void vault_mustache_suite(void);

#define OUTPUT_MAX 100000

typedef struct output_t {
    char text[OUTPUT_MAX + 1];
    apr_size_t len;
    int calls;
    int calls_max;          /* the call after these is answered with APR_EPIPE */
    const json_t *partials; /* name: template */
    const char *error;      /* of a partial */
    apr_pool_t *pool;
} output_t;

static apr_status_t write_cb(void *baton, const char *text, apr_size_t len)
{
    output_t *output = baton;

    CU_ASSERT_TRUE(len > 0);
    if (output->calls++ == output->calls_max || output->len + len > OUTPUT_MAX) {
        return APR_EPIPE;
    }
    memcpy(output->text + output->len, text, len);
    output->len += len;
    output->text[output->len] = '\0';
    return APR_SUCCESS;
}

static const vault_mustache_t *partial_cb(void *baton, const char *name)
{
    output_t *output = baton;
    const json_t *text = json_object_get(output->partials, name);
    vault_mustache_t *template;

    if (!text) {
        return NULL;
    }
    vault_mustache_compile(&template, json_string_value(text), json_string_length(text), &output->error, output->pool);
    return template;
}

static void begin(output_t *output, const json_t *partials, apr_pool_t *pool)
{
    memset(output, 0, sizeof *output);
    output->partials = partials;
    output->calls_max = -1;
    output->pool = pool;
}

/* What the template renders, or "!" and the sentence of the error. */
static const char *render(output_t *output, const char *text, apr_size_t len, const json_t *data,
                          const json_t *partials)
{
    vault_mustache_t *template;
    const char *error;
    apr_status_t status;

    status = vault_mustache_compile(&template, text, len, &error, output->pool);
    if (status != APR_SUCCESS) {
        CU_ASSERT_EQUAL(status, APR_EINVAL);
        CU_ASSERT_PTR_NULL(template);
        return apr_pstrcat(output->pool, "!", error, NULL);
    }
    CU_ASSERT_PTR_NULL(error);
    status =
        vault_mustache_render(template, data, partials ? partial_cb : NULL, output, write_cb, output, output->pool);
    CU_ASSERT_EQUAL(status, APR_SUCCESS);
    CU_ASSERT_PTR_NULL(output->error);
    return output->text;
}

static void expect(const char *name, const char *expected, const char *actual, const char *why)
{
    int same = !strcmp(expected, actual);

    if (!same) {
        printf("\n  %s: %s\n    expected <%s>\n    got      <%s>\n", name, why, expected, actual);
    }
    CU_ASSERT_TRUE(same);
}

static void rows(void)
{
    static output_t output;
    apr_size_t i;

    for (i = 0; i < sizeof mustache_rows / sizeof *mustache_rows; i++) {
        const mustache_row_t *row = &mustache_rows[i];
        json_t *data = json_loads(row->data, JSON_DECODE_ANY, NULL);
        json_t *partials = row->partials ? json_loads(row->partials, 0, NULL) : NULL;
        apr_size_t len = strlen(row->template);
        apr_pool_t *pool;
        char *exact;

        apr_pool_create(&pool, NULL);
        CU_ASSERT_PTR_NOT_NULL(data);
        CU_ASSERT_TRUE(!row->partials || partials);
        begin(&output, partials, pool);
        exact = malloc(len ? len : 1); /* no byte behind it: an overrun shows under a checker */
        memcpy(exact, row->template, len);
        expect(row->name, row->expected, render(&output, exact, len, data, partials), row->why);
        free(exact);
        json_decref(data);
        json_decref(partials);
        apr_pool_destroy(pool);
    }
}

/* Static text between two tags that do something is written in one piece, whatever was left out in it. */
static void spans_are_merged(void)
{
    static output_t output;
    static const char text[] = "a\n{{! b }}\nc{{! d }}e{{=| |=}}f\n";
    apr_pool_t *pool;

    apr_pool_create(&pool, NULL);
    begin(&output, NULL, pool);
    CU_ASSERT_STRING_EQUAL(render(&output, text, sizeof text - 1, NULL, NULL), "a\ncef\n");
    CU_ASSERT_EQUAL(output.calls, 1);
    apr_pool_destroy(pool);
}

/* Wherever writing fails, its status comes back and nothing more is written. */
static void write_errors_end_it(void)
{
    static output_t output;
    static const char text[] = "a{{b}}{{#c}}{{.}}{{/c}}{{d}}\n {{>p}}\n";
    json_t *data = json_pack("{s:s, s:[i, f], s:{s:s}}", "b", "x<y", "c", 1, 2.5, "d", "e", "<");
    json_t *partials = json_pack("{s:s}", "p", "1\n2\n");
    vault_mustache_t *template;
    const char *error;
    apr_status_t status;
    apr_pool_t *pool;
    int max = 0, calls;

    apr_pool_create(&pool, NULL);
    CU_ASSERT_EQUAL(vault_mustache_compile(&template, text, sizeof text - 1, &error, pool), APR_SUCCESS);
    do {
        begin(&output, partials, pool);
        output.calls_max = max++;
        status = vault_mustache_render(template, data, partial_cb, &output, write_cb, &output, pool);
        calls = output.calls;
        CU_ASSERT_TRUE(calls <= max);
    } while (status == APR_EPIPE && max < 1000);
    CU_ASSERT_EQUAL(status, APR_SUCCESS);
    CU_ASSERT_TRUE(max > 12);
    CU_ASSERT_STRING_EQUAL(output.text, "ax&lt;y12.5{&quot;e&quot;:&quot;&lt;&quot;}\n 1\n 2\n");
    json_decref(data);
    json_decref(partials);
    apr_pool_destroy(pool);
}

static void data_may_hold_nul(void)
{
    static output_t output;
    json_t *data = json_pack("{s:s#}", "a", "x\0<", 3);
    apr_pool_t *pool;

    apr_pool_create(&pool, NULL);
    begin(&output, NULL, pool);
    render(&output, "{{a}}", 5, data, NULL);
    CU_ASSERT_EQUAL(output.len, 6);
    CU_ASSERT_EQUAL(memcmp(output.text, "x\0&lt;", 6), 0);
    json_decref(data);
    apr_pool_destroy(pool);
}

static const char *repeated(const char *text, int times, apr_pool_t *pool)
{
    apr_size_t len = strlen(text);
    char *all = apr_palloc(pool, len * (apr_size_t)times + 1), *p = all;

    while (times--) {
        memcpy(p, text, len);
        p += len;
    }
    *p = '\0';
    return all;
}

static void sections_have_a_depth(void)
{
    static output_t output;
    const char *at_limit, *beyond;
    json_t *data = json_pack("{s:b}", "a", 1);
    apr_pool_t *pool;

    apr_pool_create(&pool, NULL);
    begin(&output, NULL, pool);
    at_limit = apr_pstrcat(pool, repeated("{{#a}}", VAULT_MUSTACHE_DEPTH_MAX, pool), "x",
                           repeated("{{/a}}", VAULT_MUSTACHE_DEPTH_MAX, pool), NULL);
    CU_ASSERT_STRING_EQUAL(render(&output, at_limit, strlen(at_limit), data, NULL), "x");
    beyond = repeated("{{^a}}\n", VAULT_MUSTACHE_DEPTH_MAX + 1, pool);
    CU_ASSERT_STRING_EQUAL(render(&output, beyond, strlen(beyond), data, NULL),
                           "!line 33: sections are nested deeper than 32");
    json_decref(data);
    apr_pool_destroy(pool);
}

static apr_status_t render_status(const char *text, const json_t *data, const json_t *partials, int *len,
                                  apr_pool_t *pool)
{
    static output_t output;
    vault_mustache_t *template;
    const char *error;
    apr_status_t status;

    begin(&output, partials, pool);
    CU_ASSERT_EQUAL(vault_mustache_compile(&template, text, strlen(text), &error, pool), APR_SUCCESS);
    status = vault_mustache_render(template, data, partial_cb, &output, write_cb, &output, pool);
    *len = (int)output.len;
    return status;
}

/* A list of lists of … so deep. */
static json_t *deep_list(int depth)
{
    json_t *list = json_array();

    while (--depth > 0) {
        json_t *outer = json_array();

        json_array_append_new(outer, list);
        list = outer;
    }
    return list;
}

static void partials_have_a_depth(void)
{
    json_t *partials = json_pack("{s:s, s:s}", "p", "x{{>p}}", "q", "x{{#.}}\n {{>q}}\n{{/.}}\n");
    json_t *at_limit = deep_list(VAULT_MUSTACHE_DEPTH_MAX), *beyond = deep_list(VAULT_MUSTACHE_DEPTH_MAX + 1);
    apr_pool_t *pool;
    int len;

    apr_pool_create(&pool, NULL);
    CU_ASSERT_EQUAL(render_status("{{>p}}", NULL, partials, &len, pool), APR_EGENERAL);
    CU_ASSERT_EQUAL(len, VAULT_MUSTACHE_DEPTH_MAX);
    CU_ASSERT_EQUAL(render_status("{{>q}}", at_limit, partials, &len, pool), APR_SUCCESS);
    CU_ASSERT_EQUAL(render_status("{{>q}}", beyond, partials, &len, pool), APR_EGENERAL);
    json_decref(partials);
    json_decref(at_limit);
    json_decref(beyond);
    apr_pool_destroy(pool);
}

/* Ten items, 32 loops deep: 10^32 rounds. */
static void rendering_has_an_end(void)
{
    json_t *data = json_pack("{s:[i,i,i,i,i,i,i,i,i,i]}", "a", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    apr_pool_t *pool;
    int len;

    apr_pool_create(&pool, NULL);
    CU_ASSERT_EQUAL(render_status(apr_pstrcat(pool, repeated("{{#a}}", VAULT_MUSTACHE_DEPTH_MAX, pool),
                                              repeated("{{/a}}", VAULT_MUSTACHE_DEPTH_MAX, pool), NULL),
                                  data, NULL, &len, pool),
                    APR_TIMEUP);
    json_decref(data);
    apr_pool_destroy(pool);
}

/* Megabytes that are hard to search must be answered, and soon: a quadratic compiler would take hours here. */
static void megabytes_are_linear(void)
{
    static const struct {
        const char *begin, *again, *expected, *why;
    } hard[] = {
        {"", "{", "!line 1: a tag is not closed", "everything opens"},
        {"", "{{#a}}", "!line 1: sections are nested deeper than 32", "everything nests"},
        {"{{{", "a}}", "!line 1: a tag is not closed", "closes, but with two braces"},
        {"{{=| =x=}}", "=x", "!line 1: a delimiter contains \"=\" or a space", "a hostile delimiter"},
        {"{{=| aaaaaaaaaaaaaaaa=}}|{", "a", "!line 1: a tag is not closed", "closes at every byte"},
        {"{{!", "\n", "!line 1: a tag is not closed", "a comment for ever"},
        {"{{#a}}", " \n", "!line 1: section \"a\" is not closed", "blanks"},
        {"", " {{!a}}", NULL, "comments and blanks in one line"},
        {"", "{{!a}} \n", "", "comments alone"},
        {"", "}}", NULL, "everything closes"},
        {"{{a", ".a", "!line 1: a tag is not closed", "a long name"},
    };
    static output_t output;
    apr_size_t i;

    for (i = 0; i < sizeof hard / sizeof *hard; i++) {
        apr_pool_t *pool;
        const char *text, *error;
        vault_mustache_t *template;
        apr_time_t start = apr_time_now();

        apr_pool_create(&pool, NULL);
        text =
            apr_pstrcat(pool, hard[i].begin, repeated(hard[i].again, 4000000 / (int)strlen(hard[i].again), pool), NULL);
        begin(&output, NULL, pool);
        if (hard[i].expected) {
            expect("megabytes", hard[i].expected, render(&output, text, strlen(text), NULL, NULL), hard[i].why);
        }
        else {
            CU_ASSERT_EQUAL(vault_mustache_compile(&template, text, strlen(text), &error, pool), APR_SUCCESS);
        }
        CU_ASSERT_TRUE(apr_time_now() - start < apr_time_from_sec(60));
        apr_pool_destroy(pool);
    }
}

static void nul_is_refused(void)
{
    static output_t output;
    apr_pool_t *pool;

    apr_pool_create(&pool, NULL);
    begin(&output, NULL, pool);
    CU_ASSERT_STRING_EQUAL(render(&output, "a\n\0{{b}}", 8, NULL, NULL), "!line 2: a NUL byte");
    apr_pool_destroy(pool);
}

/* ----------------------------------------------------- the specification */

static int run_spec_test(const char *file, const json_t *test)
{
    static output_t output;
    const json_t *template = json_object_get(test, "template");
    const char *name, *why;
    apr_pool_t *pool;

    apr_pool_create(&pool, NULL);
    name = apr_pstrcat(pool, file, ": ", json_string_value(json_object_get(test, "name")), NULL);
    why = json_string_value(json_object_get(test, "desc"));
    begin(&output, json_object_get(test, "partials"), pool);
    expect(name, json_string_value(json_object_get(test, "expected")),
           render(&output, json_string_value(template), json_string_length(template), json_object_get(test, "data"),
                  output.partials),
           why ? why : "");
    apr_pool_destroy(pool);
    return 1;
}

static int run_spec_file(const char *file)
{
    char path[4096];
    json_error_t error;
    json_t *spec, *test;
    size_t i;
    int count = 0;

    snprintf(path, sizeof path, "%s/%s", MUSTACHE_SPEC, file);
    spec = json_load_file(path, 0, &error);
    if (!spec) {
        printf("\n  %s:%d: %s\n", path, error.line, error.text);
    }
    json_array_foreach(json_object_get(spec, "tests"), i, test)
    {
        count += run_spec_test(file, test);
    }
    json_decref(spec);
    return count;
}

/* All required modules. */
static void specification(void)
{
    static const struct {
        const char *file;
        int tests;
    } modules[] = {{"comments.json", 12}, {"delimiters.json", 14}, {"interpolation.json", 42},
                   {"inverted.json", 22}, {"partials.json", 12},   {"sections.json", 34}};

    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        CU_ASSERT_EQUAL(run_spec_file(modules[i].file), modules[i].tests);
    }
}

void vault_mustache_suite(void)
{
    CU_pSuite suite = CU_add_suite("mustache", NULL, NULL);

    CU_add_test(suite, "rows", rows);
    CU_add_test(suite, "spans are merged", spans_are_merged);
    CU_add_test(suite, "write errors end the rendering", write_errors_end_it);
    CU_add_test(suite, "data may hold NUL", data_may_hold_nul);
    CU_add_test(suite, "sections have a depth", sections_have_a_depth);
    CU_add_test(suite, "partials have a depth", partials_have_a_depth);
    CU_add_test(suite, "rendering has an end", rendering_has_an_end);
    CU_add_test(suite, "megabytes are compiled in linear time", megabytes_are_linear);
    CU_add_test(suite, "NUL is refused", nul_is_refused);
    CU_add_test(suite, "the public specification", specification);
}
