/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_forms_fuzz.c
 * Chooses a form by any value of Accept-Encoding. Checks that the form is offered, that offering more never leads to the
 * plain form, and that a form that can be made is shorter.
 */
#include "output/output_forms.h"

#include "fuzz.h"

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    unsigned offered, build = vault_output_forms_of_build();
    vault_output_form_t form;

    for (offered = 0; offered < VAULT_OUTPUT_FORM_BIT(VAULT_OUTPUT_FORMS); offered++) {
        form = vault_output_form_choose(text, offered);
        must(form == VAULT_OUTPUT_PLAIN || (offered & VAULT_OUTPUT_FORM_BIT(form)) != 0);
        must(form == VAULT_OUTPUT_PLAIN || vault_output_form_choose(text, ~0U) != VAULT_OUTPUT_PLAIN);
    }
    for (form = VAULT_OUTPUT_GZIP; form < VAULT_OUTPUT_FORMS; form++) {
        const char *made;
        apr_size_t size;
        apr_status_t rv = vault_output_form_make(form, VAULT_OUTPUT_QUICK, text, length, &made, &size, pool);

        must(rv != APR_SUCCESS || size < length);
        must((rv == APR_ENOTIMPL) == !(build & VAULT_OUTPUT_FORM_BIT(form)));
    }
}
