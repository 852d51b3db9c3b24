/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file figures.h
 * What a feed with a log reports to the status: what the tailer does, the position up to which it has read, and the
 * ring.
 */
#ifndef LOG_FIGURES_H
#define LOG_FIGURES_H

#include "log/change_log.h"

/** The rows of vault_feed_t::figures for it. */
#define LOG_FIGURES                                                                                                    \
    {"State", "what the tailer does", VAULT_FIGURE_FACT},                                                              \
        {"TailerPid", "the process that is the tailer; 0: none is", VAULT_FIGURE_FACT},                                \
        {"TailerReads", "a tailer reads the changes of watched tables: 1; else 0", VAULT_FIGURE_GAUGE},                \
        {"Position", "the position up to which the tailer has read the changes", VAULT_FIGURE_FACT},                   \
        {"RingBytes", "bytes of memory for changes that were read", VAULT_FIGURE_GAUGE},                               \
    {                                                                                                                  \
        "RingOldestSeconds", "age of the oldest change in the ring", VAULT_FIGURE_GAUGE                                \
    }

/** vault_feed_t::report for a feed that has no other figures: from shared memory, without SQL and without waiting.
 * @param log  a change_log_t */
json_t *log_report(void *log);

#endif
