/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file listing.h
 * `vault-status?pages`: a list of all pages as JSON. With owner=USER, interest=NAME, state=polled or
 * state=idle, only the pages that match all of these.
 */
#ifndef VAULT_LISTING_H
#define VAULT_LISTING_H

#include "httpd.h"

/** Answer {"Pages": [{"Page", "State", "Owner", "Client", "IdleSeconds", "Methods": [URL, …], "Interests":
 * [NAME, …]}, …]}; Page and the numbers as in vault_explain(). Client is a number that is the same for all
 * pages of one user or address.
 * @return what the handler returns */
int vault_listing(request_rec *r);

#endif
