/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mustache_ops.h
 * The operations that mustache.c compiles a template into and mustache_render.c runs. For these two only.
 */
#ifndef VAULT_MUSTACHE_OPS_H
#define VAULT_MUSTACHE_OPS_H

#include "template/mustache.h"

typedef enum { OP_TEXT, OP_ESCAPED, OP_RAW, OP_SECTION, OP_INVERTED, OP_END, OP_PARTIAL } vault_mustache_op_kind_t;

#define INDENT_BEFORE 0x1 /* a line begins at the first byte of the span */
#define INDENT_BEHIND 0x2 /* a line begins behind its last byte */
#define STANDALONE 0x4    /* a partial alone on its line, which indents what it includes */

typedef struct vault_mustache_op_t {
    vault_mustache_op_kind_t kind;
    unsigned flags;
    apr_uint32_t jump;  /* SECTION, INVERTED: where to continue if it is skipped; END: the first operation inside */
    apr_uint32_t parts; /* of a dotted name; 0: the implicit iterator */
    apr_uint32_t len;   /* of text */
    const char *text;   /* TEXT: the span; PARTIAL: its indentation */
    const char *name;   /* the parts in sequence, each with a NUL; PARTIAL: its name */
} vault_mustache_op_t;

struct vault_mustache_t {
    const vault_mustache_op_t *ops;
    apr_uint32_t count;
};

#endif
