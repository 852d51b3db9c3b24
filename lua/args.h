/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file args.h
 * Arguments and results of the functions for Lua, and how they find those of vault.h.
 */
#ifndef VAULT_LUA_ARGS_H
#define VAULT_LUA_ARGS_H

#include "httpd.h"

#include <lauxlib.h>

#include "apr_optional.h"

/** An optional function of vault.h, by its name. Looked up at each call, since httpd may have been restarted without
 * mod_vault. Raises a Lua error if it is not there. */
#define VAULT_LUA_CALL(L, name) ((APR_OPTIONAL_FN_TYPE(name) *)vault_lua_retrieve(L, #name))
apr_opt_fn_t *vault_lua_retrieve(lua_State *L, const char *name);

/** Is the string at `index` valid for C and for mod_vault? @return NULL, or what is wrong */
const char *vault_lua_wrong_text(lua_State *L, int index);

/** Push nil, a sentence, and an HTTP status for the handler to return.
 * @return how many values that are */
#define VAULT_LUA_FAILED 3
int vault_lua_failure(lua_State *L, int status, const char *why);

/** Push true. @return 1 */
int vault_lua_done(lua_State *L);

/** The string at `arg`, which may be a number.
 * @return NULL: not valid, vault_lua_failure() was called; the caller returns VAULT_LUA_FAILED */
const char *vault_lua_text(lua_State *L, int arg);

/** A name that is part of the script, not of a visitor's data. Raises a Lua error if it is not valid. */
const char *vault_lua_name(lua_State *L, int arg);

#endif
