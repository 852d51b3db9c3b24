/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the ring of entries: readers at their own positions, entries that are overwritten, writers that are killed. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "fixture.h"
#include "shm/journal.h"
#include "unit.h"

#define SIZE 256

static vault_journal_t *make(fixture_t *f)
{
    vault_journal_t *j = NULL;

    fixture_begin(f, 10, 2, 64 * 1024);
    CU_ASSERT_FATAL(vault_journal_create(&j, f->segment, SIZE, 2, f->pool) == APR_SUCCESS);
    return j;
}

static void end(fixture_t *f, vault_journal_t *j)
{
    close(vault_journal_fd(j, 0));
    close(vault_journal_fd(j, 1));
    fixture_end(f);
}

static void append(vault_journal_t *j, const char *text)
{
    CU_ASSERT_EQUAL(vault_journal_append(j, text, (apr_uint32_t)strlen(text) + 1), APR_SUCCESS);
}

/* @return what comes next; "(none)" or "(lost)" */
static const char *next(fixture_t *f, vault_journal_t *j, vault_journal_at_t *at)
{
    char text[SIZE];
    apr_uint32_t size;

    switch (vault_journal_read(j, at, text, sizeof(text), &size)) {
    case VAULT_JOURNAL_NONE:
        return "(none)";
    case VAULT_JOURNAL_LOST:
        return "(lost)";
    case VAULT_JOURNAL_READ:
        break;
    }
    CU_ASSERT_EQUAL(size, strlen(text) + 1);
    return apr_pstrdup(f->pool, text);
}

static int is_rung(const vault_journal_t *j, unsigned reader)
{
    struct pollfd p = {.fd = vault_journal_fd(j, reader), .events = POLLIN};

    return poll(&p, 1, 0) == 1;
}

static void each_reader_reads_all_in_order(void)
{
    fixture_t f;
    vault_journal_t *j = make(&f);
    vault_journal_at_t first = vault_journal_end(j), second;
    unsigned i;

    CU_ASSERT_STRING_EQUAL(next(&f, j, &first), "(none)");
    append(j, "one");
    second = vault_journal_end(j);
    CU_ASSERT_STRING_EQUAL(next(&f, j, &first), "one");
    CU_ASSERT_STRING_EQUAL(next(&f, j, &second), "(none)");
    for (i = 0; i < 1000; i++) { /* many times around the end, at all places */
        const char *text =
            apr_psprintf(f.pool, "%.*s%u", (int)(i % 50), "--------------------------------------------------", i);
        append(j, text);
        CU_ASSERT_STRING_EQUAL(next(&f, j, &first), text);
        CU_ASSERT_STRING_EQUAL(next(&f, j, &second), text);
    }
    CU_ASSERT_STRING_EQUAL(next(&f, j, &first), "(none)");
    end(&f, j);
}

static void a_slow_reader_is_told_that_it_missed_entries(void)
{
    fixture_t f;
    vault_journal_t *j = make(&f);
    vault_journal_at_t slow = vault_journal_end(j), quick = slow;
    unsigned i;

    for (i = 0; i < SIZE / 8; i++) { /* 4 bytes, and 4 of the length */
        append(j, "abc");
        CU_ASSERT_STRING_EQUAL(next(&f, j, &quick), "abc");
    }
    append(j, "def"); /* overwrites the oldest */
    CU_ASSERT_STRING_EQUAL(next(&f, j, &slow), "(lost)");
    CU_ASSERT_STRING_EQUAL(next(&f, j, &slow), "(none)");
    CU_ASSERT_STRING_EQUAL(next(&f, j, &quick), "def");
    append(j, "ghi");
    CU_ASSERT_STRING_EQUAL(next(&f, j, &slow), "ghi");
    vault_journal_lose(j);
    CU_ASSERT_STRING_EQUAL(next(&f, j, &slow), "(lost)");
    CU_ASSERT_STRING_EQUAL(next(&f, j, &quick), "(lost)");
    end(&f, j);
}

static void what_does_not_fit_is_refused(void)
{
    fixture_t f;
    vault_journal_t *j = make(&f), *none;
    vault_journal_at_t at = vault_journal_end(j);
    char text[SIZE] = "";
    apr_uint32_t size;

    CU_ASSERT_EQUAL(vault_journal_append(j, text, 0), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_journal_append(j, text, SIZE / 4 + 1), APR_ENOSPC);
    CU_ASSERT_STRING_EQUAL(next(&f, j, &at), "(none)");
    CU_ASSERT_EQUAL(vault_journal_append(j, "abcdef", 7), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_journal_read(j, &at, text, 3, &size), VAULT_JOURNAL_READ);
    CU_ASSERT_EQUAL(size, 3);
    CU_ASSERT_STRING_EQUAL(text, "abc");
    CU_ASSERT_STRING_EQUAL(next(&f, j, &at), "(none)");
    CU_ASSERT_EQUAL(vault_journal_create(&none, f.segment, 100, 1, f.pool), APR_EINVAL);
    CU_ASSERT_EQUAL(vault_journal_create(&none, f.segment, 32, 1, f.pool), APR_EINVAL);
    CU_ASSERT_EQUAL(vault_journal_create(&none, f.segment, 1u << 31, 1, f.pool), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_journal_create(&none, f.segment, SIZE, VAULT_JOURNAL_READERS + 1, f.pool), APR_EINVAL);
    end(&f, j);
}

static void a_reader_is_rung_once_until_it_reads(void)
{
    fixture_t f;
    vault_journal_t *j = make(&f);

    CU_ASSERT_FALSE(is_rung(j, 0));
    append(j, "one");
    CU_ASSERT_TRUE(is_rung(j, 0));
    vault_journal_hush(j, 0);
    CU_ASSERT_FALSE(is_rung(j, 0));
    CU_ASSERT_TRUE(is_rung(j, 1)); /* each for itself */
    append(j, "two");
    append(j, "three");
    CU_ASSERT_TRUE(is_rung(j, 0));
    vault_journal_hush(j, 0);
    CU_ASSERT_FALSE(is_rung(j, 0));
    end(&f, j);
}

static void append_one(void *baton)
{
    vault_journal_append(baton, "killed", 7);
}

/* After each instruction at which a writer may be killed, a reader gets what was appended before and after, or is told
 * that it has missed something. */
static void a_killed_writer_costs_no_entry_silently(void)
{
    fixture_t f;
    vault_journal_t *j = make(&f);
    long total = fixture_step(append_one, j, FIXTURE_STEPS_MOST), at;
    long step = total / fixture_step_points(total, total * 24);

    CU_ASSERT_TRUE(total > 0);
    for (at = 0; at<total; at += step> 0 ? step : 1) {
        vault_journal_at_t reader = vault_journal_end(j);
        const char *got;

        append(j, "before");
        fixture_step(append_one, j, at);
        append(j, "after");
        got = next(&f, j, &reader);
        if (strcmp(got, "(lost)")) {
            CU_ASSERT_STRING_EQUAL(got, "before");
            got = next(&f, j, &reader);
            if (!strcmp(got, "killed")) {
                got = next(&f, j, &reader);
            }
            CU_ASSERT_STRING_EQUAL(got, "after");
        }
        else { /* the reader goes on from here */
            append(j, "next");
            CU_ASSERT_STRING_EQUAL(next(&f, j, &reader), "next");
        }
        CU_ASSERT_STRING_EQUAL(next(&f, j, &reader), "(none)");
    }
    end(&f, j);
}

void vault_journal_suite(void)
{
    CU_pSuite suite = CU_add_suite("journal", NULL, NULL);

    CU_add_test(suite, "each reader reads all in order", each_reader_reads_all_in_order);
    CU_add_test(suite, "a slow reader is told that it missed entries", a_slow_reader_is_told_that_it_missed_entries);
    CU_add_test(suite, "what does not fit is refused", what_does_not_fit_is_refused);
    CU_add_test(suite, "a reader is rung once until it reads", a_reader_is_rung_once_until_it_reads);
    CU_add_test(suite, "a killed writer costs no entry silently", a_killed_writer_costs_no_entry_silently);
}
