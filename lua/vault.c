/* SPDX-License-Identifier: Apache-2.0 */
/* `require "vault"` for scripts of mod_lua: the optional functions of vault.h as Lua functions.
 *
 * Arguments of the wrong type are Lua errors, which mod_lua shows to the visitor with the path of the script.
 * Errors that a correct handler can meet, such as text of a visitor that is not UTF-8, are returned: nil, a
 * sentence and a suitable HTTP status.
 * This file has no writable static data: each Lua state, and so each thread, has its own.
 */
#include "httpd.h"

#include <jansson.h>
#include <lauxlib.h>
#include <string.h>

#include "args.h"
#include "json.h"
#include "mod_vault/vault.h"
#include "request.h"
#include "session.h"

#define FEED "vault.feed"
#define ANEW "vault.anew" /* weak table of the rows that are a first view again */

int luaopen_vault(lua_State *L);

/* The table at `arg` as JSON. Raises a Lua error if the script is wrong. @return 0: a value is wrong; the
 * caller returns VAULT_LUA_FAILED */
static int take_json(lua_State *L, int arg, json_t **box, int empty_list)
{
    int by_value;
    const char *wrong = vault_lua_json_get(L, arg, box, empty_list, &by_value);

    if (wrong && !by_value) {
        luaL_argerror(L, arg, wrong);
    }
    if (wrong) {
        vault_lua_failure(L, HTTP_BAD_REQUEST, wrong);
    }
    return !wrong;
}

/* ------------------------------------------------------------------- the page */

static int add_long_poll(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);
    const char *url = vault_lua_text(L, 2);

    if (!url) {
        return VAULT_LUA_FAILED;
    }
    switch (VAULT_LUA_CALL(L, vault_add_long_poll)(r, url)) {
    case APR_SUCCESS:
        return vault_lua_done(L);
    case APR_EINVAL:
        return vault_lua_failure(L, HTTP_BAD_REQUEST, "a long poll needs a path of this server, percent-encoded");
    case APR_EACCES:
        return vault_lua_failure(L, HTTP_FORBIDDEN, "VaultLongPoll is off here");
    case APR_EINIT:
        return vault_lua_failure(L, HTTP_INTERNAL_SERVER_ERROR,
                                 "the header of the page has been sent: add long polls first");
    case APR_ENOSPC:
        return vault_lua_failure(L, HTTP_SERVICE_UNAVAILABLE,
                                 "no more pages, or no more methods on this page, are allowed");
    default:
        return vault_lua_failure(L, HTTP_INTERNAL_SERVER_ERROR, "this request is no page view");
    }
}

/* Without a page the result is an empty string, so that a script can concatenate it. */
static int script(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);
    const char *html = VAULT_LUA_CALL(L, vault_page_script)(r);

    lua_pushstring(L, html ? html : "");
    return 1;
}

static int stream_url(lua_State *L)
{
    lua_pushstring(L, VAULT_LUA_CALL(L, vault_stream_url)(vault_lua_request(L, 1))); /* NULL becomes nil */
    return 1;
}

static int bundle_url(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);

    lua_pushstring(L, VAULT_LUA_CALL(L, vault_bundle_url)(r, vault_lua_text(L, 2))); /* NULL becomes nil */
    return 1;
}

static int get(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);
    const char *key = vault_lua_text(L, 2);

    if (!key) {
        return VAULT_LUA_FAILED;
    }
    lua_pushstring(L, VAULT_LUA_CALL(L, vault_page_get)(r, key)); /* NULL becomes nil */
    return 1;
}

static int set(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);
    const char *key = vault_lua_text(L, 2), *value = NULL;

    if (!key || (!lua_isnoneornil(L, 3) && !(value = vault_lua_text(L, 3)))) {
        return VAULT_LUA_FAILED;
    }
    switch (VAULT_LUA_CALL(L, vault_page_set)(r, key, value)) {
    case APR_SUCCESS:
        return vault_lua_done(L);
    case APR_EINVAL:
        lua_pushfstring(L, "a page property has a key of 1 to %d bytes and a value of at most %d",
                        VAULT_PROPERTY_KEY_MAX, VAULT_PROPERTY_VALUE_MAX);
        return vault_lua_failure(L, HTTP_BAD_REQUEST, lua_tostring(L, -1));
    default:
        return vault_lua_failure(L, HTTP_INTERNAL_SERVER_ERROR, "there is no page to keep a property for");
    }
}

static int same_origin(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);

    lua_pushboolean(L, VAULT_LUA_CALL(L, vault_same_origin)(r));
    return 1;
}

static int share(lua_State *L)
{
    VAULT_LUA_CALL(L, vault_share)(vault_lua_request(L, 1));
    return 0;
}

/* ------------------------------------------------------------------- interests */

static int create_interest(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);
    const char *name = vault_lua_text(L, 2), *cursor = name;

    if (!name || (!lua_isnoneornil(L, 3) && !(cursor = vault_lua_text(L, 3)))) {
        return VAULT_LUA_FAILED;
    }
    lua_pushboolean(L, VAULT_LUA_CALL(L, vault_create_interest)(r, name, cursor));
    return 1;
}

static int notify(lua_State *L)
{
    const char *name = vault_lua_text(L, 1);
    apr_status_t rv;

    if (!name) {
        return VAULT_LUA_FAILED;
    }
    rv = VAULT_LUA_CALL(L, vault_notify)(name);
    if (rv == APR_EINVAL) {
        lua_pushfstring(L, "an interest has a name of 1 to %d bytes", VAULT_INTEREST_MAX);
        return vault_lua_failure(L, HTTP_BAD_REQUEST, lua_tostring(L, -1));
    }
    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        return vault_lua_failure(L, HTTP_SERVICE_UNAVAILABLE, "the interest cannot be notified now");
    }
    lua_pushboolean(L, rv == APR_SUCCESS);
    return 1;
}

/* ----------------------------------------------------------------------- feeds */

static int status_of(apr_status_t rv)
{
    return rv == APR_EINVAL   ? HTTP_BAD_REQUEST
           : rv == APR_EBUSY  ? HTTP_TOO_MANY_REQUESTS
           : rv == APR_EAGAIN ? HTTP_SERVICE_UNAVAILABLE
                              : HTTP_INTERNAL_SERVER_ERROR;
}

static int push_rows(lua_State *L, json_t **rows, int anew)
{
    int ok = 1;

    if (*rows) {
        ok = vault_lua_json_push(L, *rows);
        vault_lua_json_drop(rows);
    }
    else {
        lua_pushnil(L);
    }
    if (ok && anew) {
        lua_getfield(L, LUA_REGISTRYINDEX, ANEW);
        lua_pushvalue(L, -2);
        lua_pushboolean(L, 1);
        lua_rawset(L, -3);
        lua_pop(L, 1);
    }
    return ok ? 1 : vault_lua_failure(L, HTTP_INTERNAL_SERVER_ERROR, "what the feed answers is nested too deep");
}

/* Is the value at `index` a table of rows that are a first view again? */
static int is_anew(lua_State *L, int index)
{
    int yes;

    lua_getfield(L, LUA_REGISTRYINDEX, ANEW);
    lua_pushvalue(L, index);
    lua_rawget(L, -2);
    yes = lua_toboolean(L, -1);
    lua_pop(L, 2);
    return yes;
}

static int is_reset(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushboolean(L, is_anew(L, 1));
    return 1;
}

/* feed:method(r, arguments); the upvalue is the name of the method. */
static int call_method(lua_State *L)
{
    const char *name = luaL_testudata(L, 1, FEED), *error = NULL;
    const char *method = lua_tostring(L, lua_upvalueindex(1));
    json_t **args, **rows;
    request_rec *r;
    apr_status_t rv;

    if (!name) {
        return luaL_error(L, "a method of a feed is called with a colon, as in feed:%s(r, {...})", method);
    }
    r = vault_lua_request(L, 2);
    lua_settop(L, 3);
    if (lua_isnil(L, 3)) {
        lua_newtable(L);
        lua_replace(L, 3);
    }
    luaL_checktype(L, 3, LUA_TTABLE);
    args = vault_lua_json_box(L);
    rows = vault_lua_json_box(L);
    if (!take_json(L, 3, args, 0)) {
        return VAULT_LUA_FAILED;
    }
    luaL_argcheck(L, json_is_object(*args), 3, "arguments have names, as in {table = \"logs\"}");
    rv = VAULT_LUA_CALL(L, vault_feed_call)(r, name, method, *args, rows, &error);
    vault_lua_json_drop(args);
    if (rv != APR_SUCCESS) {
        return vault_lua_failure(L, status_of(rv), error);
    }
    return push_rows(L, rows, *rows && VAULT_LUA_CALL(L, vault_feed_is_reset)(r, *rows));
}

static int find_method(lua_State *L)
{
    luaL_checkudata(L, 1, FEED);
    luaL_argcheck(L, lua_type(L, 2) == LUA_TSTRING, 2, "a feed has methods, and they have names");
    vault_lua_name(L, 2);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, call_method, 1);
    return 1;
}

static int describe_feed(lua_State *L)
{
    lua_pushfstring(L, "the feed \"%s\"", (const char *)luaL_checkudata(L, 1, FEED));
    return 1;
}

static int feed(lua_State *L)
{
    const char *name = vault_lua_name(L, 1);
    size_t size = strlen(name) + 1;

    memcpy(lua_newuserdata(L, size), name, size);
    luaL_setmetatable(L, FEED);
    return 1;
}

/* ------------------------------------------------------------------- templates */

/* {append = "target"}: the action and its target; {…, format = "htmx"}. @return 0: as for take_json() */
static int read_options(lua_State *L, int arg, vault_render_t *what)
{
    if (lua_isnil(L, arg)) {
        return 1;
    }
    luaL_checktype(L, arg, LUA_TTABLE);
    for (lua_pushnil(L); lua_next(L, arg); lua_pop(L, 1)) {
        int texts = lua_type(L, -2) == LUA_TSTRING && lua_type(L, -1) == LUA_TSTRING;
        luaL_argcheck(L, texts, arg, "an action and the id of an element are needed, as in {append = \"list\"}");
        if (vault_lua_wrong_text(L, -2) || vault_lua_wrong_text(L, -1)) {
            vault_lua_failure(L, HTTP_BAD_REQUEST, "the id of an element: text that is not UTF-8, or has a NUL in it");
            return 0;
        }
        if (!strcmp(lua_tostring(L, -2), "format")) {
            what->format = lua_tostring(L, -1);
            continue;
        }
        luaL_argcheck(L, !what->action, arg, "one action is enough");
        what->action = lua_tostring(L, -2);
        what->target = lua_tostring(L, -1);
    }
    return 1;
}

static int render(lua_State *L)
{
    request_rec *r = vault_lua_request(L, 1);
    vault_render_t what = {.file = vault_lua_name(L, 2)};
    const char *error = NULL;
    json_t **data;
    apr_status_t rv;

    lua_settop(L, 4);
    if (!read_options(L, 4, &what)) {
        return VAULT_LUA_FAILED;
    }
    data = vault_lua_json_box(L);
    if (!lua_isnil(L, 3)) {
        luaL_checktype(L, 3, LUA_TTABLE);
        if (!take_json(L, 3, data, 1)) {
            return VAULT_LUA_FAILED;
        }
    }
    what.data = *data;
    what.anew = is_anew(L, 3);
    rv = VAULT_LUA_CALL(L, vault_render)(r, &what, &error);
    vault_lua_json_drop(data);
    return rv == APR_SUCCESS ? vault_lua_done(L) : vault_lua_failure(L, HTTP_INTERNAL_SERVER_ERROR, error);
}

/* ----------------------------------------------------------------------- tables */

static int mark(lua_State *L, int list)
{
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    luaL_argcheck(L, vault_lua_json_mark(L, 1, list), 1, "a table that has a metatable already");
    return 1;
}

static int array(lua_State *L)
{
    return mark(L, 1);
}

static int object(lua_State *L)
{
    return mark(L, 0);
}

static const luaL_Reg functions[] = {
    {"add_long_poll", add_long_poll},
    {"array", array},
    {"create_interest", create_interest},
    {"feed", feed},
    {"get", get},
    {"is_reset", is_reset},
    {"notify", notify},
    {"object", object},
    {"render", render},
    {"same_origin", same_origin},
    {"script", script},
    {"set", set},
    {"share", share},
    {"stream_url", stream_url},
    {"bundle_url", bundle_url},
    {NULL, NULL},
};

static const luaL_Reg feed_events[] = {
    {"__index", find_method},
    {"__tostring", describe_feed},
    {NULL, NULL},
};

static void open_feeds(lua_State *L)
{
    luaL_newmetatable(L, FEED);
    luaL_setfuncs(L, feed_events, 0);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_setfield(L, LUA_REGISTRYINDEX, ANEW);
    lua_pop(L, 1);
}

int luaopen_vault(lua_State *L)
{
    luaL_checkversion(L); /* if the process has two Lua libraries, the wrong one would crash */
    vault_lua_json_open(L);
    vault_lua_request_open(L);
    open_feeds(L);
    luaL_newlib(L, functions);
    vault_lua_session_add(L);
    vault_lua_json_push_null(L);
    lua_setfield(L, -2, "null");
    lua_pushliteral(L, VAULT_VERSION);
    lua_setfield(L, -2, "_VERSION");
    return 1;
}
