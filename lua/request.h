/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file request.h
 * The request behind mod_lua's `r`.
 *
 * `r` is a userdata with mod_lua's metatable, and contains a bare pointer. A script with a long-lived scope
 * (conn, thread, server) that keeps an `r` in a variable still has that pointer when the request has ended. The
 * first use of an `r` here ties it to the pool of its request, so that later uses detect that. The pool may be
 * destroyed in another thread than the one that runs the script.
 */
#ifndef VAULT_LUA_REQUEST_H
#define VAULT_LUA_REQUEST_H

#include "httpd.h"

#include <lua.h>

/** Create the metatables of this file in a Lua state. */
void vault_lua_request_open(lua_State *L);

/** The request at argument `arg`. Raises a Lua error if that is not an `r`, or its request has ended. */
request_rec *vault_lua_request(lua_State *L, int arg);

#endif
