/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file text.h
 * Memory for text that grows while it is written, and then waits for a client that may read slowly.
 *
 * The module maps a long text with mmap(), so that its memory returns to the operating system when the text is freed.
 * malloc() would keep that memory: after the first free() of a long block, glibc raises its mmap threshold, and
 * allocates later blocks of that size from the arenas of its threads.
 *
 * A text belongs to one thread at a time. Any thread may free it.
 */
#ifndef VAULT_TEXT_H
#define VAULT_TEXT_H

#include "apr.h"

/** Called once, when the text is freed, by whichever thread does that. */
typedef void vault_text_gone_t(apr_uint32_t which, apr_size_t amount);

/** Change the capacity of the text to `capacity` bytes. Keeps its content up to that length.
 * @param text  NULL: allocate a new text
 * @return the text, which may have moved; NULL: out of memory, and the old text is unchanged */
char *vault_text_resize(char *text, apr_size_t capacity);

/** The capacity in bytes. */
apr_size_t vault_text_capacity(char *text);

/** Free the text. NULL is allowed. */
void vault_text_free(void *text);

/** Have `gone` called with these arguments when the text is freed. At most once for each text. */
void vault_text_on_free(char *text, vault_text_gone_t *gone, apr_uint32_t which, apr_size_t amount);

#endif
