/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file listing.h
 * `vault-status?pages`: all pages as JSON, each in a few words. With owner=USER, interest=NAME, state=polled or state=idle only those
 * that fit all of it.
 */
#ifndef VAULT_LISTING_H
#define VAULT_LISTING_H

#include "httpd.h"

/** Answer {"Pages": [{"Page", "State", "Owner", "Client", "IdleSeconds", "Methods": [URL, …], "Interests": [NAME, …]}, …]}; the id and
 * the numbers as vault_explain() says them, Client the same for all pages of one user or address.
 * @return what the handler returns */
int vault_listing(request_rec *r);

#endif
