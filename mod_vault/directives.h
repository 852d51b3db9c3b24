/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file directives.h
 * All directives of the module, and configuration sections with the parts of all folders.
 */
#ifndef VAULT_DIRECTIVES_H
#define VAULT_DIRECTIVES_H

#include "httpd.h"
#include "http_config.h"

/** The rows of all folders. */
extern command_rec vault_directives[];

/** For httpd: create a section, and merge two. */
void *vault_directives_create(apr_pool_t *p, char *dir);
void *vault_directives_merge(apr_pool_t *p, void *outer, void *inner);

/** Forget the values of the last configuration, before the configuration is read. */
void vault_directives_reset(apr_pool_t *pconf);

#endif
