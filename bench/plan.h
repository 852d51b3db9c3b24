/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file plan.h
 * The acts of a stress run and their times, drawn from a seed before it begins, so that the same seed and
 * options repeat the same run.
 */
#ifndef VAULT_BENCH_PLAN_H
#define VAULT_BENCH_PLAN_H

#include <stdint.h>

/* Name, the class whose rate it shares in, its share, and what it is. */
#define PLAN_KINDS(KIND)                                                                                               \
    KIND(WRITE, WRITES, 60, "a page's own number grows, and its interest is notified")                                 \
    KIND(WRITE_SHARED, WRITES, 25, "the same for one that many pages show")                                            \
    KIND(SAVE, WRITES, 10, "a row is saved by the database feed")                                                      \
    KIND(NOTIFY, WRITES, 5, "an interest is notified although nothing happened")                                       \
    KIND(LOSE, PAGES, 18, "the next answer is lost")                                                                   \
    KIND(DROP, PAGES, 18, "the connection is reset, and the page polls on another one")                                \
    KIND(SLEEP, PAGES, 10, "the connection is closed, and the page comes back after a while")                          \
    KIND(LEAVE, PAGES, 8, "the page is closed; another is loaded after a while")                                       \
    KIND(OVERTAKE, PAGES, 12, "the page polls again while its poll waits, and ignores the older one")                  \
    KIND(ACK, PAGES, 10, "an acknowledgement by itself, perhaps late")                                                 \
    KIND(TAB, PAGES, 6, "another tab polls for the page")                                                              \
    KIND(GUESS, PAGES, 4, "a poll for a page that is not")                                                             \
    KIND(SLOW, PAGES, 6, "the page does not read for a while")                                                         \
    KIND(SET, PAGES, 4, "a page property is written from outside")                                                     \
    KIND(VANISH, PAGES, 3, "a client connects, sends half a request, and disconnects")                                 \
    KIND(FAIL, PAGES, 1, "a quarter of the methods fail for a while")                                                  \
    KIND(DIE, VIOLENCE, 30, "a child kills itself between a write and its notify")                                     \
    KIND(KILL, VIOLENCE, 30, "a child is killed")                                                                      \
    KIND(RESTART, VIOLENCE, 25, "a graceful restart")                                                                  \
    KIND(RELOAD, VIOLENCE, 15, "a graceful restart with another configuration")

typedef enum plan_class_t { PLAN_WRITES, PLAN_PAGES, PLAN_VIOLENCE, PLAN_CLASSES } plan_class_t;

#define PLAN_ENUM(name, rate, share, what) PLAN_##name,
typedef enum plan_kind_t { PLAN_KINDS(PLAN_ENUM) PLAN_KIND_COUNT } plan_kind_t;

typedef struct plan_act_t {
    uint64_t at; /* ns from the beginning */
    plan_kind_t kind;
    unsigned which; /* page, key, child …, to be reduced modulo their number */
    unsigned how;   /* a duration or a variant */
} plan_act_t;

typedef struct plan_t {
    plan_act_t *acts;
    int count;
    uint64_t digest; /* of all acts: runs with the same digest have done the same */
} plan_t;

/** Draw the acts of `seconds`; `rates` are acts per second of each class. Memory is never freed: a program has
 * one plan. */
void plan_draw(plan_t *plan, uint64_t seed, double seconds, const double rates[PLAN_CLASSES]);

const char *plan_name(plan_kind_t kind);

/** Print the plan, one line for each act. */
void plan_print(const plan_t *plan);

#endif
