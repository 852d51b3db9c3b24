/* SPDX-License-Identifier: Apache-2.0 */
/* What the positions of all databases have in common: a sorted list of exceptions. See position.h. */
#include "log/position.h"

#include <string.h>

/* The index of `value` in the list, or the index where it would be inserted. */
static int index_of(const log_position_t *position, apr_int64_t value)
{
    int from = 0, to = position->count;

    while (from < to) {
        int middle = (from + to) / 2;

        if (position->exceptions[middle] < value) {
            from = middle + 1;
        }
        else {
            to = middle;
        }
    }
    return from;
}

int log_position_excepts(const log_position_t *position, apr_int64_t value)
{
    int i = index_of(position, value);

    return i < position->count && position->exceptions[i] == value;
}

int log_position_except(log_position_t *position, apr_int64_t value)
{
    int i = index_of(position, value);

    if (i < position->count && position->exceptions[i] == value) {
        return 1;
    }
    if (position->count == LOG_POSITION_MAX) {
        return 0;
    }
    memmove(&position->exceptions[i + 1], &position->exceptions[i],
            (apr_size_t)(position->count - i) * sizeof(position->exceptions[0]));
    position->exceptions[i] = value;
    position->count++;
    return 1;
}

void log_position_accept(log_position_t *position, apr_int64_t value)
{
    int i = index_of(position, value);

    if (i < position->count && position->exceptions[i] == value) {
        position->count--;
        memmove(&position->exceptions[i], &position->exceptions[i + 1],
                (apr_size_t)(position->count - i) * sizeof(position->exceptions[0]));
    }
}
