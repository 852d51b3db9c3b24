/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file text.h
 * Memory for text that grows while it is written, and then waits for a client that may be slow.
 *
 * A long text has pages of its own, which go back to the system at the moment at which it is freed. malloc() would keep them: after the first
 * long block was freed, glibc takes others of that size from the heaps of its threads, and keeps what is free there.
 *
 * A text belongs to one thread at a time; any may free it.
 */
#ifndef VAULT_TEXT_H
#define VAULT_TEXT_H

#include "apr.h"

/** Called once, when the text is freed, by whichever thread does that. */
typedef void vault_text_gone_t(apr_uint32_t which, apr_size_t amount);

/** Give the text a capacity of `capacity` bytes. What it holds stays, as far as it fits.
 * @param text  NULL: none yet
 * @return where the text is now; NULL: there is no memory, and the text is as before */
char *vault_text_resize(char *text, apr_size_t capacity);

/** How many bytes it can hold. */
apr_size_t vault_text_capacity(char *text);

/** Free it. NULL does nothing. */
void vault_text_free(void *text);

/** Have `gone` called with these when the text is freed. Once a text. */
void vault_text_on_free(char *text, vault_text_gone_t *gone, apr_uint32_t which, apr_size_t amount);

#endif
