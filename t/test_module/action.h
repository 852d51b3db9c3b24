/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file action.h
 * The actions of the handler `vault-test`, which mod_vault_test.c describes, and their helpers.
 */
#ifndef VAULT_TEST_ACTION_H
#define VAULT_TEST_ACTION_H

#include "httpd.h"

#include "apr_optional.h"
#include "apr_tables.h"

#include "mod_vault/vault.h"

/** The optional functions of mod_vault. All of them exist when an action runs. */
typedef struct offers_t {
    APR_OPTIONAL_FN_TYPE(vault_add_long_poll) * add_long_poll;
    APR_OPTIONAL_FN_TYPE(vault_page_script) * page_script;
    APR_OPTIONAL_FN_TYPE(vault_page_get) * page_get;
    APR_OPTIONAL_FN_TYPE(vault_page_set) * page_set;
    APR_OPTIONAL_FN_TYPE(vault_session_get) * session_get;
    APR_OPTIONAL_FN_TYPE(vault_session_set) * session_set;
    APR_OPTIONAL_FN_TYPE(vault_session_remove) * session_remove;
    APR_OPTIONAL_FN_TYPE(vault_session_renew) * session_renew;
    APR_OPTIONAL_FN_TYPE(vault_create_interest) * create_interest;
    APR_OPTIONAL_FN_TYPE(vault_notify) * notify;
    APR_OPTIONAL_FN_TYPE(vault_feed_call) * feed_call;
    APR_OPTIONAL_FN_TYPE(vault_feed_is_reset) * is_reset;
    APR_OPTIONAL_FN_TYPE(vault_render) * render;
} offers_t;

extern offers_t vault;

typedef struct query_t {
    const char *name;
    const char *value;
} query_t;

/** One request with its parsed query string: names in their order, possibly repeated. */
typedef struct act_t {
    request_rec *r;
    apr_array_header_t *query; /* of query_t */
} act_t;

/** A row of a table of actions; the last row has no name. */
typedef struct action_t {
    const char *name;       /* the last part of the path */
    const char *type;       /* the content type, unless the query says another */
    int (*act)(act_t *act); /* OK, or the status that ends the request */
} action_t;

/** Actions that do not need mod_vault; `damage` corrupts its memory: answers.c. */
extern const action_t answer_actions[];

/** Variables, barriers and notifies: variables.c. */
extern const action_t variable_actions[];

/** Pages, and methods that show variables: pages.c. */
extern const action_t page_actions[];

/** Feeds and templates: feeds.c. */
extern const action_t feed_actions[];

/** `call`, which a page can do as well. */
int act_call(act_t *act);

/** Parse the query string of act->r. */
void query_parse(act_t *act);

/** @return the first value of this name, or the fallback */
const char *query_get(act_t *act, const char *name, const char *fallback);

/** @return the n-th value of the name, from 0; or NULL */
const char *query_nth(act_t *act, const char *name, int n);

/** Stop at the barrier that the query names for this point, if any.
 * @return OK, or the status that ends the request */
int stop_at(act_t *act, const char *where);

#endif
