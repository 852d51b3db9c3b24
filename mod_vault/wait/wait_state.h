/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file wait_state.h
 * The states of a request that may be suspended, and the table of what each event does in each state.
 *
 * A request has one owner at any time. In the states RUNNING, SUSPENDING and WOKEN_EARLY the thread that runs its
 * handlers owns it. In WAITING and WOKEN no thread owns it: whichever thread moves it to RUNNING or ENDED owns it
 * from there. Notifications, timeouts, clients that hang up and children that stop race for it. vault_wait_step()
 * decides each race by one compare-and-swap; the events that come too late get the action NOTHING.
 *
 * WOKEN_EARLY is there so that a change which comes before the request waits is not lost.
 *
 * docs/internals.md prints the table, and t/unit/wait_state_test.c compares the two cell by cell. How a request
 * waits (its connection parked in the MPM's pollset, or asleep in its thread) is no state: each way leads through
 * the same ones.
 */
#ifndef VAULT_WAIT_STATE_H
#define VAULT_WAIT_STATE_H

#define VAULT_WAIT_STATES(ROW)                                                                                         \
    ROW(RUNNING, "its handlers run, or have not begun yet: wakers do not reach it")                                    \
    ROW(SUSPENDING, "a handler has suspended it and has not returned yet")                                             \
    ROW(WOKEN_EARLY, "the same, and it has been woken since")                                                          \
    ROW(WAITING, "its handlers have returned SUSPENDED")                                                               \
    ROW(WOKEN, "the same, and it has been woken: a thread will come for it")                                           \
    ROW(ENDED, "its handlers never run again")

#define VAULT_WAIT_EVENTS(ROW)                                                                                         \
    ROW(SUSPEND, "a handler suspends it; the dispatcher does so before it compares stamps")                            \
    ROW(WAKE, "a notification, a timeout, a resume, a complete or the stop of the child")                              \
    ROW(PARK, "its handlers have returned SUSPENDED")                                                                  \
    ROW(REVOKE, "they have returned something else, or the dispatcher has found something to do")                      \
    ROW(COLLECT, "a thread has come for it, and takes it if it was woken")                                             \
    ROW(TAKE, "a thread has come for a poll, and takes it in any case: the dispatcher looks at its client itself")     \
    ROW(HANG_UP, "a thread has come for it and has seen that its client is gone")                                      \
    ROW(END, "its handlers have returned for good, or its connection or its child ends")

#define VAULT_WAIT_ACTIONS(ROW)                                                                                        \
    ROW(NOTHING, "the event comes too late, or cannot happen")                                                         \
    ROW(ATTACH, "enter it into the lists of the waiters")                                                              \
    ROW(SHORTEN, "the earlier of the two time limits holds")                                                           \
    ROW(SIGNAL, "note the cause and signal its wakeup, at its turn")                                                   \
    ROW(NOTE, "note the cause as well; its wakeup is signalled or it has its place in the queue")                      \
    ROW(LEAVE, "run the hook request_suspended, and leave it to the MPM or to sleep")                                  \
    ROW(DETACH, "take it out of the lists")                                                                            \
    ROW(RUN, "take it out of the lists and run its handlers again")                                                    \
    ROW(KEEP, "it waits on")                                                                                           \
    ROW(FINISH, "run the hook request_completed")                                                                      \
    ROW(ABANDON, "take it out of the lists, count its client as gone, run the hook request_completed")

#define VAULT_WAIT_ENUM(name, meaning) VAULT_WAIT_##name,
typedef enum vault_wait_state_t { VAULT_WAIT_STATES(VAULT_WAIT_ENUM) VAULT_WAIT_STATE_COUNT } vault_wait_state_t;
#undef VAULT_WAIT_ENUM

#define VAULT_WAIT_ENUM(name, meaning) VAULT_ON_##name,
typedef enum vault_wait_event_t { VAULT_WAIT_EVENTS(VAULT_WAIT_ENUM) VAULT_WAIT_EVENT_COUNT } vault_wait_event_t;
#undef VAULT_WAIT_ENUM

#define VAULT_WAIT_ENUM(name, meaning) VAULT_DO_##name,
typedef enum vault_wait_action_t { VAULT_WAIT_ACTIONS(VAULT_WAIT_ENUM) VAULT_WAIT_ACTION_COUNT } vault_wait_action_t;
#undef VAULT_WAIT_ENUM

/** Move to the next state of the table, if the event counts. Any thread. Zeroed memory is RUNNING.
 * @return what the caller has to do; VAULT_DO_NOTHING also if it has lost a race */
vault_wait_action_t vault_wait_step(vault_wait_state_t *state, vault_wait_event_t event);

/** The state now. Another thread may change it at once, unless the caller owns the request. */
vault_wait_state_t vault_wait_state(const vault_wait_state_t *state);

/** Is the request suspended, so that wakers reach it: SUSPENDING to WOKEN? */
int vault_wait_is_suspended(vault_wait_state_t state);

/** Is it suspended, and has been woken? */
int vault_wait_is_woken(vault_wait_state_t state);

#endif
