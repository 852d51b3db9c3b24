/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the configuration: a value and the condition under which it holds. */
#include "server/rules.h"

#include "apr_strings.h"
#include "http_log.h"

#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

static const char *parse(cmd_parms *cmd, const char *text, unsigned flags, ap_expr_info_t **expression)
{
    const char *wrong = NULL;

    *expression = ap_expr_parse_cmd(cmd, text, flags, &wrong, NULL);
    return wrong ? apr_psprintf(cmd->pool, "%s: \"%s\" is not an expression: %s", cmd->cmd->name, text, wrong) : NULL;
}

int vault_rules_is_off(const char *value, const char *condition)
{
    return !condition && !ap_cstr_casecmp(value, "off");
}

int vault_rules_are_fixed(const apr_array_header_t *rules)
{
    int i;

    for (i = 0; rules && i < rules->nelts; i++) {
        if (!APR_ARRAY_IDX(rules, i, vault_rule_t).fixed) {
            return 0;
        }
    }
    return 1;
}

const char *vault_rules_add(cmd_parms *cmd, apr_array_header_t **rules, const char *value, const char *condition,
                            unsigned flags)
{
    int off = vault_rules_is_off(value, condition);
    vault_rule_t *rule;
    const char *error;

    if (off || !*rules) {
        *rules = apr_array_make(cmd->pool, 2, sizeof(vault_rule_t));
    }
    if (off) {
        return NULL;
    }
    rule = apr_array_push(*rules);
    rule->when = NULL;
    rule->fixed = condition || strpbrk(value, "%$\\") ? NULL : value;
    error = parse(cmd, value, flags | AP_EXPR_FLAG_STRING_RESULT, &rule->value);
    return error || !condition ? error : parse(cmd, condition, flags, &rule->when);
}

const char *vault_rule_value(request_rec *r, const vault_rule_t *rule, const char **error)
{
    const char *value;

    *error = NULL;
    if (rule->when && ap_expr_exec(r, rule->when, error) <= 0) {
        return NULL;
    }
    value = ap_expr_str_exec(r, rule->value, error);
    return *error ? NULL : value;
}
