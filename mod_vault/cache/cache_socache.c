/* SPDX-License-Identifier: Apache-2.0 */
/* Which kept responses servers share. */
#include "cache/cache_socache.h"

#include <string.h>

#include "output/output_metadata.h"
#include "server/server.h"
#include "socache/socache.h"

static int is_empty(const apr_array_header_t *list)
{
    return list->nelts == 0;
}

static int can_be_shared(const vault_output_metadata_t *f)
{
    return f->status == HTTP_OK && f->type && !f->made && !f->flags && is_empty(f->files) && is_empty(f->includes) &&
           is_empty(f->request) && is_empty(f->polls) && is_empty(f->id_offsets) && is_empty(f->properties) &&
           is_empty(f->cursors) && is_empty(f->answers);
}

static int can_be_used(const vault_output_packet_t *p, apr_pool_t *pool)
{
    vault_output_metadata_t metadata;

    return vault_metadata_decode(&metadata, p->metadata, p->metadata_size, pool) && can_be_shared(&metadata);
}

int vault_cache_socache_fetch(request_rec *r, const char *shared, const vault_output_lead_t *lead)
{
    vault_output_packet_t p = {.key = shared, .key_size = strlen(shared)};
    vault_output_content_t content = {.metadata = NULL};

    if (!vault_socache_fetch(&p, r->pool) || !can_be_used(&p, r->pool)) {
        return 0;
    }
    content.metadata = p.metadata;
    content.metadata_size = p.metadata_size;
    content.body = p.body;
    content.body_size = p.body_size;
    content.made = p.made;
    content.until = p.until;
    if (vault_output_keep(vault_server->outputs, lead, &content) == APR_SUCCESS) {
        vault_tally(fetched, 1);
    }
    return 1;
}

/* The entry says what the response depends on, with its parts. */
void vault_cache_socache_store(request_rec *r, const char *key, const char *shared, const vault_output_ref_t *ref,
                               const char *body)
{
    vault_output_packet_t packet = {.key = shared, .key_size = strlen(shared), .body = body};
    vault_output_metadata_t metadata;
    vault_output_entry_t entry;

    memset(&entry, 0, sizeof(entry));
    if (vault_outputs_find(vault_server->outputs, key, strlen(key), &entry, r->pool) != VAULT_OUTPUT_ENTRY ||
        entry.ref.number != ref->number || entry.dep_count || !entry.until ||
        !vault_metadata_decode(&metadata, entry.metadata, entry.metadata_size, r->pool) || !can_be_shared(&metadata)) {
        return;
    }
    packet.metadata = entry.metadata;
    packet.metadata_size = entry.metadata_size;
    packet.body_size = entry.body_size;
    packet.made = entry.made;
    packet.until = entry.until;
    vault_socache_store(&packet);
}
