/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mustache.c
 * Compiles Mustache templates into a flat array of operations.
 *
 * One pass over the text. Static text between two tags that do something becomes one span; comments, delimiter changes
 * and standalone lines leave no trace. Spans, names and indentations live in one buffer that can never be
 * longer than the text, because a tag is always longer than its name and the NUL behind it.
 *
 * A partial alone on its line indents every line of the included *template*, not of the data. So a span knows whether a
 * line begins at its first byte and behind its last one; between them every newline begins one.
 */
#include "template/mustache_ops.h"

#include <stdarg.h>
#include <string.h>

#include "apr_strings.h"
#include "apr_tables.h"

/** The longest delimiter in bytes; keeps the search for it linear whatever the template says. */
#define DELIMITER_MAX 16
/** Error messages quote at most so many bytes of a name. */
#define MESSAGE_NAME_MAX 60

typedef vault_mustache_op_t op_t;
typedef vault_mustache_op_kind_t op_kind_t;

typedef struct tag_t {
    char sigil;       /* one of # ^ / > & ! = {, or 0: a plain name */
    const char *name; /* what is inside, trimmed */
    apr_size_t len;   /* of name */
    apr_size_t at;    /* offset of the opening delimiter */
    apr_size_t end;   /* offset behind the closing one */
    apr_size_t line;  /* standalone: offset of the line's first byte */
    int standalone;
} tag_t;

typedef struct compiler_t {
    const char *text;
    apr_size_t len;
    apr_size_t pos; /* everything before it is compiled */
    const char *open, *close;
    apr_size_t open_len, close_len;
    apr_array_header_t *ops;
    char *buffer;       /* len + 1 bytes: spans, names, indentations */
    apr_size_t used;    /* of buffer */
    apr_size_t pending; /* the span that is not an operation yet is [pending, used) */
    unsigned flags;     /* of the pending span */
    struct {
        apr_uint32_t op;
        tag_t tag;
    } sections[VAULT_MUSTACHE_DEPTH_MAX];
    int depth;
    apr_pool_t *pool;
    const char *error;
} compiler_t;

/* @return 0, so that a caller can `return fail(…)` */
static int fail(compiler_t *c, apr_size_t at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int fail(compiler_t *c, apr_size_t at, const char *fmt, ...)
{
    va_list args;
    unsigned long line = 1;
    apr_size_t i;

    for (i = 0; i < at; i++) {
        line += c->text[i] == '\n';
    }
    va_start(args, fmt);
    c->error = apr_psprintf(c->pool, "line %lu: %s", line, apr_pvsprintf(c->pool, fmt, args));
    va_end(args);
    return 0;
}

/* A part of the template for an error message: shortened at a character boundary, without control characters. */
static const char *shown(compiler_t *c, const char *text, apr_size_t len)
{
    char *copy;
    apr_size_t i;

    if (len > MESSAGE_NAME_MAX) {
        for (len = MESSAGE_NAME_MAX; len > MESSAGE_NAME_MAX - 4 && ((unsigned char)text[len] & 0xC0) == 0x80; len--) {
        }
    }
    copy = apr_pstrmemdup(c->pool, text, len);
    for (i = 0; i < len; i++) {
        if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7F) {
            copy[i] = '?';
        }
    }
    return copy;
}

static int is_blank(char ch)
{
    return ch == ' ' || ch == '\t';
}

static int is_space(char ch)
{
    return is_blank(ch) || ch == '\n' || ch == '\r';
}

static int at_line_start(const compiler_t *c, apr_size_t at)
{
    return at == 0 || c->text[at - 1] == '\n';
}

static op_t *emit(compiler_t *c, op_kind_t kind)
{
    op_t *op = apr_array_push(c->ops);

    memset(op, 0, sizeof *op);
    op->kind = kind;
    return op;
}

static void flush_span(compiler_t *c)
{
    op_t *op;

    if (c->used > c->pending || c->flags) {
        op = emit(c, OP_TEXT);
        op->flags = c->flags;
        op->text = c->buffer + c->pending;
        op->len = (apr_uint32_t)(c->used - c->pending);
    }
    c->pending = c->used;
    c->flags = 0;
}

static void add_text(compiler_t *c, apr_size_t from, apr_size_t to)
{
    if (from == to) {
        return;
    }
    if (c->used == c->pending && at_line_start(c, from)) {
        c->flags = INDENT_BEFORE;
    }
    memcpy(c->buffer + c->used, c->text + from, to - from);
    c->used += to - from;
    c->flags &= ~(unsigned)INDENT_BEHIND;
}

/* Copies text into the buffer and appends a NUL. */
static char *keep(compiler_t *c, const char *text, apr_size_t len)
{
    char *copy = c->buffer + c->used;

    memcpy(copy, text, len);
    copy[len] = '\0';
    c->used += len + 1;
    c->pending = c->used;
    return copy;
}

static int check_name(compiler_t *c, const tag_t *tag)
{
    apr_size_t i;

    if (tag->len == 0) {
        return fail(c, tag->at, "a tag without a name");
    }
    for (i = 0; i < tag->len; i++) {
        if (is_space(tag->name[i])) {
            return fail(c, tag->at, "the name \"%s\" contains a space", shown(c, tag->name, tag->len));
        }
        if (tag->sigil != '>' && tag->name[i] == '.' && tag->len > 1 &&
            (i == 0 || i == tag->len - 1 || tag->name[i - 1] == '.')) {
            return fail(c, tag->at, "the dotted name \"%s\" has an empty part", shown(c, tag->name, tag->len));
        }
    }
    return 1;
}

static apr_uint32_t split_name(char *name)
{
    apr_uint32_t parts = 1;

    if (!strcmp(name, ".")) {
        return 0;
    }
    while ((name = strchr(name, '.'))) {
        *name++ = '\0';
        parts++;
    }
    return parts;
}

static op_t *emit_named(compiler_t *c, op_kind_t kind, const tag_t *tag)
{
    op_t *op;
    char *name;

    flush_span(c);
    name = keep(c, tag->name, tag->len);
    op = emit(c, kind);
    op->name = name;
    if (kind != OP_PARTIAL) {
        op->parts = split_name(name);
    }
    return op;
}

static int open_section(compiler_t *c, const tag_t *tag)
{
    if (c->depth == VAULT_MUSTACHE_DEPTH_MAX) {
        return fail(c, tag->at, "sections are nested deeper than %d", VAULT_MUSTACHE_DEPTH_MAX);
    }
    emit_named(c, tag->sigil == '#' ? OP_SECTION : OP_INVERTED, tag);
    c->sections[c->depth].op = (apr_uint32_t)c->ops->nelts - 1;
    c->sections[c->depth].tag = *tag;
    c->depth++;
    return 1;
}

static int close_section(compiler_t *c, const tag_t *tag)
{
    const tag_t *opened;
    apr_uint32_t begin;

    if (c->depth == 0) {
        return fail(c, tag->at, "section \"%s\" is closed but was not opened", shown(c, tag->name, tag->len));
    }
    opened = &c->sections[c->depth - 1].tag;
    begin = c->sections[c->depth - 1].op;
    if (opened->len != tag->len || memcmp(opened->name, tag->name, tag->len) != 0) {
        return fail(c, tag->at, "section \"%s\" is closed where section \"%s\" is open", shown(c, tag->name, tag->len),
                    shown(c, opened->name, opened->len));
    }
    c->depth--;
    flush_span(c);
    if (APR_ARRAY_IDX(c->ops, begin, op_t).kind == OP_SECTION) {
        emit(c, OP_END)->jump = begin + 1;
    }
    APR_ARRAY_IDX(c->ops, begin, op_t).jump = (apr_uint32_t)c->ops->nelts;
    return 1;
}

static int add_partial(compiler_t *c, const tag_t *tag)
{
    op_t *op;

    if (tag->name[0] == '*') {
        return fail(c, tag->at, "\"%s\": the name of a partial cannot come from the data",
                    shown(c, tag->name, tag->len));
    }
    op = emit_named(c, OP_PARTIAL, tag);
    if (tag->standalone) {
        op->flags = STANDALONE;
        op->len = (apr_uint32_t)(tag->at - tag->line);
        op->text = keep(c, c->text + tag->line, op->len);
    }
    return 1;
}

static int set_delimiters(compiler_t *c, const tag_t *tag)
{
    const char *end = tag->name + tag->len, *open_end = tag->name, *close = NULL, *p;

    while (open_end < end && !is_space(*open_end)) {
        open_end++;
    }
    for (close = open_end; close < end && is_space(*close); close++) {
    }
    if (close == end) {
        return fail(c, tag->at, "two delimiters are needed, as in {{=<%% %%>=}}");
    }
    for (p = tag->name; p < end; p++) {
        if (*p == '=' || (p > close && is_space(*p))) {
            return fail(c, tag->at, "a delimiter contains \"=\" or a space");
        }
    }
    if (open_end - tag->name > DELIMITER_MAX || end - close > DELIMITER_MAX) {
        return fail(c, tag->at, "a delimiter is longer than %d bytes", DELIMITER_MAX);
    }
    c->open = tag->name;
    c->open_len = (apr_size_t)(open_end - tag->name);
    c->close = close;
    c->close_len = (apr_size_t)(end - close);
    return 1;
}

static int compile_tag(compiler_t *c, const tag_t *tag)
{
    if (tag->sigil == '!') {
        return 1;
    }
    if (tag->sigil == '=') {
        return set_delimiters(c, tag);
    }
    if (!check_name(c, tag)) {
        return 0;
    }
    switch (tag->sigil) {
    case '#':
    case '^':
        return open_section(c, tag);
    case '/':
        return close_section(c, tag);
    case '>':
        return add_partial(c, tag);
    case '<':
    case '$':
        return fail(c, tag->at, "\"%c%s\": inheritance is not supported", tag->sigil, shown(c, tag->name, tag->len));
    default:
        emit_named(c, tag->sigil ? OP_RAW : OP_ESCAPED, tag);
        return 1;
    }
}

/* memmem() is not available everywhere, and the text searched for is short. */
static const char *find(const compiler_t *c, apr_size_t from, const char *what, apr_size_t len)
{
    const char *p = c->text + from, *end = c->text + c->len;

    while ((apr_size_t)(end - p) >= len && (p = memchr(p, *what, (apr_size_t)(end - p) - len + 1))) {
        if (!memcmp(p, what, len)) {
            return p;
        }
        p++;
    }
    return NULL;
}

/* Finds the end of a tag whose content begins at `from`: the closing delimiter, after `prefix` if there is one. */
static const char *find_close(const compiler_t *c, apr_size_t from, char prefix)
{
    char what[DELIMITER_MAX + 1];

    if (!prefix) {
        return find(c, from, c->close, c->close_len);
    }
    what[0] = prefix;
    memcpy(what + 1, c->close, c->close_len);
    return find(c, from, what, c->close_len + 1);
}

/* Parses the tag that opens at `at`. */
static int read_tag(compiler_t *c, apr_size_t at, tag_t *tag)
{
    apr_size_t from = at + c->open_len;
    const char *end;
    char prefix;

    memset(tag, 0, sizeof *tag);
    tag->at = at;
    while (from < c->len && is_space(c->text[from])) {
        from++;
    }
    if (from < c->len && strchr("#^/>&!={<$", c->text[from]) &&
        (c->len - from < c->close_len || memcmp(c->text + from, c->close, c->close_len) != 0)) {
        tag->sigil = c->text[from++];
    }
    prefix = tag->sigil == '=' ? '=' : tag->sigil == '{' ? '}' : 0;
    end = find_close(c, from, prefix);
    if (!end) {
        return fail(c, at, "a tag is not closed");
    }
    tag->end = (apr_size_t)(end - c->text) + c->close_len + (prefix != 0);
    tag->name = c->text + from;
    while (tag->name < end && is_space(*tag->name)) {
        tag->name++;
    }
    while (end > tag->name && is_space(end[-1])) {
        end--;
    }
    tag->len = (apr_size_t)(end - tag->name);
    return 1;
}

/* Is the tag alone on its line or lines? Then `*next` is the offset of the following line. */
static int is_standalone(const compiler_t *c, tag_t *tag, apr_size_t *next)
{
    apr_size_t begin = tag->at, end = tag->end;

    if (!tag->sigil || !strchr("#^/>!=", tag->sigil)) {
        return 0;
    }
    while (begin > 0 && is_blank(c->text[begin - 1])) {
        begin--;
    }
    while (end < c->len && is_blank(c->text[end])) {
        end++;
    }
    if (end + 1 < c->len && c->text[end] == '\r' && c->text[end + 1] == '\n') {
        end++;
    }
    if (!at_line_start(c, begin) || (end < c->len && c->text[end] != '\n')) {
        return 0;
    }
    tag->line = begin;
    *next = end < c->len ? end + 1 : end;
    return 1;
}

/* Adds the text before the tag, without the white space that belongs to a standalone line. */
static void add_text_before(compiler_t *c, tag_t *tag)
{
    apr_size_t next = tag->end;

    tag->standalone = is_standalone(c, tag, &next);
    add_text(c, c->pos, tag->standalone ? tag->line : tag->at);
    if (!tag->standalone && at_line_start(c, tag->at)) {
        c->flags |= c->used == c->pending ? INDENT_BEFORE : INDENT_BEHIND;
    }
    c->pos = next;
}

static int compile_text(compiler_t *c)
{
    const char *open;
    tag_t tag;

    while ((open = find(c, c->pos, c->open, c->open_len))) {
        if (!read_tag(c, (apr_size_t)(open - c->text), &tag)) {
            return 0;
        }
        add_text_before(c, &tag);
        if (!compile_tag(c, &tag)) {
            return 0;
        }
    }
    add_text(c, c->pos, c->len);
    flush_span(c);
    if (c->depth) {
        const tag_t *opened = &c->sections[c->depth - 1].tag;

        return fail(c, opened->at, "section \"%s\" is not closed", shown(c, opened->name, opened->len));
    }
    return 1;
}

static int compile_checked(compiler_t *c)
{
    const char *nul;

    if (c->len > APR_UINT32_MAX / 2) {
        return fail(c, 0, "a template of %" APR_SIZE_T_FMT " bytes is too long", c->len);
    }
    nul = memchr(c->text, '\0', c->len);
    if (nul) {
        return fail(c, (apr_size_t)(nul - c->text), "a NUL byte");
    }
    c->buffer = apr_palloc(c->pool, c->len + 1);
    return compile_text(c);
}

apr_status_t vault_mustache_compile(vault_mustache_t **template, const char *text, apr_size_t len, const char **error,
                                    apr_pool_t *pool)
{
    compiler_t c = {.text = text, .len = len, .open = "{{", .close = "}}", .open_len = 2, .close_len = 2, .pool = pool};
    apr_pool_t *temporary;
    apr_status_t status = apr_pool_create(&temporary, pool);

    *template = NULL;
    *error = NULL;
    if (status != APR_SUCCESS) {
        *error = "line 1: no memory";
        return status;
    }
    c.ops = apr_array_make(temporary, 32, sizeof(op_t));
    if (compile_checked(&c)) {
        *template = apr_palloc(pool, sizeof **template);
        (*template)->count = (apr_uint32_t)c.ops->nelts;
        (*template)->ops = apr_pmemdup(pool, c.ops->elts, (apr_size_t)c.ops->nelts * sizeof(op_t));
    }
    *error = c.error;
    apr_pool_destroy(temporary);
    return c.error ? APR_EINVAL : APR_SUCCESS;
}
