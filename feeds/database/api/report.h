/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file report.h
 * What the feed reports to the status: how the change log is read, and why pages query the database nevertheless.
 */
#ifndef DATABASE_REPORT_H
#define DATABASE_REPORT_H

#include "database/model/database.h"

extern const vault_feed_figure_t database_figures[];

/** vault_feed_t::report: from shared memory, without SQL and without waiting. */
json_t *database_report(void *feed);

#endif
