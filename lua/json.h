/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file json.h
 * Converts Lua values to JSON and back.
 *
 *    Lua                                  JSON
 *    table with the keys 1..n             list
 *    table whose keys are all strings     object
 *    table without keys                   by the mark of vault.array() or vault.object(), otherwise chosen by the caller
 *    integer (64 bits), other number      the same; NaN and infinity are refused
 *    string: UTF-8, NULs included         string; names must not contain NULs
 *    true, false; vault.null              true, false; null
 *    any other value                      refused, as are tables with holes, in themselves, or nested too deep
 *
 * Lua raises errors by longjmp, also when it is out of memory. So a reference that Lua does not own yet must be
 * in a box, which Lua frees.
 */
#ifndef VAULT_LUA_JSON_H
#define VAULT_LUA_JSON_H

#include <jansson.h>

#include <lua.h>

/** The deepest nesting of tables, in both directions. */
#define VAULT_LUA_DEPTH_MAX 100

/** Create the metatables and vault.null in a Lua state. */
void vault_lua_json_open(lua_State *L);

/** Push an empty box: it holds one reference to JSON, and releases it when Lua collects it. */
json_t **vault_lua_json_box(lua_State *L);
/** Release the content of the box now, without waiting for the garbage collector. The box can be filled again. */
void vault_lua_json_drop(json_t **box);

/** Convert the value at `index` into the box.
 * @param empty_list  for a table without keys and without a mark: 1 a list, 0 an object
 * @param by_value    set if the value is refused. 1: a visitor's data may be the cause (a string or a name that
 *                    is not UTF-8, a name with a NUL, an infinite number); 0: the script is
 * @return NULL; or the reason, with the position first: "rows[2].time: a function is no JSON". It is on top of
 *         the stack then, above other values left there, and the box is empty */
const char *vault_lua_json_get(lua_State *L, int index, json_t **box, int empty_list, int *by_value);

/** Push `value` as a Lua value. Empty lists and objects are marked.
 * @return 1; 0: it is nested too deep, and what was pushed is not usable */
int vault_lua_json_push(lua_State *L, const json_t *value);

/** Push vault.null. */
void vault_lua_json_push_null(lua_State *L);

/** Mark the table at `index` as a list or an object, for when it has no keys.
 * @return 0: it has a metatable already, and was not changed */
int vault_lua_json_mark(lua_State *L, int index, int list);

#endif
