/* SPDX-License-Identifier: Apache-2.0 */
/* Checks arguments, and pushes results. */
#include "args.h"

#include <jansson.h>
#include <string.h>

apr_opt_fn_t *vault_lua_retrieve(lua_State *L, const char *name)
{
    apr_opt_fn_t *function = apr_dynamic_fn_retrieve(name);

    if (!function) {
        luaL_error(L, "mod_vault is not loaded, or has no %s: the LoadModule of vault_module is needed", name);
    }
    return function;
}

const char *vault_lua_wrong_text(lua_State *L, int index)
{
    size_t length;
    const char *s = lua_tolstring(L, index, &length);
    json_t *good = json_stringn(s, length);

    json_decref(good);
    return !good ? "text that is not UTF-8" : strlen(s) != length ? "text with a NUL in it" : NULL;
}

int vault_lua_failure(lua_State *L, int status, const char *why)
{
    lua_pushnil(L);
    lua_pushstring(L, why);
    lua_pushinteger(L, status);
    return VAULT_LUA_FAILED;
}

int vault_lua_done(lua_State *L)
{
    lua_pushboolean(L, 1);
    return 1;
}

const char *vault_lua_text(lua_State *L, int arg)
{
    const char *s = luaL_checkstring(L, arg), *wrong = vault_lua_wrong_text(L, arg);

    if (wrong) {
        vault_lua_failure(L, HTTP_BAD_REQUEST, lua_pushfstring(L, "argument %d: %s", arg, wrong));
        return NULL;
    }
    return s;
}

const char *vault_lua_name(lua_State *L, int arg)
{
    const char *s = luaL_checkstring(L, arg), *wrong = vault_lua_wrong_text(L, arg);

    return wrong ? (luaL_argerror(L, arg, wrong), NULL) : s;
}
