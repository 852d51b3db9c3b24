/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of the feed: docs/feeds.md describes them. */
#include "database/api/report.h"

#include "log/figures.h"
#include "log/shared.h"

/* The index of the first figure of LOG_WHY_.... */
#define WHYS 8
#define MODEL (WHYS + LOG_WHYS)
#define WHY(why, name, meaning) [WHYS + LOG_WHY_##why] = {name, "of these: " meaning, VAULT_FIGURE_COUNTER}

const vault_feed_figure_t database_figures[] = {
    LOG_FIGURES,
    {"RingReads", "reads of pages that were answered from the ring", VAULT_FIGURE_COUNTER},
    {"SqlReads", "reads of pages that were answered by SQL", VAULT_FIGURE_COUNTER},
    WHY(FIRST, "SqlFirstView", "first views"),
    WHY(UNWATCHED, "SqlUnwatched", "the table is not watched"),
    WHY(NOT_IN_RING, "SqlNotInRing", "the page has no offset in the ring"),
    WHY(BOOT, "SqlOtherRing", "the ring has begun again, or belongs to another server"),
    WHY(OVERWRITTEN, "SqlOverwritten", "changes in the ring were overwritten"),
    WHY(TOO_LARGE, "SqlTooLarge", "the ring could not hold a change with its columns"),
    WHY(LINKS, "SqlLinks", "elements are found through links, and a link or an element has changed"),
    WHY(TOO_MANY, "SqlTooMany", "more changes than an answer may have"),
    WHY(QUERY, "SqlQuery", "a change of a row that a query may show"),
    [MODEL] = {"Model", "is the model the one of its file?", VAULT_FIGURE_FACT},
    {NULL, NULL, 0},
};

_Static_assert(sizeof(database_figures) / sizeof(database_figures[0]) == MODEL + 2, "a figure for each");

json_t *database_report(void *self)
{
    database_t *feed = self;
    json_t *report = log_report(&feed->log);
    const char *model = database_model_is_current(feed->model);
    log_figures_t figures;
    json_int_t all = 0;

    log_shared_figures(&feed->log, &figures);
    for (int i = 0; i < LOG_WHYS; i++) {
        all += (json_int_t)figures.by_sql[i];
        json_object_set_new(report, database_figures[WHYS + i].name, json_integer((json_int_t)figures.by_sql[i]));
    }
    json_object_set_new(report, "SqlReads", json_integer(all));
    json_object_set_new(report, "RingReads", json_integer((json_int_t)figures.from_ring));
    json_object_set_new(report, database_figures[MODEL].name, model != NULL ? json_string(model) : json_null());
    return report;
}
