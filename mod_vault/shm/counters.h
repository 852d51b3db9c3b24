/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file counters.h
 * The counters, one row each: the field in the segment, its name on the status page, and its meaning.
 *
 * Each child adds to the counters of its own slot, so counting needs no lock and shares no cache line; readers
 * add them up. When a slot is reused, its totals move to slot 0 (slot.h), so sums never decrease. Gauges start
 * at zero.
 */
#ifndef VAULT_COUNTERS_H
#define VAULT_COUNTERS_H

/* COUNTER(field, "Name", "meaning") only increases. GAUGE is a current value. */
#define VAULT_COUNTERS(COUNTER, GAUGE)                                                                                 \
    GAUGE(waiting, "Waiting", "polls and other suspended requests that wait now")                                      \
    GAUGE(threads, "WaitingInThreads", "of these, those that wait in a thread")                                        \
    GAUGE(unsent, "Unsent", "bytes of answers that wait until their clients read them")                                \
    GAUGE(threads_held, "ThreadsHeld", "threads that polls and suspended requests hold, VaultLongPollThreads")         \
    COUNTER(polls, "Polls", "poll requests taken")                                                                     \
    COUNTER(answers, "Answers", "polls answered with updates")                                                         \
    COUNTER(timeouts, "Timeouts", "polls answered with 204: their time-out has passed")                                \
    COUNTER(gone, "ClientsGone", "clients that went away while waiting")                                               \
    COUNTER(expired, "Expired", "polls answered with 410")                                                             \
    COUNTER(refused, "Refused", "polls, page views and requests to be suspended, refused at a limit")                  \
    COUNTER(superseded, "Superseded", "polls ended by a newer one of the same page")                                   \
    COUNTER(redelivered, "Redelivered", "answers that were sent again because they were not acknowledged")             \
    COUNTER(notifies, "Notifies", "notify calls")                                                                      \
    COUNTER(notifies_held, "NotifiesHeld", "of these, for an interest that a page holds")                              \
    COUNTER(delayed, "NotifiesDelayed", "notifies beyond VaultNotifyRate, sent within a second")                       \
    COUNTER(notify_alls, "NotifyAlls", "times that all pages were notified: recovery")                                 \
    COUNTER(wakeups, "WakeUps", "waiting polls woken")                                                                 \
    COUNTER(idle_wakeups, "IdleWakeUps", "of these, without a change")                                                 \
    COUNTER(overflows, "QueueOverflows", "full wake queues")                                                           \
    COUNTER(runs, "Runs", "methods run")                                                                               \
    COUNTER(cached, "Cached", "responses answered from the output store")                                              \
    COUNTER(shared, "Shared", "methods answered from the output of another run")                                       \
    COUNTER(failures, "Failures", "methods that failed")                                                               \
    COUNTER(method_refusals, "MethodsRefused", "methods that answered 401, 403 or a redirect")                         \
    COUNTER(pages_made, "PagesCreated", "pages created")                                                               \
    COUNTER(pages_dropped, "PagesExpired", "pages expired")                                                            \
    COUNTER(pages_evicted, "PagesEvicted", "pages that were evicted to make room for others")

#endif
