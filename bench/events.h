/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file events.h
 * A stream of server-sent events, taken apart as it arrives: head, chunks, events.
 */
#ifndef VAULT_BENCH_EVENTS_H
#define VAULT_BENCH_EVENTS_H

#include <stddef.h>

typedef enum events_result_t {
    EVENTS_MORE,  /* all of it was taken: the stream goes on */
    EVENTS_ENDED, /* its last chunk has come */
    EVENTS_OTHER  /* it is no stream of events: `status` says what it is */
} events_result_t;

/** Zeroed before the first byte of an answer. Holds memory only while a part of the head or of an event has come. */
typedef struct events_t {
    char *text;
    size_t used, room;
    size_t left; /* of the chunk */
    int status;
    unsigned char at;
} events_t;

/** Take the next bytes, and call `got` with the data of each event in them, NUL-terminated; comments are passed over.
 * `got` may do anything but touch `e`. */
events_result_t events_take(events_t *e, const char *bytes, size_t length, void (*got)(void *baton, const char *data),
                            void *baton);

/** Give back what is held, and be ready for another answer. */
void events_clear(events_t *e);

#endif
