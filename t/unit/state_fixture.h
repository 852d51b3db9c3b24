/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file state_fixture.h
 * States for tests: of every shape, and whether two are the same.
 */
#ifndef VAULT_STATE_FIXTURE_H
#define VAULT_STATE_FIXTURE_H

#include "page/state.h"

/** A kind of state: `make` fills an empty one. */
typedef struct state_shape_t {
    void (*make)(vault_state_t *s);
    const char *why;
} state_shape_t;

#define STATE_SHAPES 11u
extern const state_shape_t state_shapes[STATE_SHAPES];

/** A state with some of everything, and one whose dependencies are many. */
void state_usual(vault_state_t *s);
void state_many_deps(vault_state_t *s);

vault_cursor_t *state_add_cursor(vault_state_t *s, const char *scope, const char *key, const char *value);
/** @param deps  NULL: the method has never run */
vault_method_t *state_add_method(vault_state_t *s, const char *url, apr_array_header_t *deps);

/** A text of `length` times the same byte. */
const char *state_repeat(apr_pool_t *pool, char c, apr_size_t length);

int state_is_same(const vault_state_t *a, const vault_state_t *b);

/** The block of a state, in memory of malloc() that ends where the block ends. */
char *state_encode(const vault_state_t *s, apr_size_t *size);

#endif
