/* SPDX-License-Identifier: Apache-2.0 */
/* A ring buffer of changes in shared memory: see ring.h. */
#include "log/ring.h"

#include <stdatomic.h>
#include <string.h>

#include "apr_general.h"
#include "apr_strings.h"

#define WORD sizeof(apr_uint64_t)
/* An entry: its length in words with a bit for each text that it has, four numbers, and the texts, each with a NUL. */
enum { WORD_LENGTH, WORD_ID, WORD_NUMBER, WORD_SHAPE, WORD_AT, WORD_TEXTS };
enum { TEXT_TABLE, TEXT_OP, TEXT_KEY, TEXT_OLD, TEXT_NEW, TEXTS };
#define MASK_SHIFT 48
#define LENGTH_MASK ((UINT64_C(1) << MASK_SHIFT) - 1)
#define HEAD_WORDS ((sizeof(log_head_t) + WORD - 1) / WORD)

typedef _Atomic apr_uint64_t word_t;

struct log_ring_t {
    word_t size;      /* const: words of entries */
    word_t published; /* how many heads were published: the last one is in slot published % 2 */
    word_t heads[2][HEAD_WORDS];
    word_t tail; /* the offset of the oldest whole entry */
    word_t next; /* written by the tailer: where it appends */
    word_t words[];
};

/* ------------------------------------------------------------ words */

static apr_uint64_t get(const word_t *word)
{
    return atomic_load_explicit(word, memory_order_relaxed);
}

static void put(word_t *word, apr_uint64_t value)
{
    atomic_store_explicit(word, value, memory_order_relaxed);
}

static apr_uint64_t get_at(const log_ring_t *ring, apr_uint64_t offset)
{
    return get(&ring->words[offset % ring->size]);
}

static void put_at(log_ring_t *ring, apr_uint64_t offset, apr_uint64_t value)
{
    put(&ring->words[offset % ring->size], value);
}

apr_size_t log_ring_memory(apr_size_t bytes)
{
    return sizeof(log_ring_t) + bytes / WORD * WORD;
}

log_ring_t *log_ring_of(void *memory, apr_size_t bytes)
{
    log_ring_t *ring = memory;

    put(&ring->size, bytes / WORD);
    return ring;
}

/* ------------------------------------------------------------ the head */

typedef union slot_t {
    log_head_t head;
    apr_uint64_t words[HEAD_WORDS];
} slot_t;

void log_ring_publish(log_ring_t *ring, log_head_t *head)
{
    slot_t made = {.head = *head};
    apr_uint64_t published = get(&ring->published) + 1;

    made.head.end = head->end = get(&ring->next);
    /* A reader that finds a word of this head in the wrong slot then also finds that the next head was published. */
    atomic_thread_fence(memory_order_release);
    for (apr_size_t i = 0; i < HEAD_WORDS; i++) {
        put(&ring->heads[published % 2][i], made.words[i]);
    }
    atomic_store_explicit(&ring->published, published, memory_order_release);
}

/* The tailer overwrites the slot only after the next head was published. */
void log_ring_head(const log_ring_t *ring, log_head_t *head)
{
    apr_uint64_t before, after;
    slot_t found;

    do {
        before = atomic_load_explicit(&ring->published, memory_order_acquire);
        for (apr_size_t i = 0; i < HEAD_WORDS; i++) {
            found.words[i] = get(&ring->heads[before % 2][i]);
        }
        atomic_thread_fence(memory_order_acquire);
        after = get(&ring->published);
    } while (after != before);
    *head = found.head;
}

/* ------------------------------------------------------------ boots */

/* A boot is a number, and below it these random bits of the ring. */
#define LIFE_BITS 24

apr_uint64_t log_ring_next_boot(const log_head_t *head)
{
    apr_uint64_t ring = head->boot >> LIFE_BITS;

    while (ring == 0) {
        apr_generate_random_bytes((unsigned char *)&ring, sizeof(ring));
        ring >>= LIFE_BITS;
    }
    return head->boot >> LIFE_BITS != 0 ? head->boot + 1 : ring << LIFE_BITS | 1;
}

int log_ring_has_lost(const log_head_t *head, apr_uint64_t boot)
{
    return boot >> LIFE_BITS == head->boot >> LIFE_BITS && boot < head->oldest;
}

/* ------------------------------------------------------------ append */

/* Entries behind the head are written again. If they have wrapped around the whole ring, no entry before them is
 * complete any more. */
void log_ring_take_over(log_ring_t *ring)
{
    log_head_t head;
    apr_uint64_t tail = get(&ring->tail);

    log_ring_head(ring, &head);
    put(&ring->next, head.end > tail ? head.end : tail);
}

/* Called before any entry is overwritten. */
static void make_room(log_ring_t *ring, apr_uint64_t length)
{
    apr_uint64_t next = get(&ring->next), tail = get(&ring->tail);

    while (tail < next && next + length - tail > get(&ring->size)) {
        tail += get_at(ring, tail) & LENGTH_MASK;
    }
    put(&ring->tail, tail);
    atomic_thread_fence(memory_order_release);
}

static void write_texts(log_ring_t *ring, apr_uint64_t offset, const char *const *texts)
{
    apr_uint64_t word = 0;
    apr_size_t filled = 0;

    for (int i = 0; i < TEXTS; i++) {
        for (const char *at = texts[i]; at != NULL; at++) {
            word |= (apr_uint64_t)(unsigned char)*at << 8 * filled++;
            if (filled == WORD) {
                put_at(ring, offset++, word);
                word = 0;
                filled = 0;
            }
            if (*at == '\0') {
                break;
            }
        }
    }
    if (filled > 0) {
        put_at(ring, offset, word);
    }
}

static apr_uint64_t length_of(const char *const *texts)
{
    apr_size_t bytes = 0;

    for (int i = 0; i < TEXTS; i++) {
        bytes += texts[i] != NULL ? strlen(texts[i]) + 1 : 0;
    }
    return WORD_TEXTS + (bytes + WORD - 1) / WORD;
}

static apr_uint64_t mask_of(const char *const *texts)
{
    apr_uint64_t mask = 0;

    for (int i = 0; i < TEXTS; i++) {
        mask |= texts[i] != NULL ? UINT64_C(1) << (MASK_SHIFT + i) : 0;
    }
    return mask;
}

/* Wherever the tailer is killed, the tail is at an entry or at `next`: the tail moves from entry to entry, and `next`
 * moves only behind an entry that is complete. */
void log_ring_append(log_ring_t *ring, const log_entry_t *entry)
{
    const char *texts[TEXTS] = {entry->table, entry->op, entry->key, entry->old, entry->new};
    apr_uint64_t length = length_of(texts), next = get(&ring->next);
    int fits = length <= get(&ring->size) / 4;

    if (!fits) {
        texts[TEXT_KEY] = texts[TEXT_OLD] = texts[TEXT_NEW] = NULL;
        length = length_of(texts);
    }
    make_room(ring, length);
    put_at(ring, next + WORD_LENGTH, length | mask_of(texts));
    put_at(ring, next + WORD_ID, (apr_uint64_t)entry->change.id);
    put_at(ring, next + WORD_NUMBER, (apr_uint64_t)entry->change.number);
    put_at(ring, next + WORD_SHAPE, fits ? entry->shape : 0);
    put_at(ring, next + WORD_AT, (apr_uint64_t)entry->at);
    write_texts(ring, next + WORD_TEXTS, texts);
    put(&ring->next, next + length);
}

/* ------------------------------------------------------------ read */

/* Is the copy of the entry at this offset valid? */
static int is_whole(const log_ring_t *ring, apr_uint64_t offset)
{
    atomic_thread_fence(memory_order_acquire);
    return get(&ring->tail) <= offset;
}

static void find_texts(const char *at, apr_uint64_t mask, const char *texts[TEXTS])
{
    for (int i = 0; i < TEXTS; i++) {
        texts[i] = NULL;
        if ((mask & UINT64_C(1) << (MASK_SHIFT + i)) != 0) {
            texts[i] = at;
            at += strlen(at) + 1;
        }
    }
}

int log_ring_read(const log_ring_t *ring, apr_uint64_t *offset, log_entry_t *entry, apr_pool_t *pool)
{
    apr_uint64_t first = get_at(ring, *offset), length = first & LENGTH_MASK, words[WORD_TEXTS];
    const char *texts[TEXTS];
    char *copy;

    if (!is_whole(ring, *offset) || length < WORD_TEXTS || length > get(&ring->size)) {
        return 0;
    }
    for (int i = 0; i < WORD_TEXTS; i++) {
        words[i] = get_at(ring, *offset + (apr_uint64_t)i);
    }
    copy = apr_palloc(pool, (length - WORD_TEXTS) * WORD + 1);
    for (apr_uint64_t i = WORD_TEXTS; i < length; i++) {
        apr_uint64_t word = get_at(ring, *offset + i);

        for (apr_size_t byte = 0; byte < WORD; byte++) {
            copy[(i - WORD_TEXTS) * WORD + byte] = (char)(word >> 8 * byte & 0xff);
        }
    }
    if (!is_whole(ring, *offset)) {
        return 0;
    }
    find_texts(copy, first, texts);
    *entry = (log_entry_t){
        .change = {.id = (apr_int64_t)words[WORD_ID], .number = (apr_int64_t)words[WORD_NUMBER]},
        .shape = words[WORD_SHAPE],
        .at = (apr_time_t)words[WORD_AT],
        .table = texts[TEXT_TABLE],
        .op = texts[TEXT_OP],
        .key = texts[TEXT_KEY],
        .old = texts[TEXT_OLD],
        .new = texts[TEXT_NEW],
    };
    *offset += length;
    return 1;
}

apr_time_t log_ring_oldest(const log_ring_t *ring)
{
    log_head_t head;
    apr_uint64_t tail = get(&ring->tail);
    apr_time_t at;

    log_ring_head(ring, &head);
    if (tail >= head.end) {
        return 0;
    }
    at = (apr_time_t)get_at(ring, tail + WORD_AT);
    return is_whole(ring, tail) ? at : 0;
}
