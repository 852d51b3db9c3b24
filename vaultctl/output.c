/* SPDX-License-Identifier: Apache-2.0 */
/* Cleans complete lines after formatting, so that no argument can be forgotten. */
#include "output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "vaultctl.h"

/* --------------------------------------------------------------------- clean */

/* Ranges of unwanted characters. UTF-8 sequences compare in the order of their characters. */
static const struct {
    const char *first, *last;
} unwanted[] = {
    {"\xc2\x80", "\xc2\x9f"},         /* U+0080..U+009F: control characters, U+009B begins a command as ESC [ does */
    {"\xd8\x9c", "\xd8\x9c"},         /* U+061C: direction */
    {"\xe2\x80\x8e", "\xe2\x80\x8f"}, /* U+200E, U+200F: direction */
    {"\xe2\x80\xa8", "\xe2\x80\xae"}, /* U+2028, U+2029: line, paragraph; U+202A..U+202E: direction */
    {"\xe2\x81\xa6", "\xe2\x81\xa9"}, /* U+2066..U+2069: direction */
};

static int is_wanted(const char *character, apr_size_t bytes)
{
    if (bytes == 1) {
        return *character >= ' ' && *character != 0x7f; /* bytes above 0x7f are handled as sequences */
    }
    for (size_t i = 0; i < sizeof(unwanted) / sizeof(unwanted[0]); i++) {
        if (bytes == strlen(unwanted[i].first) && memcmp(character, unwanted[i].first, bytes) >= 0 &&
            memcmp(character, unwanted[i].last, bytes) <= 0) {
            return 0;
        }
    }
    return 1;
}

apr_size_t vaultctl_output_clean(char *text, apr_size_t length)
{
    apr_size_t used = 0, bytes;

    for (apr_size_t i = 0; i < length; i += bytes ? bytes : 1) {
        bytes = vault_utf8_length(text + i, length - i);
        if (bytes && is_wanted(text + i, bytes)) {
            memmove(text + used, text + i, bytes);
            used += bytes;
        }
        else {
            text[used++] = '?';
        }
    }
    return used;
}

/* --------------------------------------------------------------------- print */

/* Prints `begin` and the formatted text. */
static void print_line(FILE *to, const char *begin, const char *fmt, va_list args)
    __attribute__((format(printf, 3, 0)));

static void print_line(FILE *to, const char *begin, const char *fmt, va_list args)
{
    size_t last = strlen(fmt);
    int ends = last && fmt[last - 1] == '\n', length;
    char *text;

    length = vasprintf(&text, fmt, args);
    fputs(begin, to);
    if (length >= 0) {
        fwrite(text, 1, vaultctl_output_clean(text, (apr_size_t)(length - ends)), to);
        free(text);
    }
    fputs(ends ? "\n" : "", to);
}

void vaultctl_print(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    print_line(stdout, "", fmt, args);
    va_end(args);
}

void vaultctl_print_to(FILE *to, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    print_line(to, "", fmt, args);
    va_end(args);
}

void vaultctl_vsay(const char *fmt, va_list args)
{
    fflush(stdout);
    print_line(stderr, "vaultctl: ", fmt, args);
    fputc('\n', stderr);
}

int vaultctl_say(int status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vaultctl_vsay(fmt, args);
    va_end(args);
    return status;
}

void vaultctl_print_sql(const char *statement)
{
    int lines = isatty(STDOUT_FILENO);

    while (lines && *statement) {
        const char *end = strchrnul(statement, '\n');

        vaultctl_print("%.*s", (int)(end - statement), statement);
        fputs(*end ? "\n" : "", stdout);
        statement = *end ? end + 1 : end;
    }
    fputs(statement, stdout);
    fputs(";\n", stdout);
}

/* jansson escapes everything but ASCII, and leaves one control character, which occurs only in strings. */
static int put_json(const char *text, size_t length, void *to)
{
    for (size_t i = 0; i < length; i++) {
        if (text[i] == 0x7f) {
            fputs("\\u007f", to);
        }
        else {
            fputc(text[i], to);
        }
    }
    return ferror(to) ? -1 : 0;
}

void vaultctl_print_json(const json_t *json, size_t flags)
{
    json_dump_callback(json, put_json, stdout, JSON_ENSURE_ASCII | flags);
    putchar('\n');
}
