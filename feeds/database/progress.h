/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file progress.h
 * How far who watches has come: the place up to which all was announced, which the board keeps for who takes over (board.h), and what the database
 * told of its state there.
 *
 *     database_progress_begin(progress);                              // a look begins
 *     database_progress_end_era_if_put_back(progress, c, now);        // which has found that the database is somewhere else
 *     …what is new, but what has a mark (database_progress_is_marked)
 *     database_progress_announce(progress, touched, &reached);        // and is done
 *
 * Of one thread, the watcher's; other files read what is in it, and change it by these functions only, unless its comment says so.
 */
#ifndef DATABASE_PROGRESS_H
#define DATABASE_PROGRESS_H

#include "board.h"
#include "dialect.h"
#include "interests.h"

/** All zero, but for the first two, before anything else. */
typedef struct database_progress_t {
    const database_t *feed;            /* const */
    const database_dialect_t *dialect; /* const */
    int has_connected;                 /* thread */
    char place[DATABASE_PLACE_BYTES];  /* thread: "" none */
    char *told;          /* thread: what the database told at the last look, of which `place` was made; NULL: unknown */
    apr_int64_t version; /* thread: of the connection's, when the last look began; -1: unknown */
    apr_int64_t asked;   /* thread: likewise, of this look */
    database_marks_t marks; /* thread: those that were there when this look began */
    int lets_be;           /* thread: a place was lost; the next look gives no numbers, unless there are many to give */
    apr_time_t settled_at; /* thread: when changes were last given numbers, if there were any; by who has that done */
    apr_time_t others_at;  /* thread: when something was last found that nobody had announced, or it began to watch */
} database_progress_t;

/** Go on where the child was that watched before. */
void database_progress_take_over(database_progress_t *progress);
/** There is another connection than before, or the first one of this child. That goes on where the child before was,
 * unless the database has crashed since, or was started again.
 * @param incarnation  as database_dialect_t::incarnation; NULL: there is none */
void database_progress_connect(database_progress_t *progress, const char *incarnation);
/** What the database told is not to be relied on any more: the next look reads all tables, from the place on. Also frees it. */
void database_progress_forget_told(database_progress_t *progress);

/** Has nobody committed anything since the last look? Asked before a look begins. @return 0: perhaps somebody has */
int database_progress_is_same_version(database_progress_t *progress, sql_call_t *c);
/** That version was found to have nothing new. */
void database_progress_keep_version(database_progress_t *progress);
/** Is all as it was at the last look? */
int database_progress_is_as_told(const database_progress_t *progress, const char *told);

/** Before a look, and its snapshot. */
void database_progress_begin(database_progress_t *progress);
/** In a look that is at `now`, a place: is that one where this place cannot have been? Then it is forgotten, and so are marks and what was left for
 * looks without the database. */
void database_progress_end_era_if_put_back(database_progress_t *progress, sql_call_t *c, const char *now);
/** Had it been announced when this look began, the change `id` of a table that is watched as `epoch`? */
int database_progress_is_marked(const database_progress_t *progress, const char *epoch, apr_int64_t id);
/** Somebody has written who does not announce what he writes. */
void database_progress_note_others(database_progress_t *progress);

/** Where the database was in a look. */
typedef struct database_reached_t {
    apr_uint64_t life;      /**< of its snapshot (recent.h) */
    const char *told, *now; /**< as told, and the place that was made of it */
} database_reached_t;

/** A look is done: announce what it has found, and only then go on, as who takes over repeats some rather than skip any.
 * @param touched  what is new and has no mark, if anything; NULL: all that is new has one */
void database_progress_announce(database_progress_t *progress, const database_touched_t *touched,
                                const database_reached_t *reached);

#endif
