/* SPDX-License-Identifier: Apache-2.0 */
/* A stress run's plan: see plan.h. */
#include "plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "dice.h"
#include "wire.h"

#define SECOND 1000000000u

typedef struct kind_t {
    const char *name;
    plan_class_t class;
    double share;
    const char *what;
} kind_t;

#define PLAN_ROW(name, rate, share, what) {#name, PLAN_##rate, share, what},
static const kind_t kinds[] = {PLAN_KINDS(PLAN_ROW)};

const char *plan_name(plan_kind_t kind)
{
    return kinds[kind].name;
}

static double rate_of(plan_kind_t kind, const double rates[PLAN_CLASSES])
{
    double sum = 0;

    for (int i = 0; i < PLAN_KIND_COUNT; i++) {
        sum += kinds[i].class == kinds[kind].class ? kinds[i].share : 0;
    }
    return rates[kinds[kind].class] * kinds[kind].share / sum;
}

static plan_kind_t draw_kind(dice_t *dice, const double rates[PLAN_CLASSES], double all)
{
    double at = dice_part(dice) * all;
    int kind = 0;

    while (kind < PLAN_KIND_COUNT - 1 && (at -= rate_of((plan_kind_t)kind, rates)) > 0) {
        kind++;
    }
    return (plan_kind_t)kind;
}

static void add(plan_t *plan, const plan_act_t *act)
{
    const uint64_t words[] = {act->at, (uint64_t)act->kind, act->which, act->how};

    if (plan->count % 4096 == 0) {
        plan->acts = realloc(plan->acts, (size_t)(plan->count + 4096) * sizeof *plan->acts);
        if (plan->acts == NULL) {
            wire_die("out of memory");
        }
    }
    plan->acts[plan->count++] = *act;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        plan->digest = (plan->digest ^ words[i]) * 0x100000001b3u; /* FNV-1a, a word at a time */
    }
}

void plan_draw(plan_t *plan, uint64_t seed, double seconds, const double rates[PLAN_CLASSES])
{
    dice_t dice = seed;
    double all = 0, at = 0;

    *plan = (plan_t){.digest = 0xcbf29ce484222325u};
    for (int i = 0; i < PLAN_CLASSES; i++) {
        all += rates[i];
    }
    while (all > 0 && (at -= log(dice_part(&dice)) / all) < seconds) {
        plan_act_t act = {.at = (uint64_t)(at * SECOND), .kind = draw_kind(&dice, rates, all)};

        act.which = (unsigned)(dice_roll(&dice) >> 33);
        act.how = (unsigned)(dice_roll(&dice) >> 33);
        add(plan, &act);
    }
}

void plan_print(const plan_t *plan)
{
    for (int i = 0; i < plan->count; i++) {
        const plan_act_t *act = &plan->acts[i];

        printf("%9.3f %-12s %10u %10u  %s\n", (double)act->at / SECOND, kinds[act->kind].name, act->which, act->how,
               kinds[act->kind].what);
    }
}
