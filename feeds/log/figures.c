/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a log: docs/feeds.md describes them. */
#include "log/figures.h"

#include "base/now.h"
#include "log/shared.h"

static const char *state_of(const change_log_t *log, pid_t tailer)
{
    static const char *const states[] = {
        [LOG_READING_NOT] = "the tailer begins",
        [LOG_READING_UNREACHABLE] = "the tailer cannot read the database",
        [LOG_READING_UNWATCHED] = "no table is watched",
        [LOG_READING_DONE] = "the tailer reads the changes",
    };

    if (log->poll == 0) {
        return "there is no tailer: poll=0";
    }
    return tailer != 0 ? states[log_shared_reading(log)] : "there is no tailer at the moment";
}

/* Seconds; null: there is none. */
static json_t *age_of(apr_time_t then)
{
    return then != 0 ? json_integer(apr_time_sec(vault_now() - then)) : json_null();
}

json_t *log_report(void *self)
{
    const change_log_t *log = self;
    const log_ring_t *ring = log_shared_ring(log);
    pid_t tailer = log_shared_tailer(log);
    int reads = tailer != 0 && log_shared_reading(log) == LOG_READING_DONE;
    log_head_t head;

    log_ring_head(ring, &head);
    return json_pack("{s:s, s:i, s:i, s:s?, s:I, s:o}", "State", state_of(log, tailer), "TailerPid", (int)tailer,
                     "TailerReads", reads, "Position", head.boot != 0 ? head.position : NULL, "RingBytes",
                     (json_int_t)log->ring * 1024, "RingOldestSeconds", age_of(log_ring_oldest(ring)));
}
