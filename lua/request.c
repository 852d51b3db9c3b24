/* SPDX-License-Identifier: Apache-2.0 */
/* Ties a userdata to the lifetime of the request that it points to. */
#include "request.h"

#include <lauxlib.h>
#include <stdlib.h>

#define LIFE "vault.life"

/* Held by Lua's userdata and by the request's pool; the last holder frees it. */
typedef struct life_t {
    request_rec *r; /* atomic; NULL: the request has ended */
    int holders;    /* atomic */
} life_t;

static void let_go(life_t *life)
{
    if (__atomic_sub_fetch(&life->holders, 1, __ATOMIC_ACQ_REL) == 0) {
        free(life);
    }
}

static apr_status_t end_life(void *data)
{
    life_t *life = data;

    __atomic_store_n(&life->r, NULL, __ATOMIC_RELEASE);
    let_go(life);
    return APR_SUCCESS;
}

static int forget_life(lua_State *L)
{
    life_t **box = luaL_checkudata(L, 1, LIFE);

    if (*box) {
        let_go(*box);
        *box = NULL;
    }
    return 0;
}

void vault_lua_request_open(lua_State *L)
{
    luaL_newmetatable(L, LIFE);
    lua_pushcfunction(L, forget_life);
    lua_setfield(L, -2, "__gc");
    lua_pop(L, 1);
}

static life_t *begin_life(lua_State *L, int arg, request_rec *r)
{
    life_t **box = lua_newuserdata(L, sizeof(*box)), *life;

    *box = NULL;
    luaL_setmetatable(L, LIFE);
    if (!(life = malloc(sizeof(*life)))) {
        luaL_error(L, "memory is short");
        return NULL;
    }
    life->r = r;
    life->holders = 2;
    *box = life;
    apr_pool_cleanup_register(r->pool, life, end_life, apr_pool_cleanup_null);
    lua_setuservalue(L, arg);
    return life;
}

static life_t *find_life(lua_State *L, int arg)
{
    life_t **box;

    lua_getuservalue(L, arg);
    box = luaL_testudata(L, -1, LIFE);
    lua_pop(L, 1);
    return box ? *box : NULL;
}

request_rec *vault_lua_request(lua_State *L, int arg)
{
    request_rec **box = luaL_testudata(L, arg, "Apache2.Request"), *r;
    life_t *life;

    if (!box || lua_rawlen(L, arg) != sizeof(*box) || !*box) {
        luaL_argerror(L, arg,
                      lua_pushfstring(L, "the request is needed, the r of handle(r), not a %s", luaL_typename(L, arg)));
        return NULL;
    }
    life = find_life(L, arg);
    if (!life) {
        life = begin_life(L, arg, *box);
    }
    if (!(r = __atomic_load_n(&life->r, __ATOMIC_ACQUIRE))) {
        luaL_argerror(L, arg, "this request is over; use the r that handle(r) was given now");
    }
    return r;
}
