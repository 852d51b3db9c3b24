/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rules.h
 * Directives whose lines are rules: `Directive VALUE [CONDITION]`, both httpd expressions, several lines in one section; or Off.
 *
 * A narrower section replaces the rules of the wider one.
 */
#ifndef VAULT_RULES_H
#define VAULT_RULES_H

#include "httpd.h"
#include "http_config.h"
#include "ap_expr.h"

typedef struct vault_rule_t {
    ap_expr_info_t *value; /* gives a string */
    ap_expr_info_t *when;  /* NULL: always */
} vault_rule_t;

/** Is this line `Off`? */
int vault_rules_is_off(const char *value, const char *condition);

/** Add a rule to a section's list; Off empties the list.
 * @param rules      of vault_rule_t; NULL: none in this section so far
 * @param condition  NULL: none
 * @param flags      of ap_expr.h: AP_EXPR_FLAG_DONT_VARY where the answer does not depend on it
 * @return NULL, or the sentence that stops the start */
const char *vault_rules_add(cmd_parms *cmd, apr_array_header_t **rules, const char *value, const char *condition,
                            unsigned flags);

/** What a rule gives for a request.
 * @param error  set to why an expression failed; NULL otherwise
 * @return in r->pool; NULL: its condition does not hold, or it failed */
const char *vault_rule_value(request_rec *r, const vault_rule_t *rule, const char **error);

#endif
