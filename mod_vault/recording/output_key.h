/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_key.h
 * The keys of outputs in the store (output_store.h): a name that administrators see, and everything that httpd has
 * decided about the request.
 */
#ifndef VAULT_OUTPUT_KEY_H
#define VAULT_OUTPUT_KEY_H

#include "httpd.h"

/** What an output is. */
typedef struct vault_output_what_t {
    const char *kind; /* one word */
    const char *url; /* the path and query as they were sent. NULL: the output is shared by construction, so it does not
                         * depend on the query and the name in Host, and no client can fill the store by inventing
                         * some */
    const char *varies; /* what else tells outputs apart; not shown to administrators */
} vault_output_what_t;

/** The key of the output of `r`. The virtual host, the file, the handler, the media type and the output filters that
 * httpd has chosen are part of it, and so is the generation of the configuration, as another one may choose otherwise.
 * @return in `pool` */
const char *vault_output_key(request_rec *r, const vault_output_what_t *what, apr_pool_t *pool);

/** The same for servers that share outputs (socache.h): the virtual host is known by its name and ports, and the
 * generation does not count. */
const char *vault_output_shared_key(request_rec *r, const vault_output_what_t *what, apr_pool_t *pool);

#endif
