/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session.h
 * The functions for Lua on the session of a request.
 */
#ifndef VAULT_LUA_SESSION_H
#define VAULT_LUA_SESSION_H

#include <lua.h>

/** Add them to the table on top of the stack. */
void vault_lua_session_add(lua_State *L);

#endif
