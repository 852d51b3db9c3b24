/* SPDX-License-Identifier: Apache-2.0 */
/* The functions for Lua on the session of a request. */
#include "session.h"

#include "args.h"
#include "mod_vault/vault.h"
#include "request.h"

static int session_get(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);
    const char *key = vault_lua_text(L, 2);

    if (!key) {
        return VAULT_LUA_FAILED;
    }
    lua_pushstring(L, VAULT_LUA_CALL(L, vault_session_get)(r, key)); /* NULL becomes nil */
    return 1;
}

/* Pushes the result of a change. */
static int changed(lua_State *L, apr_status_t rv)
{
    switch (rv) {
    case APR_SUCCESS:
        return vault_lua_done(L);
    case APR_EINVAL:
        lua_pushfstring(L, "a session property has a key of 1 to %d bytes and a value of at most %d",
                        VAULT_PROPERTY_KEY_MAX, VAULT_PROPERTY_VALUE_MAX);
        return vault_lua_failure(L, HTTP_BAD_REQUEST, lua_tostring(L, -1));
    case APR_EACCES:
        return vault_lua_failure(L, HTTP_FORBIDDEN, "VaultSession is off here");
    case APR_EINIT:
        return vault_lua_failure(L, HTTP_INTERNAL_SERVER_ERROR, "the header is on its way: change the session first");
    case APR_NOTFOUND:
        return vault_lua_failure(L, HTTP_INTERNAL_SERVER_ERROR,
                                 "a method of a poll can read the session, but not change it");
    default:
        return vault_lua_failure(L, HTTP_SERVICE_UNAVAILABLE, "there is no room for the session");
    }
}

static int session_set(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);
    const char *key = vault_lua_text(L, 2), *value = NULL;

    if (!key || (!lua_isnoneornil(L, 3) && !(value = vault_lua_text(L, 3)))) {
        return VAULT_LUA_FAILED;
    }
    return changed(L, VAULT_LUA_CALL(L, vault_session_set)(r, key, value));
}

static int session_remove(lua_State *L)
{
    lua_settop(L, 2);
    return session_set(L);
}

static int session_renew(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);

    return changed(L, VAULT_LUA_CALL(L, vault_session_renew)(r));
}

void vault_lua_session_add(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"session_get", session_get},
        {"session_remove", session_remove},
        {"session_renew", session_renew},
        {"session_set", session_set},
        {NULL, NULL},
    };

    luaL_setfuncs(L, functions, 0);
}
