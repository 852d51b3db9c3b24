/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file templates_test.c
 * The cache of template files: partials, refusals, changes on disk, and threads that render while files are replaced.
 */
#include "template/templates.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CUnit/CUnit.h>

#include "apr_file_io.h"
#include "apr_strings.h"
#include "apr_thread_proc.h"

void vault_templates_suite(void);

#define OUTPUT_MAX 8000

typedef struct output_t {
    char text[OUTPUT_MAX + 1];
    apr_size_t len;
    void (*before)(void); /* called before the first write */
    char used[200];       /* the names of the files that the rendering told of, each after a space */
} output_t;

/* Of one test; setup() and teardown() are called around each. */
static apr_pool_t *pool;
static vault_templates_t *cache;
static char folder[100];
static const char *error;

static void setup(void)
{
    const char *place = NULL;

    apr_pool_create(&pool, NULL);
    apr_temp_dir_get(&place, pool);
    snprintf(folder, sizeof folder, "%s/templates_test.XXXXXX", place);
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    CU_ASSERT_EQUAL_FATAL(vault_templates_create(&cache, pool), APR_SUCCESS);
}

static void teardown(void)
{
    apr_dir_t *dir;
    apr_finfo_t entry;

    if (apr_dir_open(&dir, folder, pool) == APR_SUCCESS) {
        while (apr_dir_read(&entry, APR_FINFO_NAME, dir) == APR_SUCCESS) {
            if (strcmp(entry.name, ".") != 0 && strcmp(entry.name, "..") != 0) {
                remove(apr_pstrcat(pool, folder, "/", entry.name, NULL));
            }
        }
        apr_dir_close(dir);
    }
    CU_ASSERT_EQUAL(rmdir(folder), 0);
    apr_pool_destroy(pool);
}

static const char *path_of(const char *name)
{
    return apr_pstrcat(pool, folder, "/", name, NULL);
}

/* Open, write, close: the same file with other content. */
static void overwrite(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    CU_ASSERT_EQUAL(fwrite(text, 1, strlen(text), file), strlen(text));
    CU_ASSERT_EQUAL(fclose(file), 0);
}

static void date(const char *path, long seconds, long nanoseconds)
{
    struct timespec times[2] = {{.tv_sec = seconds, .tv_nsec = nanoseconds},
                                {.tv_sec = seconds, .tv_nsec = nanoseconds}};

    CU_ASSERT_EQUAL(utimensat(AT_FDCWD, path, times, 0), 0);
}

/* Replace by rename, as editors and deployments do; dated long ago, so that the cache trusts what it reads. */
static void put(const char *name, const char *text)
{
    const char *path = path_of(name), *temporary = path_of("temporary");

    overwrite(temporary, text);
    date(temporary, 1000000000, 5);
    CU_ASSERT_EQUAL(rename(temporary, path), 0);
}

static apr_status_t write_cb(void *baton, const char *text, apr_size_t len)
{
    output_t *output = baton;
    void (*before)(void) = output->before;

    output->before = NULL;
    if (before) {
        before();
    }
    if (output->len + len > OUTPUT_MAX) {
        return APR_ENOSPC;
    }
    memcpy(output->text + output->len, text, len);
    output->len += len;
    output->text[output->len] = '\0';
    return APR_SUCCESS;
}

static void note_used(void *baton, const char *path)
{
    output_t *output = baton;

    strcat(strcat(output->used, " "), strrchr(path, '/') + 1);
}

static apr_status_t render_into(output_t *output, const char *name, const json_t *data)
{
    const vault_template_sink_t sink = {.write = write_cb, .uses = note_used, .baton = output};

    output->len = 0;
    output->text[0] = '\0';
    output->used[0] = '\0';
    return vault_templates_render(cache, path_of(name), data, &sink, &error, pool);
}

/* What it renders, or "!" and the sentence without the folder. */
static const char *render(const char *name)
{
    output_t output = {.before = NULL};

    if (render_into(&output, name, NULL) == APR_SUCCESS) {
        CU_ASSERT_PTR_NULL(error);
        return apr_pstrdup(pool, output.text);
    }
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_EQUAL(strncmp(error, folder, strlen(folder)), 0);
    return apr_pstrcat(pool, "!", error + strlen(folder) + 1, NULL);
}

static void partials_are_beside(void)
{
    static const struct {
        const char *file, *partial, *partial_file, *why;
    } rows[] = {
        {"list.html", "row", "row.html", "the extension of the including file"},
        {"list.tar.gz", "row", "row.gz", "the last extension"},
        {"list", "row", "row", "no extension"},
        {".html", "row", "row", "a hidden file has none"},
        {"list.", "row", "row.", "an empty one"},
        {"list.txt", "row.html", "row.html.txt", "added to what is there"},
        {"list.html", "a b", NULL, "a name has no spaces"},
    };
    apr_size_t i;

    setup();
    for (i = 0; i < sizeof rows / sizeof *rows; i++) {
        put(rows[i].file, apr_psprintf(pool, "({{> %s}})", rows[i].partial));
        if (rows[i].partial_file) {
            CU_ASSERT_STRING_EQUAL(render(rows[i].file), "()");
            put(rows[i].partial_file, rows[i].why);
            CU_ASSERT_STRING_EQUAL(render(rows[i].file), apr_psprintf(pool, "(%s)", rows[i].why));
            remove(path_of(rows[i].partial_file));
        }
        else {
            CU_ASSERT_STRING_EQUAL(render(rows[i].file), "!list.html: line 1: the name \"a b\" contains a space");
        }
    }
    teardown();
}

static void no_partial_elsewhere(void)
{
    static const char *const names[] = {"../a", "/etc/passwd", ".a", "..", "a/../b", "a/b", "."};
    apr_size_t i;

    setup();
    for (i = 0; i < sizeof names / sizeof *names; i++) {
        put("list.html", apr_psprintf(pool, "({{> %s}})", names[i]));
        CU_ASSERT_STRING_EQUAL(render("list.html"),
                               apr_psprintf(pool,
                                            "!list.html: the partial \"%s\" is refused: a name must not begin with a "
                                            "dot or contain a slash",
                                            names[i]));
    }
    teardown();
}

static void expect_error(const char *name, apr_status_t expected, const char *sentence)
{
    output_t output = {.before = NULL};

    CU_ASSERT_EQUAL(render_into(&output, name, NULL), expected);
    CU_ASSERT_STRING_EQUAL(render(name), sentence);
}

static void errors_are_sentences(void)
{
    char *large;

    setup();
    expect_error("none.html", ENOENT, "!none.html: cannot be read: No such file or directory");
    expect_error(".", EISDIR, "!.: cannot be read: Is a directory");
    CU_ASSERT_EQUAL(mkfifo(path_of("pipe"), 0600), 0);
    expect_error("pipe", ENODEV, "!pipe: cannot be read: not a plain file");
    large = apr_palloc(pool, VAULT_TEMPLATE_MAX + 2);
    memset(large, ' ', VAULT_TEMPLATE_MAX + 1);
    large[VAULT_TEMPLATE_MAX + 1] = '\0';
    put("large.html", large);
    expect_error("large.html", EFBIG, "!large.html: cannot be read: longer than 1048576 bytes");
    put("a.html", "\n{{#b}}");
    expect_error("a.html", APR_EINVAL, "!a.html: line 2: section \"b\" is not closed");
    put("b.html", "x{{> a}}y");
    expect_error("b.html", APR_EINVAL, "!a.html: line 2: section \"b\" is not closed");
    put("c.html", "{{> c}}");
    expect_error("c.html", APR_EGENERAL, "!c.html: partials are nested deeper than 32; does one include itself?");
    put("d.html", "{{> pipe}}");
    CU_ASSERT_EQUAL(rename(path_of("pipe"), path_of("pipe.html")), 0);
    expect_error("d.html", ENODEV, "!pipe.html: cannot be read: not a plain file");
    CU_ASSERT_EQUAL(
        vault_templates_render(cache, "a.html", NULL, &(vault_template_sink_t){write_cb, NULL, NULL}, &error, pool),
        APR_EBADPATH);
    CU_ASSERT_STRING_EQUAL(error, "a.html: not an absolute path");
    put("a.html", "mended");
    CU_ASSERT_STRING_EQUAL(render("b.html"), "xmendedy");
    teardown();
}

static void tells_which_files_it_uses(void)
{
    output_t output = {.before = NULL};
    json_t *data = json_pack("{s:[i,i]}", "l", 1, 2);

    setup();
    put("a.html", "{{#l}}{{> b}}{{/l}}{{> none}}{{> c}}{{> a.}}");
    put("b.html", "b");
    put("c.html", "{{> b}}");
    CU_ASSERT_EQUAL(render_into(&output, "a.html", data), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(output.text, "bbb");
    CU_ASSERT_STRING_EQUAL(output.used, " a.html b.html none.html c.html a..html");
    json_decref(data);
    teardown();
}

static void writing_may_fail(void)
{
    output_t output = {.before = NULL};
    json_t *data;
    char *large = calloc(1, OUTPUT_MAX + 2);

    setup();
    memset(large, 'x', OUTPUT_MAX + 1);
    data = json_pack("{s:s}", "a", large);
    put("a.html", "1{{a}}2");
    CU_ASSERT_EQUAL(render_into(&output, "a.html", data), APR_ENOSPC);
    CU_ASSERT_STRING_EQUAL(output.text, "1");
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_PTR_NOT_NULL(strstr(error, "a.html: what it renders cannot be written: "));
    json_decref(data);
    free(large);
    teardown();
}

static void loops_have_an_end(void)
{
    output_t output = {.before = NULL};
    json_t *data = json_pack("{s:[i,i,i,i,i,i,i,i,i,i]}", "a", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);

    setup();
    put("a.html", "{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}{{#a}}{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}{{/a}}");
    CU_ASSERT_EQUAL(render_into(&output, "a.html", data), APR_TIMEUP);
    CU_ASSERT_PTR_NOT_NULL_FATAL(error);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(error, "a.html: rendering takes more than 20000000 steps; are there loops in loops?"));
    json_decref(data);
    teardown();
}

static void byte_order_mark_is_skipped(void)
{
    setup();
    put("a.html", "\xEF\xBB\xBF{{#a}}\n{{/a}}\nx");
    CU_ASSERT_STRING_EQUAL(render("a.html"), "x");
    teardown();
}

/* Same inode, size and time: the compiled file is used. Any of them changed: it is read again. */
static void changes_are_seen(void)
{
    const char *path;

    setup();
    path = path_of("a.html");
    put("a.html", "one");
    CU_ASSERT_STRING_EQUAL(render("a.html"), "one");
    overwrite(path, "two");
    date(path, 1000000000, 5);
    CU_ASSERT_STRING_EQUAL(render("a.html"), "one");
    date(path, 1000000000, 6);
    CU_ASSERT_STRING_EQUAL(render("a.html"), "two");
    overwrite(path, "three");
    date(path, 1000000000, 6);
    CU_ASSERT_STRING_EQUAL(render("a.html"), "three");
    put("b.html", "other");
    date(path_of("b.html"), 1000000000, 6);
    CU_ASSERT_EQUAL(rename(path_of("b.html"), path), 0);
    CU_ASSERT_STRING_EQUAL(render("a.html"), "other");
    remove(path);
    CU_ASSERT_STRING_EQUAL(render("a.html"), "!a.html: cannot be read: No such file or directory");
    teardown();
}

/* Written twice within one grain of the clock, inode and size the same: the second must be seen. */
static void young_files_are_not_trusted(void)
{
    const char *path;
    struct stat state;

    setup();
    path = path_of("a.html");
    overwrite(path, "one");
    CU_ASSERT_EQUAL(stat(path, &state), 0);
    CU_ASSERT_STRING_EQUAL(render("a.html"), "one");
    overwrite(path, "two");
    date(path, state.st_mtim.tv_sec, state.st_mtim.tv_nsec);
    CU_ASSERT_STRING_EQUAL(render("a.html"), "two");
    teardown();
}

static void fill_cache(void)
{
    int i;

    for (i = 0; i < VAULT_TEMPLATE_FILES_MAX; i++) {
        const char *name = apr_psprintf(pool, "%d.html", i);

        put(name, name);
        CU_ASSERT_STRING_EQUAL(render(name), name);
    }
}

/* Change it so that only a cache that has forgotten it reads it again. */
static void change_in_secret(const char *name, const char *text)
{
    overwrite(path_of(name), text);
    date(path_of(name), 1000000000, 5);
}

static void cache_is_bounded(void)
{
    setup();
    fill_cache();
    change_in_secret("0.html", "0.HTML");
    change_in_secret("1.html", "1.HTML");
    change_in_secret("2.html", "2.HTML");
    CU_ASSERT_STRING_EQUAL(render("0.html"), "0.html");
    put("more.html", "more");
    CU_ASSERT_STRING_EQUAL(render("more.html"), "more");
    CU_ASSERT_STRING_EQUAL(render("0.html"), "0.html");
    CU_ASSERT_STRING_EQUAL(render("2.html"), "2.html");
    CU_ASSERT_STRING_EQUAL(render("1.html"), "1.HTML"); /* the one that was not used for longest */
    teardown();
}

static void replace_a(void)
{
    put("a.html", "new {{> b}}");
    put("b.html", "new");
    CU_ASSERT_STRING_EQUAL(render("a.html"), "new new");
}

static void old_renderings_end_as_they_began(void)
{
    output_t output = {.before = replace_a};

    setup();
    put("a.html", "{{> b}} {{#c}}{{/c}}old {{> b}}");
    put("b.html", "old");
    CU_ASSERT_EQUAL(render_into(&output, "a.html", NULL), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(output.text, "old old old");
    CU_ASSERT_STRING_EQUAL(render("a.html"), "new new");
    teardown();
}

static void what_is_rendered_is_not_evicted(void)
{
    output_t output = {.before = fill_cache};

    setup();
    put("a.html", "{{> b}}1{{> b}}2");
    put("b.html", "x");
    CU_ASSERT_EQUAL(render_into(&output, "a.html", NULL), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(output.text, "x1x2");
    change_in_secret("a.html", "{{> b}}3{{> b}}4");
    change_in_secret("b.html", "y");
    CU_ASSERT_STRING_EQUAL(render("a.html"), "x1x2"); /* both are still there */
    change_in_secret("0.html", "0.HTML");
    change_in_secret("1.html", "1.HTML");
    CU_ASSERT_STRING_EQUAL(render("0.html"), "0.HTML"); /* two others have made room for them */
    CU_ASSERT_STRING_EQUAL(render("1.html"), "1.HTML");
    teardown();
}

/* ---------------------------------------------------------------- threads */

#define RENDERERS 4
#define REPLACEMENTS 1000

static int stop;                /* atomic */
static int broken;              /* atomic: renderings that were a mix or failed */
static int rendered[RENDERERS]; /* atomic */

/* "aaaa bbbb" is right, "abaa bbbb" is not. */
static int is_whole(const char *text)
{
    apr_size_t half = strlen(text) / 2, i;

    for (i = 1; i < half; i++) {
        if (text[i] != text[0] || text[half + 1 + i] != text[half + 1]) {
            return 0;
        }
    }
    return half > 0;
}

static void *APR_THREAD_FUNC render_often(apr_thread_t *thread, void *data)
{
    int *count = data;
    output_t output = {.before = NULL};
    const vault_template_sink_t sink = {.write = write_cb, .baton = &output};
    json_t *list = json_pack("{s:[i,i,i]}", "l", 1, 2, 3);
    const char *path = apr_pstrcat(apr_thread_pool_get(thread), folder, "/a.html", NULL), *sentence;
    apr_pool_t *scratch;
    apr_status_t status;

    apr_pool_create_unmanaged_ex(&scratch, NULL, NULL);
    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        output.len = 0;
        status = vault_templates_render(cache, path, list, &sink, &sentence, scratch);
        if (status != APR_SUCCESS || !is_whole(output.text)) {
            __atomic_add_fetch(&broken, 1, __ATOMIC_RELAXED);
        }
        __atomic_add_fetch(count, 1, __ATOMIC_RELEASE);
        apr_pool_clear(scratch);
    }
    apr_pool_destroy(scratch);
    json_decref(list);
    return NULL;
}

static void replace_pair(int version)
{
    char ch = (char)('a' + version % 26);

    put("a.html", apr_psprintf(pool, "%c{{#l}}%c%c{{/l}}%c {{> b}}{{#l}}{{> b}}{{> b}}{{/l}}{{> b}}", ch, ch, ch, ch));
    put("b.html", apr_psprintf(pool, "%c", ch));
}

static void wait_for_all(int count)
{
    int i;

    for (i = 0; i < RENDERERS; i++) {
        while (__atomic_load_n(&rendered[i], __ATOMIC_ACQUIRE) < count) {
            apr_thread_yield();
        }
    }
}

static void threads_see_no_mix(void)
{
    apr_thread_t *threads[RENDERERS];
    apr_status_t status;
    int i;

    setup();
    stop = broken = 0;
    memset(rendered, 0, sizeof rendered);
    replace_pair(0);
    for (i = 0; i < RENDERERS; i++) {
        CU_ASSERT_EQUAL_FATAL(apr_thread_create(&threads[i], NULL, render_often, &rendered[i], pool), APR_SUCCESS);
    }
    wait_for_all(1);
    for (i = 1; i <= REPLACEMENTS; i++) {
        replace_pair(i);
    }
    wait_for_all(100);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (i = 0; i < RENDERERS; i++) {
        apr_thread_join(&status, threads[i]);
    }
    CU_ASSERT_EQUAL(broken, 0);
    teardown();
}

void vault_templates_suite(void)
{
    CU_pSuite suite = CU_add_suite("templates", NULL, NULL);

    CU_add_test(suite, "partials are beside the template", partials_are_beside);
    CU_add_test(suite, "a partial is never elsewhere", no_partial_elsewhere);
    CU_add_test(suite, "errors are sentences", errors_are_sentences);
    CU_add_test(suite, "a rendering tells which files it uses", tells_which_files_it_uses);
    CU_add_test(suite, "writing may fail", writing_may_fail);
    CU_add_test(suite, "loops have an end", loops_have_an_end);
    CU_add_test(suite, "a byte order mark is skipped", byte_order_mark_is_skipped);
    CU_add_test(suite, "changes are seen", changes_are_seen);
    CU_add_test(suite, "young files are not trusted", young_files_are_not_trusted);
    CU_add_test(suite, "the cache is bounded", cache_is_bounded);
    CU_add_test(suite, "old renderings end as they began", old_renderings_end_as_they_began);
    CU_add_test(suite, "what is rendered is not evicted", what_is_rendered_is_not_evicted);
    CU_add_test(suite, "four threads see no mix", threads_see_no_mix);
}
