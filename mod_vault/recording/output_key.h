/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_key.h
 * The keys of outputs in the store (output_store.h): a name that administrators see, and everything that httpd has
 * decided about the request.
 */
#ifndef VAULT_OUTPUT_KEY_H
#define VAULT_OUTPUT_KEY_H

#include "httpd.h"

/** The key of the output of `r`. The virtual host, the file, the handler, the media type and the output filters that
 * httpd has chosen are part of it, and so is the generation of the configuration, as another one may choose otherwise.
 * @param kind    one word
 * @param url     the path and query as they were sent
 * @param varies  what else tells outputs apart; not shown to administrators
 * @return in `pool` */
const char *vault_output_key(request_rec *r, const char *kind, const char *url, const char *varies, apr_pool_t *pool);

#endif
