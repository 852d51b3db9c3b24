/* SPDX-License-Identifier: Apache-2.0 */
/* The table of a request that may be suspended: state x event -> action and next state. */
#include "wait/wait_state.h"

typedef struct cell_t {
    vault_wait_action_t action;
    vault_wait_state_t next;
} cell_t;

#define CELL(action, next)                                                                                             \
    {                                                                                                                  \
        VAULT_DO_##action, VAULT_WAIT_##next                                                                           \
    }

/* A cell that is not listed has the action NOTHING, and the state stays. */
static const cell_t table[VAULT_WAIT_STATE_COUNT][VAULT_WAIT_EVENT_COUNT] = {
    [VAULT_WAIT_RUNNING] =
        {
            [VAULT_ON_SUSPEND] = CELL(ATTACH, SUSPENDING),
            [VAULT_ON_END] = CELL(FINISH, ENDED),
        },
    [VAULT_WAIT_SUSPENDING] =
        {
            [VAULT_ON_SUSPEND] = CELL(SHORTEN, SUSPENDING),
            [VAULT_ON_WAKE] = CELL(SIGNAL, WOKEN_EARLY),
            [VAULT_ON_PARK] = CELL(LEAVE, WAITING),
            [VAULT_ON_REVOKE] = CELL(DETACH, RUNNING),
            [VAULT_ON_END] = CELL(ABANDON, ENDED),
        },
    [VAULT_WAIT_WOKEN_EARLY] =
        {
            [VAULT_ON_SUSPEND] = CELL(SHORTEN, WOKEN_EARLY),
            [VAULT_ON_WAKE] = CELL(NOTE, WOKEN_EARLY),
            [VAULT_ON_PARK] = CELL(LEAVE, WOKEN),
            [VAULT_ON_REVOKE] = CELL(DETACH, RUNNING),
            [VAULT_ON_END] = CELL(ABANDON, ENDED),
        },
    [VAULT_WAIT_WAITING] =
        {
            [VAULT_ON_WAKE] = CELL(SIGNAL, WOKEN),
            [VAULT_ON_COLLECT] = CELL(KEEP, WAITING),
            [VAULT_ON_TAKE] = CELL(RUN, RUNNING),
            [VAULT_ON_HANG_UP] = CELL(ABANDON, ENDED),
            [VAULT_ON_END] = CELL(ABANDON, ENDED),
        },
    [VAULT_WAIT_WOKEN] =
        {
            [VAULT_ON_WAKE] = CELL(NOTE, WOKEN),
            [VAULT_ON_COLLECT] = CELL(RUN, RUNNING),
            [VAULT_ON_TAKE] = CELL(RUN, RUNNING),
            [VAULT_ON_END] = CELL(ABANDON, ENDED),
        },
};

vault_wait_action_t vault_wait_step(vault_wait_state_t *state, vault_wait_event_t event)
{
    vault_wait_state_t before = vault_wait_state(state);
    const cell_t *cell;

    do {
        cell = &table[before][event];
        if (cell->action == VAULT_DO_NOTHING) {
            return VAULT_DO_NOTHING;
        }
    } while (!__atomic_compare_exchange_n(state, &before, cell->next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));
    return cell->action;
}

vault_wait_state_t vault_wait_state(const vault_wait_state_t *state)
{
    return __atomic_load_n(state, __ATOMIC_SEQ_CST);
}

int vault_wait_is_suspended(vault_wait_state_t state)
{
    return state != VAULT_WAIT_RUNNING && state != VAULT_WAIT_ENDED;
}

int vault_wait_is_woken(vault_wait_state_t state)
{
    return state == VAULT_WAIT_WOKEN_EARLY || state == VAULT_WAIT_WOKEN;
}
