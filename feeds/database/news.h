/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file news.h
 * Whether the watcher has to survey all tables (survey.h). Mostly nobody has written but who has announced it, and then this is nearly
 * all that a database costs: one short statement, or two.
 *
 * Each of these is asked only if the one before cannot tell:
 *
 *   - the number that the database gives to what is committed, where it has one (SQLite);
 *   - what it tells of its state: as it was; or, where changes get numbers once they are committed and a place lists those
 *     without (MariaDB), with changes all of which have a mark. That counts as a look. Numbers are given here, when it is time;
 *   - elsewhere, a brief look (brief.h), which counts as one, too.
 *
 * Of one thread, the watcher's.
 */
#ifndef DATABASE_NEWS_H
#define DATABASE_NEWS_H

#include "survey.h"

/** @param any  0: all that there is is announced; 1: perhaps not
 * @return as sql_conn_query; unless it is APR_SUCCESS, the next time says that there are some */
apr_status_t database_news(database_survey_t *survey, sql_call_t *c, int *any);

#endif
