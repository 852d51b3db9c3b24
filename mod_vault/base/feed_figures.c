/* SPDX-License-Identifier: Apache-2.0 */
/* Checks the figures that a feed declares and the values that it reports. */
#include "base/feed_figures.h"

#include <stddef.h>
#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "base/utf8.h"

/* ------------------------------------------------------------------ the rules */

static const vault_feed_figure_t no_figures[] = {{NULL, NULL, 0}};

const vault_feed_figure_t *vault_feed_figures_of(const vault_feed_t *vtable)
{
    return vtable->size >= offsetof(vault_feed_t, report) + sizeof(vtable->report) && vtable->figures && vtable->report
               ? vtable->figures
               : no_figures;
}

/* OpenMetrics appends _total to the name of a counter, so that "ReadsTotal" and the counter "Reads" would
 * collide. */
static int is_reserved(const char *name, apr_size_t length)
{
    return !strcmp(name, "Name") || !strcmp(name, "Kind") || !strcmp(name, "Error") ||
           (length >= strlen("Total") && !strcmp(name + length - strlen("Total"), "Total"));
}

static int is_name(const char *name)
{
    apr_size_t length = strlen(name), i;

    for (i = 0; i < length; i++) {
        if (!(i ? apr_isalnum(name[i]) : apr_isupper(name[i]))) {
            return 0;
        }
    }
    return length > 0 && length <= VAULT_FIGURE_NAME_MAX && !is_reserved(name, length);
}

static int is_ascii(const char *text)
{
    for (; *text; text++) {
        if (!apr_isprint(*text) || (*text & 0x80)) {
            return 0;
        }
    }
    return 1;
}

const char *vault_feed_figures_check(const vault_feed_t *vtable, apr_pool_t *pool)
{
    const vault_feed_figure_t *all = vault_feed_figures_of(vtable), *f, *before;

    for (f = all; f->name; f++) {
        if (!is_name(f->name)) {
            return apr_psprintf(
                pool,
                "its figure \"%s\" is not named as a figure may be: an upper-case letter, then up to %d "
                "letters and digits; not Name, Kind, Error, and not with Total at the end",
                f->name, VAULT_FIGURE_NAME_MAX - 1);
        }
        if (!f->meaning || !is_ascii(f->meaning)) {
            return apr_psprintf(pool, "its figure \"%s\" has no meaning in ASCII", f->name);
        }
        if (f->kind > VAULT_FIGURE_COUNTER) {
            return apr_psprintf(pool, "its figure \"%s\" is of the kind %u, which this server does not know", f->name,
                                f->kind);
        }
        for (before = all; before < f; before++) {
            if (!strcmp(before->name, f->name)) {
                return apr_psprintf(pool, "it has two figures \"%s\"", f->name);
            }
        }
    }
    return NULL;
}

/* ------------------------------------------------------------------ values */

static const char *clean_bytes(const char *text, apr_size_t length, apr_pool_t *pool)
{
    apr_size_t used, i;
    char *copy;

    text = vault_utf8_clean(text, length, &used, pool);
    copy = apr_pstrmemdup(pool, text, used);
    for (i = 0; i < used; i++) {
        if (apr_iscntrl(copy[i]) && !(copy[i] & 0x80)) {
            copy[i] = '?';
        }
    }
    return copy;
}

const char *vault_feed_text(const char *text, apr_pool_t *pool)
{
    return clean_bytes(text, strlen(text), pool);
}

/* @return 0: the reported value does not have the type of the figure */
static int take_value(vault_feed_value_t *value, const vault_feed_figure_t *figure, const json_t *said,
                      apr_pool_t *pool)
{
    if (!said || json_is_null(said)) {
        return 1;
    }
    if (json_is_integer(said) && (figure->kind != VAULT_FIGURE_COUNTER || json_integer_value(said) >= 0)) {
        value->type = VAULT_FEED_VALUE_NUMBER;
        value->number = (apr_int64_t)json_integer_value(said);
        return 1;
    }
    if (json_is_string(said) && figure->kind == VAULT_FIGURE_FACT) {
        apr_size_t length = json_string_length(said);

        value->type = VAULT_FEED_VALUE_TEXT;
        value->text = clean_bytes(json_string_value(said),
                                  length < VAULT_PROPERTY_VALUE_MAX ? length : VAULT_PROPERTY_VALUE_MAX, pool);
        return 1;
    }
    return 0;
}

const vault_feed_value_t *vault_feed_values(const char **error, const vault_feed_figure_t *figures, const json_t *said,
                                            apr_pool_t *pool)
{
    vault_feed_value_t *values;
    int count = 0, i;

    while (figures[count].name) {
        count++;
    }
    values = apr_pcalloc(pool, (apr_size_t)(count + 1) * sizeof(*values));
    if (*error || !count) {
        return values;
    }
    if (!json_is_object(said)) {
        *error = "it has no figures now";
    }
    for (i = 0; i < count; i++) {
        if (!take_value(&values[i], &figures[i], json_object_get(said, figures[i].name), pool)) {
            *error = apr_psprintf(pool, "its value of %s is not valid for this figure", figures[i].name);
        }
    }
    return values;
}
