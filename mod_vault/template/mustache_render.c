/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mustache_render.c
 * Runs compiled Mustache templates over JSON values.
 *
 * Rendering allocates nothing: sections loop on an array of frames, only partials recurse, and indentations
 * form a list on the stack. Outside of an indented partial, each span is written in one piece.
 */
#include "template/mustache_ops.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef vault_mustache_op_t op_t;

typedef struct frame_t {
    const json_t *value;
    const struct frame_t *up;
    const json_t *list; /* the list that the section iterates over; NULL: it is not a list */
    apr_size_t next;    /* index in list */
} frame_t;

typedef struct indent_t {
    const struct indent_t *outer;
    const char *text;
    apr_size_t len;
} indent_t;

typedef struct render_t {
    vault_mustache_partial_fn partial;
    void *partial_baton;
    vault_mustache_write_fn write;
    void *write_baton;
    int depth;          /* partials */
    apr_uint64_t steps; /* still allowed */
} render_t;

static apr_status_t put(const render_t *r, const char *text, apr_size_t len)
{
    return len ? r->write(r->write_baton, text, len) : APR_SUCCESS;
}

static const char *entity_of(char ch)
{
    switch (ch) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

static apr_status_t put_escaped(const render_t *r, const char *text, apr_size_t len)
{
    const char *end = text + len, *p, *entity;
    apr_status_t status = APR_SUCCESS;

    for (p = text; p < end && status == APR_SUCCESS; p++) {
        entity = entity_of(*p);
        if (entity) {
            status = put(r, text, (apr_size_t)(p - text));
            text = p + 1;
            if (status == APR_SUCCESS) {
                status = put(r, entity, strlen(entity));
            }
        }
    }
    return status == APR_SUCCESS ? put(r, text, (apr_size_t)(end - text)) : status;
}

/* Writes the shortest decimal form that reads back as the same number, with a dot in every locale. */
static int format_real(char *buffer, apr_size_t size, double value)
{
    int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; /* up to DBL_DIG digits, %g omits those that are not needed */
    char *from, *to;

    if (fabs(value) <= 9007199254740992.0 && value == (double)(apr_int64_t)value) {
        return snprintf(buffer, size, "%.0f", value);
    }
    do {
        snprintf(buffer, size, "%.*g", digits, value);
    } while (digits++ < DBL_DECIMAL_DIG && strtod(buffer, NULL) != value);
    for (from = to = buffer; *from; from++) {
        if (strchr("0123456789+-e", *from)) {
            *to++ = *from;
        }
        else if (to == buffer || to[-1] != '.') {
            *to++ = '.';
        }
    }
    *to = '\0';
    return (int)(to - buffer);
}

typedef struct dump_t {
    const render_t *render;
    apr_status_t (*put)(const render_t *r, const char *text, apr_size_t len);
    apr_status_t status;
} dump_t;

static int dump_cb(const char *text, size_t len, void *baton)
{
    dump_t *dump = baton;

    if (dump->status == APR_SUCCESS) { /* jansson may continue after a failure */
        dump->status = dump->put(dump->render, text, len);
    }
    return dump->status == APR_SUCCESS ? 0 : -1;
}

static apr_status_t put_value(const render_t *r, const json_t *value, int escape)
{
    dump_t dump = {r, escape ? put_escaped : put, APR_SUCCESS};
    char number[64];
    int len;

    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_STRING:
        return dump.put(r, json_string_value(value), json_string_length(value));
    case JSON_INTEGER:
        len = snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return put(r, number, (apr_size_t)len);
    case JSON_REAL:
        len = format_real(number, sizeof number, json_real_value(value));
        return put(r, number, (apr_size_t)len);
    case JSON_TRUE:
        return put(r, "true", 4);
    case JSON_FALSE:
        return put(r, "false", 5);
    case JSON_NULL:
        return APR_SUCCESS;
    default:
        if (json_dump_callback(value, dump_cb, &dump, JSON_COMPACT) != 0 && dump.status == APR_SUCCESS) {
            dump.status = APR_ENOMEM;
        }
        return dump.status;
    }
}

static apr_status_t put_indent(const render_t *r, const indent_t *indent)
{
    apr_status_t status = indent->outer ? put_indent(r, indent->outer) : APR_SUCCESS;

    return status == APR_SUCCESS ? put(r, indent->text, indent->len) : status;
}

static apr_status_t put_span(const render_t *r, const op_t *op, const indent_t *indent)
{
    const char *p = op->text, *end = op->text + op->len, *newline, *stop;
    apr_status_t status = APR_SUCCESS;

    if (!indent) {
        return put(r, op->text, op->len);
    }
    if (op->flags & INDENT_BEFORE) {
        status = put_indent(r, indent);
    }
    while (p < end && status == APR_SUCCESS) {
        newline = memchr(p, '\n', (apr_size_t)(end - p));
        stop = newline ? newline + 1 : end;
        status = put(r, p, (apr_size_t)(stop - p));
        if (status == APR_SUCCESS && newline && (stop < end || (op->flags & INDENT_BEHIND))) {
            status = put_indent(r, indent);
        }
        p = stop;
    }
    return status;
}

/* Searches the first part of a dotted name from the innermost context outwards, and the other parts only inside
 * of what was found. */
static const json_t *lookup(const frame_t *top, const op_t *op)
{
    const char *name = op->name;
    const json_t *value = NULL;
    apr_uint32_t part;

    if (op->parts == 0) {
        return top->value;
    }
    for (; top && !value; top = top->up) {
        value = json_object_get(top->value, name);
    }
    for (part = 1; value && part < op->parts; part++) {
        name += strlen(name) + 1;
        value = json_object_get(value, name);
    }
    return value;
}

static int is_true(const json_t *value)
{
    switch (value ? json_typeof(value) : JSON_NULL) {
    case JSON_NULL:
    case JSON_FALSE:
        return 0;
    case JSON_ARRAY:
        return json_array_size(value) > 0;
    case JSON_STRING:
        return json_string_length(value) > 0;
    case JSON_INTEGER:
        return json_integer_value(value) != 0;
    case JSON_REAL:
        return json_real_value(value) != 0.0;
    default:
        return 1;
    }
}

static void enter_section(frame_t *frame, const frame_t *up, const json_t *value)
{
    frame->up = up;
    frame->list = json_is_array(value) ? value : NULL;
    frame->value = frame->list ? json_array_get(value, 0) : value;
    frame->next = 1;
}

static int next_round(frame_t *frame)
{
    if (!frame->list || frame->next >= json_array_size(frame->list)) {
        return 0;
    }
    frame->value = json_array_get(frame->list, frame->next++);
    return 1;
}

static apr_status_t render(render_t *r, const vault_mustache_t *template, const frame_t *context,
                           const indent_t *indent);

static apr_status_t render_partial(render_t *r, const op_t *op, const frame_t *context, const indent_t *outer)
{
    indent_t indent = {outer, op->text, op->len};
    const vault_mustache_t *template = r->partial ? r->partial(r->partial_baton, op->name) : NULL;
    apr_status_t status;

    if (!template) {
        return APR_SUCCESS;
    }
    if (r->depth == VAULT_MUSTACHE_DEPTH_MAX) {
        return APR_EGENERAL;
    }
    r->depth++;
    if (!(op->flags & STANDALONE)) {
        status = render(r, template, context, NULL);
    }
    else {
        status = render(r, template, context, op->len ? &indent : outer);
    }
    r->depth--;
    return status;
}

/* Runs the operations of one template. The compiler has checked that its sections fit into the array of frames. */
static apr_status_t render(render_t *r, const vault_mustache_t *template, const frame_t *context,
                           const indent_t *indent)
{
    frame_t frames[VAULT_MUSTACHE_DEPTH_MAX];
    const frame_t *top = context;
    apr_status_t status = APR_SUCCESS;
    const json_t *value;
    apr_uint32_t i = 0;
    int depth = 0;

    while (i < template->count && status == APR_SUCCESS) {
        const op_t *op = &template->ops[i++];

        if (r->steps-- == 0) {
            return APR_TIMEUP;
        }
        switch (op->kind) {
        case OP_TEXT:
            status = put_span(r, op, indent);
            break;
        case OP_ESCAPED:
        case OP_RAW:
            status = put_value(r, lookup(top, op), op->kind == OP_ESCAPED);
            break;
        case OP_SECTION:
            value = lookup(top, op);
            if (is_true(value)) {
                enter_section(&frames[depth], top, value);
                top = &frames[depth++];
            }
            else {
                i = op->jump;
            }
            break;
        case OP_INVERTED:
            i = is_true(lookup(top, op)) ? op->jump : i;
            break;
        case OP_END:
            if (next_round(&frames[depth - 1])) {
                i = op->jump;
            }
            else {
                top = frames[--depth].up;
            }
            break;
        case OP_PARTIAL:
            status = render_partial(r, op, top, indent);
            break;
        }
    }
    return status;
}

apr_status_t vault_mustache_render(const vault_mustache_t *template, const json_t *context,
                                   vault_mustache_partial_fn partial, void *partial_baton,
                                   vault_mustache_write_fn write, void *write_baton, apr_pool_t *scratch)
{
    render_t r = {partial, partial_baton, write, write_baton, 0, VAULT_MUSTACHE_STEPS_MAX};
    frame_t root = {.value = context};

    return render(&r, template, &root, NULL);
}
