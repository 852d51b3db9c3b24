/* SPDX-License-Identifier: Apache-2.0 */
/* A stream of server-sent events, taken apart as it arrives: see events.h. */
#include "events.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "wire.h"

#define TEXT_MAX (4 * 1024 * 1024)

/* Where in the answer the next byte is. */
enum { HEAD, SIZE, DATA, AFTER_DATA, LAST };

static void append(events_t *e, const char *bytes, size_t length)
{
    if (e->used + length >= e->room) {
        e->room = e->used + length + 512;
        if (e->room > TEXT_MAX || (e->text = realloc(e->text, e->room)) == NULL) {
            wire_die("an event of more than %d bytes, or no memory", TEXT_MAX);
        }
    }
    memcpy(e->text + e->used, bytes, length);
    e->used += length;
    e->text[e->used] = '\0';
}

void events_clear(events_t *e)
{
    free(e->text);
    *e = (events_t){0};
}

static void drop_text(events_t *e)
{
    free(e->text);
    e->text = NULL;
    e->used = e->room = 0;
}

/* @return whether the head is complete, and that of a stream in chunks; 0 with a status: it is of something else */
static int take_head(events_t *e, char byte)
{
    int is_stream;

    append(e, &byte, 1);
    if (e->used < 4 || memcmp(e->text + e->used - 4, "\r\n\r\n", 4) != 0) {
        return 0;
    }
    e->status = atoi(e->text + strcspn(e->text, " "));
    is_stream = e->status == 200 && strcasestr(e->text, "\nContent-Type: text/event-stream") != NULL &&
                strcasestr(e->text, "\nTransfer-Encoding: chunked") != NULL;
    drop_text(e);
    return is_stream;
}

/* One event, of lines. `text` is cut up. */
static void take_event(char *text, void (*got)(void *baton, const char *data), void *baton)
{
    char *rest, *line;

    for (line = strtok_r(text, "\n", &rest); line != NULL; line = strtok_r(NULL, "\n", &rest)) {
        if (strncmp(line, "data: ", 6) == 0) {
            got(baton, line + 6);
        }
    }
}

static void take_events(events_t *e, void (*got)(void *baton, const char *data), void *baton)
{
    char *from = e->text, *end;

    while ((end = strstr(from, "\n\n")) != NULL) {
        *end = '\0';
        take_event(from, got, baton);
        from = end + 2;
    }
    e->used -= (size_t)(from - e->text);
    memmove(e->text, from, e->used + 1);
    if (e->used == 0) {
        drop_text(e);
    }
}

static void take_size(events_t *e, char byte)
{
    static const char digits[] = "0123456789abcdef";
    const char *digit = byte == '\0' ? NULL : strchr(digits, byte | 0x20);

    if (byte == '\n') {
        e->at = e->left > 0 ? DATA : LAST;
    }
    else if (digit != NULL && e->left < TEXT_MAX) {
        e->left = 16 * e->left + (size_t)(digit - digits);
    }
    else if (byte != '\r') {
        wire_die("a chunk begins with 0x%02x", (unsigned char)byte);
    }
}

/* @return how many bytes were taken */
static size_t take_data(events_t *e, const char *bytes, size_t length)
{
    size_t n = length < e->left ? length : e->left;

    append(e, bytes, n);
    e->left -= n;
    if (e->left == 0) {
        e->at = AFTER_DATA;
    }
    return n;
}

events_result_t events_take(events_t *e, const char *bytes, size_t length, void (*got)(void *baton, const char *data),
                            void *baton)
{
    size_t i = 0;

    while (i < length && e->at != LAST) {
        switch (e->at) {
        case HEAD:
            if (take_head(e, bytes[i++])) {
                e->at = SIZE;
            }
            else if (e->status != 0) {
                return EVENTS_OTHER;
            }
            break;
        case SIZE:
            take_size(e, bytes[i++]);
            break;
        case DATA:
            i += take_data(e, bytes + i, length - i);
            take_events(e, got, baton);
            break;
        default:
            if (bytes[i++] == '\n') {
                e->at = SIZE;
            }
        }
    }
    return e->at == LAST ? EVENTS_ENDED : EVENTS_MORE;
}
