/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_fuzz.c
 * Any text that vaultctl prints. Checked besides crashes: what is left is UTF-8 without anything that commands
 * a terminal, what was UTF-8 without it is as it was, and each character that was replaced is one `?`. The
 * bytes are read by rules of this file's own.
 */
#include "output.h"

#include "fuzz.h"

typedef struct character_t {
    unsigned long number;
    apr_size_t bytes;
} character_t;

/* The character of so many bytes; number 0: what is here is none. */
static character_t read_as(const unsigned char *s, apr_size_t left, apr_size_t bytes)
{
    static const unsigned long first[] = {0, 0, 0x80, 0x800, 0x10000};
    character_t c = {s[0] & (0x7fu >> bytes), bytes};

    for (apr_size_t i = 1; i < bytes; i++) {
        if (i >= left || (s[i] & 0xc0) != 0x80) {
            return (character_t){0, 1};
        }
        c.number = c.number << 6 | (s[i] & 0x3f);
    }
    return c.number < first[bytes] || c.number > 0x10ffff || (c.number >= 0xd800 && c.number <= 0xdfff)
               ? (character_t){0, 1}
               : c;
}

static character_t character_at(const char *text, apr_size_t left)
{
    const unsigned char *s = (const unsigned char *)text;

    return s[0] < 0x80             ? (character_t){s[0], 1}
           : (s[0] & 0xe0) == 0xc0 ? read_as(s, left, 2)
           : (s[0] & 0xf0) == 0xe0 ? read_as(s, left, 3)
           : (s[0] & 0xf8) == 0xf0 ? read_as(s, left, 4)
                                   : (character_t){0, 1};
}

static int is_bad(unsigned long n)
{
    return n < 0x20 || (n >= 0x7f && n < 0xa0) || n == 0x61c || n == 0x200e || n == 0x200f ||
           (n >= 0x2028 && n <= 0x202e) || (n >= 0x2066 && n <= 0x2069);
}

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    char *clean = malloc(length + 1); /* of exactly this size, so that writing beyond it shows */
    apr_size_t used, i = 0, at = 0;

    (void)pool;
    memcpy(clean, text, length);
    clean[length] = '!';
    used = vaultctl_output_clean(clean, length);
    must(used <= length && clean[length] == '!');
    while (i < length) {
        character_t c = character_at(text + i, length - i);
        apr_size_t bytes = is_bad(c.number) ? 1 : c.bytes;

        must(at + bytes <= used);
        must(is_bad(c.number) ? clean[at] == '?' : memcmp(clean + at, text + i, bytes) == 0);
        at += bytes;
        i += c.bytes;
    }
    must(at == used);
    must(vaultctl_output_clean(clean, used) == used);
    free(clean);
}
