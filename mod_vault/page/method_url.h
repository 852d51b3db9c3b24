/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file method_url.h
 * What the URL of a page's method may be.
 */
#ifndef VAULT_METHOD_URL_H
#define VAULT_METHOD_URL_H

/** The longest URL of a method, in bytes. */
#define VAULT_URL_MAX 1024

/** Is `url` text as a URL has it, without a fragment, and of at most VAULT_URL_MAX bytes? */
int vault_method_is_url(const char *url);

#endif
