/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_forms.h
 * The forms in which the body of an answer is sent: plain, gzip or brotli.
 *
 * A form is a content coding of HTTP (RFC 9110, section 8.4). Each form is a representation of its own: it needs its
 * own entity tag, and the answer needs `Vary: Accept-Encoding`.
 *
 * Threads: any. No function of this file blocks, but making a form takes processor time: for each megabyte of text
 * about 40 ms at VAULT_OUTPUT_QUICK, and 50 to 300 ms at VAULT_OUTPUT_SMALL.
 */
#ifndef VAULT_OUTPUT_FORMS_H
#define VAULT_OUTPUT_FORMS_H

#include "apr_pools.h"

/** The forms of a body. */
typedef enum vault_output_form_t {
    VAULT_OUTPUT_PLAIN,
    VAULT_OUTPUT_GZIP,
    VAULT_OUTPUT_BROTLI,
    VAULT_OUTPUT_FORMS
} vault_output_form_t;

/** How much time a form may take. */
typedef enum vault_output_effort_t {
    VAULT_OUTPUT_QUICK, /* for a body that is soon outdated */
    VAULT_OUTPUT_SMALL  /* for a body that is sent for days */
} vault_output_effort_t;

/** A set of forms, as bits. */
#define VAULT_OUTPUT_FORM_BIT(form) (1U << (form))
/** The forms that this build can make. */
unsigned vault_output_forms_of_build(void);

/** The value of Content-Encoding. NULL: the header is not sent. */
const char *vault_output_form_coding(vault_output_form_t form);

/** What is appended to an entity tag, inside its quotes: "", "-gzip" or "-br". */
const char *vault_output_form_suffix(vault_output_form_t form);

/** Choose a form by the request's Accept-Encoding: the one with the highest weight, and of those with the same weight
 * the smallest one.
 * @param accept   from the client; all of its lines, joined by commas; NULL: the header is missing
 * @param offered  a set of forms; the plain form is always offered
 * @return a form that is offered; plain if the client accepts none of them, as RFC 9110, section 12.5.3, proposes */
vault_output_form_t vault_output_form_choose(const char *accept, unsigned offered);

/** Make a compressed form.
 * @param made  in `pool`
 * @return APR_SUCCESS
 *         APR_ENOSPC   it is no smaller than `text`, or the library has no memory
 *         APR_ENOTIMPL this build cannot make it */
apr_status_t vault_output_form_make(vault_output_form_t form, vault_output_effort_t effort, const char *text,
                                    apr_size_t size, const char **made, apr_size_t *made_size, apr_pool_t *pool);

#endif
