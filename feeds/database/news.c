/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the watcher has to survey all tables: see news.h. */
#include "news.h"

#include "brief.h"
#include "joined.h"
#include "now.h"
#include "recent.h"

/* Changes that a brief look takes at most. */
#define MOST 500
/* How often at least all tables are read, where changes are numbered, if there is anything to number: one of them may have been altered. */
#define READ_ANYHOW apr_time_from_sec(60)

/* What was written and announced by this server needs no more than that. @param done  0: all that is new has to be read */
static apr_status_t look_briefly(database_progress_t *progress, sql_call_t *c, int *done)
{
    database_brief_t brief = {
        .feed = progress->feed, .place = progress->place, .marks = &progress->marks, .most = MOST};
    apr_status_t rv;

    database_progress_begin(progress);
    if (progress->dialect->hush != NULL) {
        (void)progress->dialect->hush(c); /* of what this look will show */
    }
    rv = database_brief_look(c, &brief);
    *done = rv == APR_SUCCESS && brief.enough;
    if (brief.altered) {
        database_progress_forget_told(progress); /* all of them are to be read again, whether anything is new or not */
    }
    if (*done && !database_progress_is_as_told(progress, brief.told)) {
        const database_reached_t reached = {
            .life = database_recent_life_here(c, progress->marks.era), .told = brief.told, .now = brief.now};

        database_progress_announce(progress, NULL, &reached);
    }
    return rv;
}

static int is_marked_cb(void *data, apr_int64_t id)
{
    return database_survey_is_marked(data, id);
}

/* Has it been announced, all that `told` has and the last look had not? Then this was a look. Here it is found out that the database was put back:
 * once changes have got numbers it may be where it was. */
static apr_status_t look_at_told(database_survey_t *survey, sql_call_t *c, const char *told, int *enough)
{
    database_progress_t *progress = survey->progress;
    database_reached_t reached = {.told = told};
    apr_status_t rv;

    database_progress_end_era_if_put_back(progress, c, told);
    reached.life = database_recent_life_here(c, progress->marks.era);
    *enough = progress->place[0] != '\0' &&
              database_joined_each_new(progress->feed, reached.life, progress->place, told, is_marked_cb, survey);
    if (!*enough) {
        return APR_SUCCESS;
    }
    rv = progress->dialect->place(c, told, &reached.now);
    if (rv == APR_SUCCESS) {
        database_progress_announce(progress, NULL, &reached);
    }
    return rv;
}

/* Where changes are settled before they are read: the place has those that are not. */
static apr_status_t compare_told(database_survey_t *survey, sql_call_t *c, int *same)
{
    database_progress_t *progress = survey->progress;
    const char *told;
    apr_status_t rv;

    database_progress_begin(progress);
    rv = progress->dialect->where(c, &told);
    *same = rv == APR_SUCCESS && told != NULL && database_progress_is_as_told(progress, told);
    if (rv == APR_SUCCESS && told != NULL && !*same) {
        rv = look_at_told(survey, c, told, same);
    }
    return rv;
}

/* Give numbers to what was announced, without a look at any table: who gave them knows what the place has then, unless others were quicker. */
static apr_status_t settle_told(database_survey_t *survey, sql_call_t *c, int *same)
{
    database_progress_t *progress = survey->progress;
    apr_time_t now = vault_now();
    apr_status_t rv;

    if (!progress->dialect->is_due(progress->told, apr_time_as_msec(now - progress->settled_at),
                                   progress->feed->look)) {
        return APR_SUCCESS;
    }
    if (now - survey->read_at >= READ_ANYHOW) {
        *same = 0;
        return APR_SUCCESS;
    }
    rv = progress->dialect->settle(c, 0);
    progress->settled_at = now;
    return rv == APR_SUCCESS ? compare_told(survey, c, same) : rv;
}

static apr_status_t look_at_told_only(database_survey_t *survey, sql_call_t *c, int *same)
{
    apr_status_t rv = compare_told(survey, c, same);

    return rv == APR_SUCCESS && *same ? settle_told(survey, c, same) : rv;
}

apr_status_t database_news(database_survey_t *survey, sql_call_t *c, int *any)
{
    database_progress_t *progress = survey->progress;
    int unchanged = database_progress_is_same_version(progress, c) && progress->told != NULL;
    apr_status_t rv = APR_SUCCESS;

    if (!unchanged && progress->told != NULL) {
        rv = progress->dialect->settle == NULL ? look_briefly(progress, c, &unchanged)
                                               : look_at_told_only(survey, c, &unchanged);
    }
    if (unchanged) {
        database_progress_keep_version(progress);
    }
    if (rv != APR_SUCCESS) {
        database_progress_forget_told(progress); /* the tables may be gone, too, which only a whole look finds out */
    }
    *any = !unchanged;
    return rv;
}
