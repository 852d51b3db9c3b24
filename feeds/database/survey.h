/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file survey.h
 * All watched tables, read in one snapshot: what has no mark is announced.
 *
 * A table that is gone is passed over, and the log says so. One whose changes cannot be read, as when it was altered, is not
 * waited for: its pages are shown everything anew, and those of the others what is new.
 *
 * Of one thread, the watcher's.
 */
#ifndef DATABASE_SURVEY_H
#define DATABASE_SURVEY_H

#include "progress.h"

/** All zero, but for the first, before the first survey. */
typedef struct database_survey_t {
    database_progress_t *progress; /* const */
    json_t *tables;                /* thread: those that are watched, when they were read last; NULL: nobody knows */
    apr_time_t read_at;            /* thread: when all tables were read last; 0: they were not */
    json_t *unread;                /* thread: during a look, tables whose changes cannot be read, by name; NULL: none */
    char complained[256];          /* thread: tables with other columns than when they were watched */
} database_survey_t;

/** One look, if there is a table vault_watched. Has changes given their numbers first, where they get some (database_dialect_t::settle).
 * @return as sql_conn_query; unless it is APR_SUCCESS nothing was announced, and the next look finds it again */
apr_status_t database_survey(database_survey_t *survey, sql_call_t *c);
/** Free what it keeps. */
void database_survey_end(database_survey_t *survey);

/** Had it been announced when this look began, the change `id` of whatever table? */
int database_survey_is_marked(const database_survey_t *survey, apr_int64_t id);

#endif
