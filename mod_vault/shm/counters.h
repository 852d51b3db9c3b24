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
    COUNTER(notifies_sent, "NotifiesSent", "notifies published for other servers, VaultCluster")                       \
    COUNTER(notifies_received, "NotifiesReceived", "notifies of other servers")                                        \
    COUNTER(notifies_extraneous, "NotifiesExtraneous", "of these, for an interest that no page here holds")            \
    GAUGE(engines, "Engines", "notification engines that this server is connected to")                                 \
    GAUGE(engine_interests, "EngineInterests", "interests that these engines know to be held here")                    \
    COUNTER(wakeups, "WakeUps", "waiting polls woken")                                                                 \
    COUNTER(idle_wakeups, "IdleWakeUps", "of these, without a change")                                                 \
    COUNTER(overflows, "QueueOverflows", "full wake queues")                                                           \
    COUNTER(runs, "Runs", "methods run")                                                                               \
    COUNTER(cached, "Cached", "responses answered from the output store")                                              \
    COUNTER(parts, "Parts", "parts of pages taken from the output store")                                              \
    COUNTER(fetched, "Fetched", "outputs taken over from VaultCacheSocache")                                           \
    COUNTER(shared, "Shared", "methods answered from the output of another run")                                       \
    COUNTER(failures, "Failures", "methods that failed")                                                               \
    COUNTER(method_refusals, "MethodsRefused", "methods that answered 401, 403 or a redirect")                         \
    COUNTER(pages_made, "PagesCreated", "pages created")                                                               \
    COUNTER(taken_over, "PagesTakenOver", "pages taken over from another server, VaultPageStore")                      \
    COUNTER(pages_dropped, "PagesExpired", "pages expired")                                                            \
    COUNTER(pages_evicted, "PagesEvicted", "pages that were evicted to make room for others")

/* REASON(NAME, "label", "meaning"): why an output is personal, and so not kept for others (docs/caching.md). The stored
 * states of pages have the numbers. */
#define VAULT_PERSONAL_REASONS(REASON)                                                                                 \
    REASON(USER, "user", "the visitor has logged in")                                                                  \
    REASON(SESSION, "session", "VaultSession is on for the request, or for one that it includes")                      \
    REASON(HANDLER, "handler",                                                                                         \
           "a handler of another module has not said that its output is shared, or VaultCache is not On")              \
    REASON(INTEREST, "interest",                                                                                       \
           "an interest was named for the first time, after the data were read, or by VaultInterest")                  \
    REASON(SSI, "ssi", "an SSI element may depend on the request or on the time, or cannot be scanned")                \
    REASON(VISITOR, "visitor", "a feed asks who the visitor is")                                                       \
    REASON(CALL, "call", "a call of a feed names no interest, or writes")                                              \
    REASON(FILTER, "filter", "an output filter may depend on the request")                                             \
    REASON(RESPONSE, "response", "the response sets a cookie, or forbids caches to share it")                          \
    REASON(REQUEST, "request", "the request has Authorization, or a body")                                             \
    REASON(PAGE, "page", "an application calls feeds for the page with a key, or the output names the page")           \
    REASON(ENDLESS, "endless",                                                                                         \
           "the response has no interest, no file and no max-age, so nothing says when it changes")                    \
    REASON(PART, "part", "a part of it is personal, or it is a part that depends on its page")                         \
    REASON(CONDITION, "if", "VaultCache is not On, and an <If> where the request is may depend on the request")        \
    REASON(NOTLIVE, "notlive", "VaultCache is not On, and the page is not live")

typedef enum vault_personal_t {
    VAULT_PERSONAL_NOT, /* it is not personal */
#define NAME(name, label, meaning) VAULT_PERSONAL_##name,
    VAULT_PERSONAL_REASONS(NAME)
#undef NAME
        VAULT_PERSONAL_COUNT
} vault_personal_t;

#endif
