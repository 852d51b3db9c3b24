/* SPDX-License-Identifier: Apache-2.0 */
/* Converts between Lua tables and JSON. Every new JSON value is put into the box before the next call of Lua. */
#include "json.h"

#include <lauxlib.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#define BOX "vault.box"
#define NULL_VALUE "vault.null"
#define LIST_MARK "vault.array"
#define OBJECT_MARK "vault.object"

_Static_assert(sizeof(lua_Integer) >= sizeof(json_int_t), "Lua's integers have 64 bits");

typedef struct walk_t {
    lua_State *L;
    const void *above[VAULT_LUA_DEPTH_MAX]; /* the tables that contain the current one */
    int depth;
    int empty_list;
    int by_value; /* 1: a value was refused whose type can be JSON */
} walk_t;

/* ---------------------------------------------------------------------- boxes */

json_t **vault_lua_json_box(lua_State *L)
{
    json_t **box = lua_newuserdata(L, sizeof(*box));

    *box = NULL;
    luaL_setmetatable(L, BOX);
    return box;
}

void vault_lua_json_drop(json_t **box)
{
    json_decref(*box);
    *box = NULL;
}

static int drop_box(lua_State *L)
{
    vault_lua_json_drop(luaL_checkudata(L, 1, BOX));
    return 0;
}

/* --------------------------------------------------------------- null and marks */

static int name_null(lua_State *L)
{
    lua_pushliteral(L, "null");
    return 1;
}

static void make_metatable(lua_State *L, const char *name, const char *event, lua_CFunction function)
{
    luaL_newmetatable(L, name);
    if (event) {
        lua_pushcfunction(L, function);
        lua_setfield(L, -2, event);
    }
    lua_pushboolean(L, 0); /* scripts can neither see nor change the metatable */
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 1);
}

void vault_lua_json_open(lua_State *L)
{
    make_metatable(L, BOX, "__gc", drop_box);
    make_metatable(L, LIST_MARK, NULL, NULL);
    make_metatable(L, OBJECT_MARK, NULL, NULL);
    make_metatable(L, NULL_VALUE, "__tostring", name_null);
    lua_newuserdata(L, 1);
    luaL_setmetatable(L, NULL_VALUE);
    lua_setfield(L, LUA_REGISTRYINDEX, NULL_VALUE " itself");
}

void vault_lua_json_push_null(lua_State *L)
{
    lua_getfield(L, LUA_REGISTRYINDEX, NULL_VALUE " itself");
}

static int has_mark(lua_State *L, int index, const char *mark)
{
    int same;

    if (!lua_getmetatable(L, index)) {
        return 0;
    }
    luaL_getmetatable(L, mark);
    same = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return same;
}

int vault_lua_json_mark(lua_State *L, int index, int list)
{
    index = lua_absindex(L, index);
    if (lua_getmetatable(L, index)) {
        lua_pop(L, 1);
        if (!has_mark(L, index, LIST_MARK) && !has_mark(L, index, OBJECT_MARK)) {
            return 0;
        }
    }
    luaL_getmetatable(L, list ? LIST_MARK : OBJECT_MARK);
    lua_setmetatable(L, index);
    return 1;
}

/* ------------------------------------------------------------------ Lua to JSON */

/* The container for a table, by its keys. @return an empty list or object; NULL: neither, with the reason */
static json_t *make_container(walk_t *w, int index, const char **why)
{
    lua_State *L = w->L;
    lua_Integer names = 0, numbers = 0, last = 0;

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (lua_type(L, -2) == LUA_TSTRING) {
            names++;
        }
        else if (lua_isinteger(L, -2) && lua_tointeger(L, -2) >= 1) {
            numbers++;
            last = lua_tointeger(L, -2) > last ? lua_tointeger(L, -2) : last;
        }
        else {
            *why = "a key is neither a name nor one of 1, 2, 3, ...";
            lua_pop(L, 2);
            return NULL;
        }
    }
    if (names && numbers) {
        *why = "some keys are names and some are numbers: that is neither a list nor an object";
        return NULL;
    }
    if (numbers != last) {
        *why = "a list with holes: all keys from 1 to the last one are needed";
        return NULL;
    }
    if (!names && !numbers) {
        int list = has_mark(L, index, LIST_MARK) || (w->empty_list && !has_mark(L, index, OBJECT_MARK));
        return list ? json_array() : json_object();
    }
    return numbers ? json_array() : json_object();
}

static json_t *make_table(walk_t *w, int index, const char **why)
{
    const void *self = lua_topointer(w->L, index);
    int i;

    for (i = 0; i < w->depth; i++) {
        if (w->above[i] == self) {
            *why = "a table that is inside of itself";
            return NULL;
        }
    }
    if (w->depth == VAULT_LUA_DEPTH_MAX) {
        *why = "tables are nested too deep";
        return NULL;
    }
    return make_container(w, index, why);
}

static json_t *make_number(walk_t *w, int index, const char **why)
{
    lua_Number number;

    if (lua_isinteger(w->L, index)) {
        return json_integer(lua_tointeger(w->L, index));
    }
    number = lua_tonumber(w->L, index);
    if (!isfinite(number)) {
        *why = "a number that is infinite, or none";
        w->by_value = 1;
    }
    return json_real(number);
}

static json_t *make_string(walk_t *w, int index, const char **why)
{
    size_t length;
    const char *text = lua_tolstring(w->L, index, &length);
    json_t *string = json_stringn(text, length);

    if (!string) {
        *why = "text that is not UTF-8";
        w->by_value = 1;
    }
    return string;
}

/* @return a scalar, or an empty list or object to be filled; NULL: refused, with the reason */
static json_t *make(walk_t *w, int index, const char **why)
{
    *why = "memory is short";
    switch (lua_type(w->L, index)) {
    case LUA_TBOOLEAN:
        return json_boolean(lua_toboolean(w->L, index));
    case LUA_TNUMBER:
        return make_number(w, index, why);
    case LUA_TSTRING:
        return make_string(w, index, why);
    case LUA_TTABLE:
        return make_table(w, index, why);
    default:
        if (luaL_testudata(w->L, index, NULL_VALUE)) {
            return json_null();
        }
        *why = lua_pushfstring(w->L, "a %s is no JSON", luaL_typename(w->L, index));
        return NULL;
    }
}

/* The destination of a value. */
typedef struct place_t {
    json_t **box;    /* the box itself, or NULL */
    json_t *parent;  /* a list or an object */
    const char *key; /* the name in the object; owned by Lua */
} place_t;

/* @return 0; -1: the name is not UTF-8, or out of memory. Takes over the reference in either case */
static int put(const place_t *at, json_t *value)
{
    if (at->box) {
        *at->box = value;
        return 0;
    }
    return at->key ? json_object_set_new(at->parent, at->key, value) : json_array_append_new(at->parent, value);
}

static int convert(walk_t *w, int index, const place_t *at);

/* Prepends the position to the message on top of the stack. */
static int blame_item(lua_State *L, lua_Integer number)
{
    lua_pushfstring(L, "[%I]%s", (LUAI_UACINT)number, lua_tostring(L, -1));
    return 0;
}

static int blame_name(lua_State *L, const char *name)
{
    lua_pushfstring(L, ".%s%s", name, lua_tostring(L, -1));
    return 0;
}

static int blame(lua_State *L, const char *why)
{
    lua_pushfstring(L, ": %s", why);
    return 0;
}

static int fill_list(walk_t *w, int index, json_t *list)
{
    lua_Integer i, n = (lua_Integer)lua_rawlen(w->L, index);
    place_t at = {.parent = list};

    for (i = 1; i <= n; i++) {
        lua_rawgeti(w->L, index, i);
        if (!convert(w, lua_gettop(w->L), &at)) {
            return blame_item(w->L, i);
        }
        lua_pop(w->L, 1);
    }
    return 1;
}

static int fill_object(walk_t *w, int index, json_t *object)
{
    lua_State *L = w->L;
    place_t at = {.parent = object};
    size_t length;

    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        at.key = lua_tolstring(L, -2, &length);
        if (strlen(at.key) != length) {
            w->by_value = 1;
            return blame(L, "a name with a NUL in it");
        }
        if (!convert(w, lua_gettop(L), &at)) {
            return blame_name(L, at.key);
        }
    }
    return 1;
}

/* @return 1; 0: refused, with the message on top of the stack */
static int convert(walk_t *w, int index, const place_t *at)
{
    const char *why;
    json_t *value;
    int ok = 1;

    luaL_checkstack(w->L, 8, NULL);
    if (!(value = make(w, index, &why))) {
        return blame(w->L, why);
    }
    if (put(at, value)) {
        w->by_value = 1;
        return blame(w->L, "a name that is not UTF-8");
    }
    if (lua_istable(w->L, index)) {
        w->above[w->depth++] = lua_topointer(w->L, index);
        ok = json_is_array(value) ? fill_list(w, index, value) : fill_object(w, index, value);
        w->depth--;
    }
    return ok;
}

const char *vault_lua_json_get(lua_State *L, int index, json_t **box, int empty_list, int *by_value)
{
    walk_t w = {.L = L, .empty_list = empty_list};
    place_t at = {.box = box};
    const char *message;

    if (convert(&w, lua_absindex(L, index), &at)) {
        return NULL;
    }
    vault_lua_json_drop(box);
    *by_value = w.by_value;
    message = lua_tostring(L, -1);
    return message + (message[0] == ':' ? 2 : message[0] == '.');
}

/* ------------------------------------------------------------------ JSON to Lua */

static int push(lua_State *L, const json_t *value, int depth);

/* A hint for Lua's allocation. */
static int hint(size_t size)
{
    return size < INT_MAX ? (int)size : INT_MAX;
}

static int push_list(lua_State *L, const json_t *list, int depth)
{
    size_t i, n = json_array_size(list);

    lua_createtable(L, hint(n), 0);
    for (i = 0; i < n; i++) {
        if (!push(L, json_array_get(list, i), depth + 1)) {
            return 0;
        }
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return n || vault_lua_json_mark(L, -1, 1);
}

static int push_object(lua_State *L, const json_t *object, int depth)
{
    const char *key;
    json_t *value;

    lua_createtable(L, 0, hint(json_object_size(object)));
    json_object_foreach((json_t *)object, key, value)
    {
        lua_pushstring(L, key);
        if (!push(L, value, depth + 1)) {
            return 0;
        }
        lua_rawset(L, -3);
    }
    return json_object_size(object) || vault_lua_json_mark(L, -1, 0);
}

static int push(lua_State *L, const json_t *value, int depth)
{
    luaL_checkstack(L, 6, NULL);
    switch (json_typeof(value)) {
    case JSON_ARRAY:
        return depth < VAULT_LUA_DEPTH_MAX && push_list(L, value, depth);
    case JSON_OBJECT:
        return depth < VAULT_LUA_DEPTH_MAX && push_object(L, value, depth);
    case JSON_STRING:
        lua_pushlstring(L, json_string_value(value), json_string_length(value));
        return 1;
    case JSON_INTEGER:
        lua_pushinteger(L, json_integer_value(value));
        return 1;
    case JSON_REAL:
        lua_pushnumber(L, json_real_value(value));
        return 1;
    case JSON_NULL:
        vault_lua_json_push_null(L);
        return 1;
    default:
        lua_pushboolean(L, json_is_true(value));
        return 1;
    }
}

int vault_lua_json_push(lua_State *L, const json_t *value)
{
    return push(L, value, 0);
}
