/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a log: docs/feeds.md describes them. */
#include "log_figures.h"

#include "base/now.h"
#include "board.h"

static const char *state_of(const database_log_t *log, pid_t tailer)
{
    static const char *const states[] = {
        [DATABASE_READING_NOT] = "the tailer begins",
        [DATABASE_READING_UNREACHABLE] = "the tailer cannot read the database",
        [DATABASE_READING_UNWATCHED] = "no table is watched",
        [DATABASE_READING_DONE] = "the tailer reads the changes",
    };

    if (log->look == 0) {
        return "there is no tailer: look=0";
    }
    return tailer != 0 ? states[database_board_reading(log)] : "there is no tailer at the moment";
}

/* Seconds; null: there is none. */
static json_t *age_of(apr_time_t then)
{
    return then != 0 ? json_integer(apr_time_sec(vault_now() - then)) : json_null();
}

json_t *database_log_report(void *self)
{
    const database_log_t *log = self;
    const database_ring_t *ring = database_board_ring(log);
    pid_t tailer = database_board_tailer(log);
    int reads = tailer != 0 && database_board_reading(log) == DATABASE_READING_DONE;
    database_head_t head;

    database_ring_head(ring, &head);
    return json_pack("{s:s, s:i, s:i, s:s?, s:I, s:o}", "State", state_of(log, tailer), "TailerPid", (int)tailer,
                     "TailerReads", reads, "Position", head.boot != 0 ? head.position : NULL, "RingBytes",
                     (json_int_t)log->ring * 1024, "RingOldestSeconds", age_of(database_ring_oldest(ring)));
}
