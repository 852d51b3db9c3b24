/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file store.h
 * What mod_vault needs of a store such as Redis, to keep pages where several servers find them (VaultPageStore).
 *
 * A module registers a store with httpd's providers, under the first word of the directive's value:
 *
 *     ap_register_provider(pool, VAULT_STORE_GROUP, "redis", VAULT_STORE_VERSION, &store);
 *
 * An entry of the store has a key, a block of bytes, and two numbers: the fence, which says who owns it, and the
 * version of the block. The store compares and changes them in one step: only this prevents two servers from owning
 * one entry. An entry expires when its time is over. The store may forget entries.
 *
 * A link is one connection. Its functions block, at most for the time that open() was given. After any status other
 * than those listed, the link is closed.
 *
 * Threads: a link is used by one thread at a time. These are threads of a child process that run handlers.
 */
#ifndef VAULT_STORE_H
#define VAULT_STORE_H

#include "apr_pools.h"
#include "apr_time.h"

/** For ap_lookup_provider() and ap_register_provider(). */
#define VAULT_STORE_GROUP "vault-store"
#define VAULT_STORE_VERSION "0"

typedef struct vault_store_link_t vault_store_link_t; /**< one connection; defined by the store */

/** What an entry has. */
typedef struct vault_stored_t {
    apr_uint64_t fence;   /**< less than 2^53 */
    apr_uint64_t version; /**< of the data, under this fence; less than 2^53 */
    const char *data;     /**< in the pool of the call */
    apr_size_t size;
} vault_stored_t;

/** Where the store is. The strings live as long as the configuration. */
typedef struct vault_store_options_t {
    const char *address;  /**< what follows the first colon in VaultPageStore */
    const char *password; /**< of VaultPageStorePasswordFile; NULL: none */
} vault_store_options_t;

typedef struct vault_store_t {
    apr_size_t size; /**< of this struct */

    /** Can these be used? Called when the configuration is read. @return NULL; else half a sentence: what is
     * accepted */
    const char *(*check)(const vault_store_options_t *options, apr_pool_t *pool);

    /** Connect.
     * @param within  how long this call, and each later one on the link, may block
     * @return APR_SUCCESS; APR_EACCES: the store refuses the user or the password; or why not. Then there is no link
     * to close */
    apr_status_t (*open)(vault_store_link_t **link, const vault_store_options_t *options, apr_interval_time_t within);
    void (*close)(vault_store_link_t *link);

    /** Read an entry, unless its fence is the one that is known. Its time lasts `lasts` from now, if it would end
     * earlier.
     * @return APR_SUCCESS   `found` is set
     *         APR_EEXIST    the entry has the fence that is known
     *         APR_NOTFOUND  there is no such entry */
    apr_status_t (*read)(vault_store_link_t *link, const char *key, apr_uint64_t known, apr_interval_time_t lasts,
                         vault_stored_t *found, apr_pool_t *pool);

    /** Change the fence of an entry, if it still has the fence and the version of `from`, which was read before. Its
     * version is 0 then.
     * @return APR_SUCCESS       done
     *         APR_ECONNABORTED  the entry was changed since, or does not exist */
    apr_status_t (*claim)(vault_store_link_t *link, const char *key, const vault_stored_t *from, apr_uint64_t to);

    /** Write a version of an entry, with its fence. An entry that does not exist is created. A version that is not
     * newer than what is there is not written, which is a success.
     * @return APR_SUCCESS       the entry has this version or a newer one
     *         APR_ECONNABORTED  the entry has another fence */
    apr_status_t (*write)(vault_store_link_t *link, const char *key, const vault_stored_t *what,
                          apr_interval_time_t lasts);
} vault_store_t;

#endif
