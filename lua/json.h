/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file json.h
 * Lua's values as JSON and back.
 *
 *   Lua                                  JSON
 *   table with the keys 1..n             list
 *   table whose keys are all names       object
 *   table without keys                   as vault.array() or vault.object() marked it, else as the caller says
 *   integer (64 bits), other number      the same; NaN and infinite ones are refused
 *   text: UTF-8, NULs included           string; names may have no NUL
 *   true, false; vault.null              true, false; null
 *   anything else                        refused, as are tables with holes, in themselves, or too deep
 *
 * Lua raises errors by longjmp, also when memory runs out, so what is not yet Lua's own must be in a box: Lua frees that.
 */
#ifndef VAULT_LUA_JSON_H
#define VAULT_LUA_JSON_H

#include <jansson.h>

#include <lua.h>

/** Tables in tables: so deep and no deeper, in both directions. */
#define VAULT_LUA_DEPTH_MAX 100

/** Make what this file keeps in a Lua state: the metatables and vault.null. */
void vault_lua_json_open(lua_State *L);

/** Push an empty box: a place for one reference to JSON, which Lua drops with the box. */
json_t **vault_lua_json_box(lua_State *L);
/** Drop what is in the box now, since Lua may take its time; the box may be filled again. */
void vault_lua_json_drop(json_t **box);

/** Convert the value at `index` into the box.
 * @param empty_list  what a table without keys and without a mark is: 1 a list, 0 an object
 * @param by_value    set on a refusal: 1, a visitor's data may be the cause (text or a name that is not UTF-8, a name with a NUL, an infinite
 *                    number); 0, the script is
 * @return NULL; or why not, the place first: "rows[2].time: a function is no JSON". It is then on the top of the stack, above what
 *         else was left there, and the box is empty */
const char *vault_lua_json_get(lua_State *L, int index, json_t **box, int empty_list, int *by_value);

/** Push `value` as a Lua value; lists and objects without anything in them are marked.
 * @return 1; 0: it is too deep, nothing was pushed that matters */
int vault_lua_json_push(lua_State *L, const json_t *value);

/** Push vault.null. */
void vault_lua_json_push_null(lua_State *L);

/** Mark the table at `index`: it is a list (or an object) when it has no keys.
 * @return 0 it has a metatable already: nothing was done */
int vault_lua_json_mark(lua_State *L, int index, int list);

#endif
