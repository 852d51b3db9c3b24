/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the arguments of a call, and finds out for which user it is made. */
#include "messages/arguments.h"

#include <string.h>

#include "apr_strings.h"

#include "sql/argument.h"

typedef struct row_t {
    const char *name;
    unsigned bits; /* the methods that take it; 0: all */
} row_t;

static const row_t known[] = {
    {"user", 0},
    {"channel", MESSAGES_CHANNEL | MESSAGES_IN},
    {"text", MESSAGES_TEXT},
    {"once", MESSAGES_ONCE},
    {"limit", MESSAGES_LIMIT},
    {"history", MESSAGES_HISTORY},
};

#define KNOWN (sizeof(known) / sizeof(known[0]))

static apr_status_t refuse_unknown(messages_call_t *m, unsigned takes)
{
    const char *allowed[KNOWN + 1] = {NULL};
    size_t count = 0;

    for (size_t i = 0; i < KNOWN; i++) {
        if (known[i].bits == 0 || (known[i].bits & takes) != 0) {
            allowed[count++] = known[i].name;
        }
    }
    return sql_arguments_known(&m->sql, allowed);
}

/* ------------------------------------------------------------ names and texts */

/* Decodes one character. `*at` is valid UTF-8, and is advanced. */
static unsigned code_point(const unsigned char **at)
{
    const unsigned char *s = *at;
    unsigned length = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    unsigned code = length == 1 ? s[0] : s[0] & (0xffu >> (length + 1));

    for (unsigned i = 1; i < length; i++) {
        code = code << 6 | (s[i] & 0x3f);
    }
    *at = s + length;
    return code;
}

/* Characters that are invisible, or that change the direction of text, and blanks other than U+0020: names with them
 * could look the same as others. */
static int is_invisible(unsigned code)
{
    static const struct {
        unsigned first, last;
    } ranges[] = {
        {0x00, 0x1f},     {0x7f, 0xa0},       {0xad, 0xad},       {0x34f, 0x34f},   {0x61c, 0x61c},   {0x115f, 0x1160},
        {0x1680, 0x1680}, {0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x2000, 0x200f}, {0x2028, 0x202f}, {0x205f, 0x206f},
        {0x2800, 0x2800}, {0x3000, 0x3000},   {0x3164, 0x3164},   {0xfe00, 0xfe0e}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0},
        {0xfff0, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };

    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (code >= ranges[i].first && code <= ranges[i].last) {
            return 1;
        }
    }
    return 0;
}

static const char *wrong_name(const char *name, size_t length)
{
    const unsigned char *at = (const unsigned char *)name;

    if (length == 0 || length > MESSAGES_NAME_MAX) {
        return "takes a name of 1 to " APR_STRINGIFY(MESSAGES_NAME_MAX) " bytes";
    }
    if (strlen(name) != length) {
        return "has a NUL in it";
    }
    if (name[0] == ' ' || name[length - 1] == ' ') {
        return "begins or ends with a blank";
    }
    while (*at != '\0') {
        if (is_invisible(code_point(&at))) {
            return "has an invisible character";
        }
    }
    return NULL;
}

/* Borrowed from the arguments. NULL if it is missing and optional. */
static apr_status_t take_name(messages_call_t *m, const char *argument, int must, const char **name)
{
    const json_t *value = json_object_get(m->sql.args, argument);
    const char *wrong = "takes a name";

    *name = NULL;
    if (value == NULL) {
        return !must
                   ? APR_SUCCESS
                   : sql_fail(&m->sql, APR_EINVAL, "argument \"%s\" is missing: the name of a %s", argument, argument);
    }
    if (json_is_string(value)) {
        *name = json_string_value(value);
        wrong = wrong_name(*name, json_string_length(value));
    }
    return wrong == NULL ? APR_SUCCESS : sql_fail(&m->sql, APR_EINVAL, "argument \"%s\" %s", argument, wrong);
}

static const char *wrong_text(const char *text, size_t length)
{
    if (strlen(text) != length) {
        return "has a NUL in it";
    }
    if (text[strspn(text, " \t\r\n")] == '\0') {
        return "is missing: the text of the message";
    }
    for (; *text != '\0'; text++) {
        if (*text == 0x7f || ((unsigned char)*text < ' ' && strchr("\t\r\n", *text) == NULL)) {
            return "has a control character in it";
        }
    }
    return NULL;
}

static apr_status_t take_text(messages_call_t *m)
{
    const json_t *value = json_object_get(m->sql.args, "text");
    const char *wrong;

    if (value != NULL && !json_is_string(value)) {
        return sql_fail(&m->sql, APR_EINVAL, "argument \"text\" takes a text");
    }
    m->text = value != NULL ? json_string_value(value) : "";
    wrong = wrong_text(m->text, value != NULL ? json_string_length(value) : 0);
    if (wrong != NULL) {
        return sql_fail(&m->sql, APR_EINVAL, "argument \"text\" %s", wrong);
    }
    if (json_string_length(value) > (size_t)m->feed->limits.message_bytes) {
        return sql_fail(&m->sql, APR_EINVAL, "argument \"text\" has %lu bytes; a message has at most %d",
                        (unsigned long)json_string_length(value), m->feed->limits.message_bytes);
    }
    return APR_SUCCESS;
}

/* ------------------------------------------------------------ on whose behalf */

/* httpd accepts any bytes in a name. */
static int is_utf8(const char *name)
{
    json_t *string = json_string(name);

    json_decref(string);
    return string != NULL;
}

const char *messages_name_wrong(const char *name)
{
    return is_utf8(name) ? wrong_name(name, strlen(name)) : "is not UTF-8";
}

static apr_status_t take_user(messages_call_t *m)
{
    const char *authenticated = m->sql.db->host->user(m->sql.call);
    const char *given;
    const char *wrong;
    apr_status_t rv = take_name(m, "user", 0, &given);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    m->user = authenticated != NULL ? authenticated : m->feed->anonymous ? given : NULL;
    /* An anonymous user who takes the administrator's name is not the administrator. */
    m->is_admin = authenticated != NULL && strcmp(authenticated, m->feed->admin) == 0;
    if (m->user == NULL) {
        return sql_fail(&m->sql, APR_EINVAL,
                        m->feed->anonymous ? "argument \"user\" is missing: the name of a user"
                                           : "this is for users who have logged in (parameter anonymous)");
    }
    if (given != NULL && strcmp(given, m->user) != 0) {
        return sql_fail(&m->sql, APR_EINVAL, "argument \"user\" is not the user who has logged in");
    }
    wrong = messages_name_wrong(m->user);
    return wrong == NULL ? APR_SUCCESS
                         : sql_fail(&m->sql, APR_EINVAL, "the name of the user who has logged in %s", wrong);
}

apr_status_t messages_arguments(messages_call_t *m, unsigned takes)
{
    apr_status_t rv = refuse_unknown(m, takes);

    if (rv == APR_SUCCESS) {
        rv = take_user(m);
    }
    if (rv == APR_SUCCESS && (takes & (MESSAGES_CHANNEL | MESSAGES_IN)) != 0) {
        rv = take_name(m, "channel", (takes & MESSAGES_CHANNEL) != 0, &m->channel);
    }
    if (rv == APR_SUCCESS && (takes & MESSAGES_TEXT) != 0) {
        rv = take_text(m);
    }
    if (rv == APR_SUCCESS && (takes & MESSAGES_ONCE) != 0) {
        rv = take_name(m, "once", 0, &m->once);
    }
    if (rv == APR_SUCCESS && (takes & MESSAGES_LIMIT) != 0) {
        rv = sql_argument_number(&m->sql, "limit", 1, m->sql.db->rows, &m->limit);
    }
    if (rv == APR_SUCCESS && (takes & MESSAGES_HISTORY) != 0) {
        rv = sql_argument_number(&m->sql, "history", 1, m->sql.db->rows, &m->limit);
    }
    return rv;
}
