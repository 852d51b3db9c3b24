/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ssi_elements.h
 * Tells from the text of a document of mod_include whether its output can differ between two requests although
 * neither files nor data have changed.
 *
 * Elements whose output follows from feeds are accepted: `feed`, `vault`, `comment`, `config`. Everything else may
 * depend on the request, on the time or on other programs. An attribute with a dollar sign may contain any variable.
 * `include virtual` is listed: httpd decides anew for each request whether and what it includes (recording/includes.h).
 *
 * Pure function.
 */
#ifndef VAULT_SSI_ELEMENTS_H
#define VAULT_SSI_ELEMENTS_H

#include "apr_tables.h"

/** @param includes  of const char *: the URLs that the document includes are added, in `pool`
 * @return NULL, or half a sentence, in `pool`, that says which element makes the output personal */
const char *vault_ssi_personal(const char *text, apr_size_t length, apr_array_header_t *includes, apr_pool_t *pool);

#endif
