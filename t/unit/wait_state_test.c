/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the states of a request that may be suspended: every cell of the table against docs/internals.md, the
 * paths through it, and threads that race for one request.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "unit.h"
#include "wait/wait_state.h"

#include <CUnit/Basic.h>

#define ROUNDS 20000
#define LINE_MAX_LENGTH 4096
#define NAME_MAX_LENGTH 64

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_SEQ_CST)
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_SEQ_CST)

#define NAME(name, meaning) #name,
static const char *const states[] = {VAULT_WAIT_STATES(NAME)};
static const char *const events[] = {VAULT_WAIT_EVENTS(NAME)};
static const char *const actions[] = {VAULT_WAIT_ACTIONS(NAME)};
#undef NAME

#define MEANING(name, meaning) meaning,
static const char *const state_meanings[] = {VAULT_WAIT_STATES(MEANING)};
static const char *const event_meanings[] = {VAULT_WAIT_EVENTS(MEANING)};
static const char *const action_meanings[] = {VAULT_WAIT_ACTIONS(MEANING)};
#undef MEANING

/* ----------------------------------------------------------- the printed table */

/* Read on to the line that begins with `begin`. @return 0 there is none */
static int find_line(FILE *file, char *line, const char *begin)
{
    while (fgets(line, LINE_MAX_LENGTH, file)) {
        if (strncmp(line, begin, strlen(begin)) == 0) {
            return 1;
        }
    }
    return 0;
}

/* What the manual prints for an action and the state after it: "SIGNAL → WOKEN", or "–" where nothing happens. */
static void print_cell(char *cell, vault_wait_state_t before, vault_wait_event_t event)
{
    vault_wait_state_t state = before;
    vault_wait_action_t action = vault_wait_step(&state, event);

    if (action == VAULT_DO_NOTHING) {
        CU_ASSERT_EQUAL(state, before);
        strcpy(cell, "–");
    }
    else {
        snprintf(cell, NAME_MAX_LENGTH, "%s → %s", actions[action], states[state]);
    }
}

static void expect_line(FILE *file, char *line, const char *expected)
{
    int same = fgets(line, LINE_MAX_LENGTH, file) && strcmp(line, expected) == 0;

    CU_ASSERT(same);
    if (!same) {
        printf("\n    docs/internals.md has  %s    and should have        %s", line, expected);
    }
}

static void the_manual_prints_every_cell(void)
{
    char line[LINE_MAX_LENGTH], expected[LINE_MAX_LENGTH], cell[NAME_MAX_LENGTH];
    FILE *file = fopen(INTERNALS, "r");
    int state, event;

    CU_ASSERT_FATAL(file != NULL);
    strcpy(expected, "| state |");
    for (event = 0; event < VAULT_WAIT_EVENT_COUNT; event++) {
        sprintf(expected + strlen(expected), " %s |", events[event]);
    }
    strcat(expected, "\n");
    CU_ASSERT_FATAL(find_line(file, line, "| state | SUSPEND"));
    CU_ASSERT_STRING_EQUAL(line, expected);
    CU_ASSERT_FATAL(fgets(line, sizeof(line), file) != NULL);
    for (state = 0; state < VAULT_WAIT_STATE_COUNT; state++) {
        sprintf(expected, "| %s |", states[state]);
        for (event = 0; event < VAULT_WAIT_EVENT_COUNT; event++) {
            print_cell(cell, (vault_wait_state_t)state, (vault_wait_event_t)event);
            sprintf(expected + strlen(expected), " %s |", cell);
        }
        strcat(expected, "\n");
        expect_line(file, line, expected);
    }
    fclose(file);
}

static void expect_meanings(FILE *file, const char *title, const char *const *names, const char *const *meanings,
                            int count)
{
    char line[LINE_MAX_LENGTH], expected[LINE_MAX_LENGTH];
    int i;

    CU_ASSERT_FATAL(find_line(file, line, title));
    CU_ASSERT_FATAL(fgets(line, sizeof(line), file) != NULL);
    for (i = 0; i < count; i++) {
        snprintf(expected, sizeof(expected), "| %s | %s |\n", names[i], meanings[i]);
        expect_line(file, line, expected);
    }
}

static void the_manual_says_what_each_name_means(void)
{
    FILE *file = fopen(INTERNALS, "r");

    CU_ASSERT_FATAL(file != NULL);
    expect_meanings(file, "| state | meaning |", states, state_meanings, VAULT_WAIT_STATE_COUNT);
    expect_meanings(file, "| event | meaning |", events, event_meanings, VAULT_WAIT_EVENT_COUNT);
    expect_meanings(file, "| action | what its caller does |", actions, action_meanings, VAULT_WAIT_ACTION_COUNT);
    fclose(file);
}

/* ----------------------------------------------------------------------- rules */

static void a_request_is_suspended_from_its_handler_to_its_thread(void)
{
    static const struct {
        vault_wait_state_t state;
        int suspended, woken;
    } rows[] = {
        {VAULT_WAIT_RUNNING, 0, 0}, {VAULT_WAIT_SUSPENDING, 1, 0}, {VAULT_WAIT_WOKEN_EARLY, 1, 1},
        {VAULT_WAIT_WAITING, 1, 0}, {VAULT_WAIT_WOKEN, 1, 1},      {VAULT_WAIT_ENDED, 0, 0},
    };
    size_t i;

    CU_ASSERT_EQUAL(sizeof(rows) / sizeof(rows[0]), VAULT_WAIT_STATE_COUNT);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT_EQUAL(vault_wait_is_suspended(rows[i].state), rows[i].suspended);
        CU_ASSERT_EQUAL(vault_wait_is_woken(rows[i].state), rows[i].woken);
    }
}

/* What holds in every table of this kind, whatever its cells say. */
static void no_event_loses_a_request(void)
{
    int s, e;

    for (s = 0; s < VAULT_WAIT_STATE_COUNT; s++) {
        vault_wait_state_t end = (vault_wait_state_t)s, wake = end;

        CU_ASSERT_EQUAL(vault_wait_step(&end, VAULT_ON_END) == VAULT_DO_NOTHING, s == VAULT_WAIT_ENDED);
        CU_ASSERT_EQUAL(end, VAULT_WAIT_ENDED);
        CU_ASSERT_EQUAL(vault_wait_step(&wake, VAULT_ON_WAKE) != VAULT_DO_NOTHING,
                        vault_wait_is_suspended((vault_wait_state_t)s));
        CU_ASSERT_EQUAL(vault_wait_is_woken(wake), vault_wait_is_suspended((vault_wait_state_t)s));
        for (e = 0; e < VAULT_WAIT_EVENT_COUNT; e++) {
            vault_wait_state_t after = (vault_wait_state_t)s;
            vault_wait_action_t action = vault_wait_step(&after, (vault_wait_event_t)e);

            /* A request that was woken is run or ended by the event, or stays woken. */
            CU_ASSERT(!vault_wait_is_woken((vault_wait_state_t)s) || !vault_wait_is_suspended(after) ||
                      vault_wait_is_woken(after));
            /* Only what leaves the suspended states, or enters them, may enter or leave the lists. */
            CU_ASSERT_EQUAL(action == VAULT_DO_DETACH || action == VAULT_DO_RUN || action == VAULT_DO_ABANDON,
                            vault_wait_is_suspended((vault_wait_state_t)s) && !vault_wait_is_suspended(after));
            CU_ASSERT_EQUAL(action == VAULT_DO_ATTACH,
                            !vault_wait_is_suspended((vault_wait_state_t)s) && vault_wait_is_suspended(after));
        }
    }
}

static void a_wake_before_it_waits_is_not_lost(void)
{
    vault_wait_state_t state = VAULT_WAIT_RUNNING;

    CU_ASSERT_EQUAL(vault_wait_step(&state, VAULT_ON_SUSPEND), VAULT_DO_ATTACH);
    CU_ASSERT_EQUAL(vault_wait_step(&state, VAULT_ON_WAKE), VAULT_DO_SIGNAL);
    CU_ASSERT_EQUAL(vault_wait_step(&state, VAULT_ON_WAKE), VAULT_DO_NOTE);
    CU_ASSERT_EQUAL(vault_wait_step(&state, VAULT_ON_PARK), VAULT_DO_LEAVE);
    CU_ASSERT_EQUAL(vault_wait_step(&state, VAULT_ON_HANG_UP), VAULT_DO_NOTHING);
    CU_ASSERT_EQUAL(vault_wait_step(&state, VAULT_ON_COLLECT), VAULT_DO_RUN);
    CU_ASSERT_EQUAL(state, VAULT_WAIT_RUNNING);
}

/* ----------------------------------------------------------------------- races */

/* One request, and the threads that race for it, each with one event a round. */
typedef struct race_t {
    vault_wait_state_t state;
    long round;                        /* atomic; that has begun */
    long made;                         /* atomic; steps so far */
    long won[VAULT_WAIT_ACTION_COUNT]; /* atomic; how often an action was given, this round */
    int done;                          /* atomic */
} race_t;

typedef struct racer_t {
    race_t *race;
    vault_wait_event_t event;
    pthread_t thread;
} racer_t;

static void *run_race(void *baton)
{
    const racer_t *me = baton;
    race_t *race = me->race;
    long seen = 0;

    while (!LOAD(race->done)) {
        long round = LOAD(race->round);
        if (round == seen) {
            sched_yield();
            continue;
        }
        seen = round;
        __atomic_add_fetch(&race->won[vault_wait_step(&race->state, me->event)], 1, __ATOMIC_SEQ_CST);
        __atomic_add_fetch(&race->made, 1, __ATOMIC_SEQ_CST);
    }
    return NULL;
}

/* @return 0 the round gave the request to no thread, or to more than one */
static int is_right(const race_t *race, vault_wait_state_t before)
{
    long owners = race->won[VAULT_DO_RUN] + race->won[VAULT_DO_ABANDON];
    vault_wait_state_t after = vault_wait_state(&race->state);

    /* After the race it has an owner, or it is woken and a thread comes for it. Two wakes count as one. */
    return owners == (after == VAULT_WAIT_RUNNING || after == VAULT_WAIT_ENDED) && race->won[VAULT_DO_SIGNAL] <= 1 &&
           (owners || before == after || after == VAULT_WAIT_WOKEN);
}

/* @param count  5: its connection may end as well, 4: it does not */
static void race_from(vault_wait_state_t before, int count)
{
    static const vault_wait_event_t entrants[] = {VAULT_ON_WAKE, VAULT_ON_WAKE, VAULT_ON_COLLECT, VAULT_ON_HANG_UP,
                                                  VAULT_ON_END};
    racer_t racers[sizeof(entrants) / sizeof(entrants[0])];
    race_t race = {.state = before};
    long wrong = 0, ran = 0, abandoned = 0, round;
    int i;

    for (i = 0; i < count; i++) {
        racers[i].race = &race;
        racers[i].event = entrants[i];
        CU_ASSERT_FATAL(pthread_create(&racers[i].thread, NULL, run_race, &racers[i]) == 0);
    }
    for (round = 1; round <= ROUNDS; round++) {
        STORE(race.state, before);
        memset(race.won, 0, sizeof(race.won));
        STORE(race.round, round);
        while (LOAD(race.made) < round * count) {
            sched_yield();
        }
        wrong += !is_right(&race, before);
        ran += race.won[VAULT_DO_RUN];
        abandoned += race.won[VAULT_DO_ABANDON];
    }
    STORE(race.done, 1);
    for (i = 0; i < count; i++) {
        pthread_join(racers[i].thread, NULL);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(ran + abandoned > 0);
}

static void one_thread_owns_a_request_whatever_races(void)
{
    race_from(VAULT_WAIT_WAITING, 4);
    race_from(VAULT_WAIT_WAITING, 5);
    race_from(VAULT_WAIT_WOKEN, 5);
}

void vault_wait_state_suite(void)
{
    CU_pSuite suite = CU_add_suite("wait_state", NULL, NULL);

    CU_ADD_TEST(suite, the_manual_prints_every_cell);
    CU_ADD_TEST(suite, the_manual_says_what_each_name_means);
    CU_ADD_TEST(suite, a_request_is_suspended_from_its_handler_to_its_thread);
    CU_ADD_TEST(suite, no_event_loses_a_request);
    CU_ADD_TEST(suite, a_wake_before_it_waits_is_not_lost);
    CU_ADD_TEST(suite, one_thread_owns_a_request_whatever_races);
}
