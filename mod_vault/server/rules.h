/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rules.h
 * Directives whose lines are rules: `Directive VALUE [CONDITION]`, both httpd expressions, with several lines
 * in one section; or Off.
 *
 * The rules of an inner section replace those of the outer one.
 */
#ifndef VAULT_RULES_H
#define VAULT_RULES_H

#include "httpd.h"
#include "http_config.h"
#include "ap_expr.h"

typedef struct vault_rule_t {
    ap_expr_info_t *value; /* evaluates to a string */
    ap_expr_info_t *when;  /* NULL: always */
    const char *fixed;     /* the value, if it is the same for every request; NULL: it depends on the request */
} vault_rule_t;

/** Is this line `Off`? */
int vault_rules_is_off(const char *value, const char *condition);

/** Are the values of all rules the same for every request?
 * @param rules  of vault_rule_t; NULL: there are none */
int vault_rules_are_fixed(const apr_array_header_t *rules);

/** Add a rule to a section's list; Off empties the list.
 * @param rules      of vault_rule_t; NULL: none in this section so far
 * @param condition  NULL: none
 * @param flags      of ap_expr.h: AP_EXPR_FLAG_DONT_VARY where the answer does not depend on it
 * @return NULL, or the sentence that stops the start */
const char *vault_rules_add(cmd_parms *cmd, apr_array_header_t **rules, const char *value, const char *condition,
                            unsigned flags);

/** Evaluate a rule for a request.
 * @param error  set to the reason if an expression failed, otherwise to NULL
 * @return the value, in r->pool; NULL: the condition does not hold, or an expression failed */
const char *vault_rule_value(request_rec *r, const vault_rule_t *rule, const char **error);

#endif
