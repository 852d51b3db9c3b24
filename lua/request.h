/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file request.h
 * The request behind mod_lua's `r`.
 *
 * `r` is a userdata with mod_lua's metatable and a bare pointer in it. A script of a long-lived scope (conn, thread, server) that keeps
 * an `r` in a variable still has that pointer when the request is over. The first use of an `r` here ties it to its request's pool,
 * so that later ones find out; the pool may end in another thread than the one that runs the script by then.
 */
#ifndef VAULT_LUA_REQUEST_H
#define VAULT_LUA_REQUEST_H

#include "httpd.h"

#include <lua.h>

/** Make what this file keeps in a Lua state. */
void vault_lua_request_open(lua_State *L);

/** The request at argument `arg`; a Lua error with a sentence when that is no `r`, or one whose request is over. */
request_rec *vault_lua_request(lua_State *L, int arg);

#endif
