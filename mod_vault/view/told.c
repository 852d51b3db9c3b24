/* SPDX-License-Identifier: Apache-2.0 */
/* Remembers the configuration sections that a warning was logged for. */
#include "view/told.h"

#include "apr_hash.h"
#include "apr_shm.h"
#include "http_config.h"
#include "http_core.h"

/* So many sections at most. */
#define TOLD_MAX 64

static apr_uint64_t own_told[TOLD_MAX], *told = own_told; /* atomic; hashes of the sections that were logged; 0: free */

/* A hash of the configuration section that `r` was handled in; never 0. It is made from the section's name,
 * since an .htaccess file is parsed anew for each request. */
static apr_uint64_t place_of(const request_rec *r)
{
    const core_dir_config *core = r->per_dir_config ? ap_get_core_module_config(r->per_dir_config) : NULL;
    apr_ssize_t length = APR_HASH_KEY_STRING;
    apr_uint64_t name = core && core->d ? apr_hashfunc_default(core->d, &length) : 0;

    return (name << 32 ^ (apr_uint64_t)(apr_uintptr_t)r->server) | 1;
}

int vault_told_before(const request_rec *r)
{
    apr_uint64_t place = place_of(r), there;
    unsigned i;

    for (i = 0; i < TOLD_MAX; i++) {
        there = 0;
        if (__atomic_compare_exchange_n(&told[i], &there, place, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
            return 0;
        }
        if (there == place) {
            return 1;
        }
    }
    return 1;
}

/* The list is shared by the children. Without shared memory each child has its own. */
static int share_told(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    apr_shm_t *shm;

    told = own_told;
    if (apr_shm_create(&shm, sizeof(own_told), NULL, pconf) == APR_SUCCESS) {
        told = memset(apr_shm_baseaddr_get(shm), 0, sizeof(own_told));
    }
    return OK;
}

void vault_told_hooks(void)
{
    ap_hook_post_config(share_told, NULL, NULL, APR_HOOK_MIDDLE);
}
