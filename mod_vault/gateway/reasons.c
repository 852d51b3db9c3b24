/* SPDX-License-Identifier: Apache-2.0 */
/* The reasons that the log has named lately. */
#include "gateway/reasons.h"

#define FORGET_AFTER apr_time_from_sec(60)

int vault_reasons_add(vault_reasons_t *reasons, apr_uint64_t hash, apr_time_t now)
{
    unsigned i;

    if (now - reasons->since > FORGET_AFTER) {
        reasons->count = 0;
    }
    for (i = 0; i < reasons->count; i++) {
        if (reasons->hashes[i] == hash) {
            return 0;
        }
    }
    if (i == sizeof(reasons->hashes) / sizeof(reasons->hashes[0])) {
        return 0;
    }
    reasons->since = i ? reasons->since : now;
    reasons->hashes[reasons->count++] = hash;
    return 1;
}
