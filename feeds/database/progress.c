/* SPDX-License-Identifier: Apache-2.0 */
/* How far who watches has come: see progress.h. */
#include "progress.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "driver.h"
#include "joined.h"
#include "now.h"
#include "recent.h"

void database_progress_take_over(database_progress_t *progress)
{
    database_board_read_place(progress->feed, progress->place);
    progress->others_at = vault_now();
}

void database_progress_forget_told(database_progress_t *progress)
{
    free(progress->told);
    progress->told = NULL;
    progress->version = -1;
}

/* What this connection reaches may have been restored to what it was before: then places and marks are of what never happened. */
static void forget_place(database_progress_t *progress)
{
    progress->place[0] = '\0';
    database_board_keep_place(progress->feed, progress->place);
    database_board_end_era(progress->feed);
    database_progress_forget_told(progress);
    progress->lets_be = 1;
}

void database_progress_connect(database_progress_t *progress, const char *incarnation)
{
    int is_same = database_board_is_of(progress->feed, incarnation);

    if (progress->has_connected || (progress->place[0] != '\0' && !is_same)) {
        forget_place(progress);
    }
    database_board_keep_incarnation(progress->feed, incarnation);
    progress->has_connected = 1;
    database_progress_forget_told(progress);
}

int database_progress_is_same_version(database_progress_t *progress, sql_call_t *c)
{
    const sql_driver_t *driver = c->db->driver;

    progress->asked = -1;
    if (driver->read_number == NULL || !driver->read_number(c, driver->version_number, &progress->asked)) {
        progress->asked = -1;
    }
    return progress->asked >= 0 && progress->asked == progress->version;
}

void database_progress_keep_version(database_progress_t *progress)
{
    progress->version = progress->asked;
}

int database_progress_is_as_told(const database_progress_t *progress, const char *told)
{
    return progress->told != NULL && strcmp(told, progress->told) == 0;
}

void database_progress_begin(database_progress_t *progress)
{
    database_board_copy(progress->feed, &progress->marks);
}

/* The database is one that was put back meanwhile, under a connection that has not noticed, or has lost its changes: marks are of what is no more, and so
 * is what looks find without the database. Who watches has no place either, so that all pages look, and then believe what is of this era. */
void database_progress_end_era_if_put_back(database_progress_t *progress, sql_call_t *c, const char *now)
{
    const database_span_t span = {.since = progress->place, .now = now, .pruned = "0"};

    if (progress->place[0] != '\0' && progress->dialect->is_lost(c, &span)) {
        forget_place(progress);
        database_board_copy(progress->feed, &progress->marks);
    }
}

int database_progress_is_marked(const database_progress_t *progress, const char *epoch, apr_int64_t id)
{
    const database_marks_t *marks = &progress->marks;

    return database_marks_have(marks, database_board_mark(progress->feed, marks->era, epoch, id));
}

void database_progress_note_others(database_progress_t *progress)
{
    progress->others_at = vault_now();
}

/* What looks without the database may rely on, before anything is announced. */
static void begin_recent(const database_progress_t *progress, const database_reached_t *reached, int strange)
{
    if (progress->dialect->joins != NULL) {
        database_joined_begin(progress->feed, reached->life, reached->now, strange);
    }
    else {
        database_recent_begin(progress->feed, reached->life, apr_strtoi64(reached->now, NULL, 10));
    }
}

void database_progress_announce(database_progress_t *progress, const database_touched_t *touched,
                                const database_reached_t *reached)
{
    begin_recent(progress, reached, touched != NULL);
    if (touched != NULL) {
        (void)database_touched_notify(touched);
    }
    apr_cpystrn(progress->place, reached->now, sizeof(progress->place));
    database_board_keep_place(progress->feed, reached->now);
    database_board_clear(progress->feed, &progress->marks);
    database_progress_forget_told(progress);
    progress->told = strdup(reached->told);
    progress->version = progress->asked;
    progress->lets_be = 0;
}
