/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file main_request.h
 * The main request, which the client has sent, of a subrequest.
 */
#ifndef VAULT_MAIN_REQUEST_H
#define VAULT_MAIN_REQUEST_H

#include "httpd.h"

/** The main request of `r`. */
static inline request_rec *vault_main_request(request_rec *r)
{
    while (r->main) {
        r = r->main;
    }
    return r;
}

#endif
