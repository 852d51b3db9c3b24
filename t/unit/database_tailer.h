/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_tailer.h
 * A tailer without a thread, for unit tests: it reads when the test says so. And what a page of new rows is told.
 */
#ifndef DATABASE_TAILER_TEST_H
#define DATABASE_TAILER_TEST_H

#include "database_scene.h"
#include "log/tail.h"

#define ARGS "{\"table\":\"logs\",\"limit\":1}"
typedef struct tailer_t {
    log_tail_t tail;
    sql_call_t c;
} tailer_t;

static void tailer_begin(tailer_t *t, const feed_t *feed)
{
    *t = (tailer_t){.tail = {.feed = feed->self, .dialect = &log_dialect_sqlite3}};
    CU_ASSERT_EQUAL_FATAL(sql_background_begin(&t->c, feed->self), APR_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(sql_conn_take(&t->c), APR_SUCCESS);
    log_tail_take_over(&t->tail);
    log_tail_connect(&t->tail, NULL);
}

static void tailer_reads(tailer_t *t)
{
    int watched, again = 1;

    while (again) {
        CU_ASSERT_EQUAL_FATAL(log_tail_read(&t->tail, &t->c, &watched, &again), APR_SUCCESS);
    }
}

static void tailer_end(tailer_t *t)
{
    log_tail_end(&t->tail);
    sql_background_end(&t->c);
}

/* A process becomes the tailer, reads, and is the tailer no more. */
__attribute__((unused)) static void succeed(const feed_t *feed)
{
    tailer_t t;

    tailer_begin(&t, feed);
    tailer_reads(&t);
    tailer_end(&t);
}

/* Reads of pages that the ring did not answer, first views apart. */
__attribute__((unused)) static int reads_by_sql(const feed_t *feed)
{
    log_figures_t figures;
    int count = 0;

    log_shared_figures(feed->self, &figures);
    for (int why = 0; why < LOG_WHYS; why++) {
        count += why != LOG_WHY_FIRST ? (int)figures.by_sql[why] : 0;
    }
    return count;
}

/* The lines that a page is told now, each with a blank behind it. */
static const char *told(feed_t *feed, host_page_t *page)
{
    json_t *rows = json_loads(ask(feed, page, "get_new_instances", ARGS), 0, NULL); /* NULL: nothing */
    const char *lines = "";

    for (size_t i = 0; i < json_array_size(rows); i++) {
        lines = apr_pstrcat(suite_pool, lines, json_string_value(json_object_get(json_array_get(rows, i), "line")), " ",
                            NULL);
    }
    json_decref(rows);
    return lines;
}

static void check_told(feed_t *feed, host_page_t *page, const char *expected, const char *why)
{
    const char *lines = told(feed, page);

    if (strcmp(lines, expected) != 0) {
        fprintf(stderr, "\n  %s\n    expected \"%s\"\n    answer   \"%s\"\n", why, expected, lines);
    }
    CU_ASSERT_STRING_EQUAL(lines, expected);
}

#endif
