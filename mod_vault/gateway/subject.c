/* SPDX-License-Identifier: Apache-2.0 */
/* Interests as subjects of a notification engine. */
#include "gateway/subject.h"

#include <string.h>

#include "base/hex.h"

static int is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

apr_size_t vault_subject_of(const char *interest, char *subject, apr_size_t room)
{
    static const char digits[] = "0123456789ABCDEF";
    apr_size_t length = 0;

    for (; *interest; interest++) {
        unsigned char c = (unsigned char)*interest;
        if (length + 4 > room) {
            return 0;
        }
        if (is_plain(c)) {
            subject[length++] = (char)c;
        }
        else {
            subject[length++] = '=';
            subject[length++] = digits[c >> 4];
            subject[length++] = digits[c & 15];
        }
    }
    subject[length] = '\0';
    return length;
}

/* @return the byte that `at` begins with, and moves it; -1: none begins there */
static int next_byte(const char **at)
{
    const char *s = *at;
    int high, low;

    if (is_plain((unsigned char)*s)) {
        *at = s + 1;
        return (unsigned char)*s;
    }
    if (*s != '=' || (high = vault_hex_value(s[1])) < 0 || (low = vault_hex_value(s[2])) < 0) {
        return -1;
    }
    *at = s + 3;
    return high << 4 | low;
}

int vault_subject_interest(const char *subject, char *interest, apr_size_t room)
{
    apr_size_t length = 0;

    while (*subject) {
        int byte = next_byte(&subject);
        if (byte <= 0 || length + 1 >= room) {
            return 0;
        }
        interest[length++] = (char)byte;
    }
    interest[length] = '\0';
    return length > 0;
}
