/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of the block: magic, status, flags; type, format; the lists, each a count and its items; made. base/pack.h
 * says how texts are packed. */
#include "output/output_metadata.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "base/hash.h"
#include "base/pack.h"

#define METADATA_MAGIC 0x76466331u /* "vFc1" */

#define AT(array, type, i) (&((type *)(array)->elts)[i])

void vault_metadata_init(vault_output_metadata_t *metadata, apr_pool_t *pool)
{
    memset(metadata, 0, sizeof(*metadata));
    metadata->status = 200;
    metadata->properties = apr_array_make(pool, 2, sizeof(vault_property_t));
    metadata->cursors = apr_array_make(pool, 2, sizeof(vault_property_t));
    metadata->answers = apr_array_make(pool, 2, sizeof(vault_txn_answer_t));
    metadata->headers = apr_array_make(pool, 4, sizeof(vault_property_t));
    metadata->request = apr_array_make(pool, 1, sizeof(vault_property_t));
    metadata->polls = apr_array_make(pool, 1, sizeof(vault_property_t));
    metadata->files = apr_array_make(pool, 2, sizeof(vault_output_file_t));
    metadata->includes = apr_array_make(pool, 1, sizeof(vault_property_t));
    metadata->id_offsets = apr_array_make(pool, 2, sizeof(apr_uint32_t));
}

/* ------------------------------------------------------------------ writing */

static void put_properties(vault_packer_t *w, const apr_array_header_t *list)
{
    int i;

    vault_pack_pair(w, (apr_uint32_t)list->nelts, 0);
    for (i = 0; i < list->nelts; i++) {
        vault_pack_text(w, AT(list, vault_property_t, i)->key);
        vault_pack_text(w, AT(list, vault_property_t, i)->value);
    }
}

static void put_answers(vault_packer_t *w, const apr_array_header_t *answers)
{
    int i;

    vault_pack_pair(w, (apr_uint32_t)answers->nelts, 0);
    for (i = 0; i < answers->nelts; i++) {
        const vault_txn_answer_t *a = AT(answers, vault_txn_answer_t, i);
        vault_pack_text(w, a->cursor);
        vault_pack_pair(w, a->interest, (apr_uint32_t)a->moved);
        vault_pack_u64(w, a->stamp);
    }
}

static void put_files(vault_packer_t *w, const apr_array_header_t *files)
{
    int i;

    vault_pack_pair(w, (apr_uint32_t)files->nelts, 0);
    for (i = 0; i < files->nelts; i++) {
        const vault_output_file_t *f = AT(files, vault_output_file_t, i);
        vault_pack_text(w, f->path);
        vault_pack_u64(w, f->device);
        vault_pack_u64(w, f->inode);
        vault_pack_u64(w, f->changed);
        vault_pack_u64(w, f->size);
    }
}

static void put_made(vault_packer_t *w, const vault_state_t *made)
{
    apr_size_t size = made ? vault_state_size(made) : 0;

    vault_pack_pair(w, (apr_uint32_t)size, 0);
    if (w->at && made) {
        vault_state_encode(made, w->at + w->size, size);
    }
    w->size += VAULT_PACK_ALIGN(size);
}

static void put_all(vault_packer_t *w, const vault_output_metadata_t *metadata)
{
    int i;

    vault_pack_pair(w, METADATA_MAGIC, metadata->status);
    vault_pack_pair(w, metadata->flags, 0);
    vault_pack_text(w, metadata->type);
    vault_pack_text(w, metadata->format);
    put_properties(w, metadata->properties);
    put_properties(w, metadata->cursors);
    put_answers(w, metadata->answers);
    put_properties(w, metadata->headers);
    put_properties(w, metadata->request);
    put_properties(w, metadata->polls);
    put_files(w, metadata->files);
    put_properties(w, metadata->includes);
    vault_pack_pair(w, (apr_uint32_t)metadata->id_offsets->nelts, 0);
    for (i = 0; i < metadata->id_offsets->nelts; i++) {
        vault_pack_u64(w, *AT(metadata->id_offsets, apr_uint32_t, i));
    }
    put_made(w, metadata->made);
}

const void *vault_metadata_encode(const vault_output_metadata_t *metadata, apr_size_t *size, apr_pool_t *pool)
{
    vault_packer_t w = {NULL, 0};

    put_all(&w, metadata);
    w.at = apr_pcalloc(pool, w.size);
    w.size = 0;
    put_all(&w, metadata);
    *size = w.size;
    return w.at;
}

/* ------------------------------------------------------------------ reading */

static void take_properties(vault_unpacker_t *r, apr_array_header_t *list)
{
    apr_uint32_t n = vault_unpack_pair(r, NULL);

    for (; n && !r->bad; n--) {
        vault_property_t *p = apr_array_push(list);
        p->key = vault_unpack_text(r);
        p->value = vault_unpack_text(r);
        r->bad |= !p->key;
    }
}

static void take_answers(vault_unpacker_t *r, apr_array_header_t *answers)
{
    apr_uint32_t n = vault_unpack_pair(r, NULL), moved;

    for (; n && !r->bad; n--) {
        vault_txn_answer_t *a = apr_array_push(answers);
        a->cursor = vault_unpack_text(r);
        a->interest = vault_unpack_pair(r, &moved);
        a->moved = moved != 0;
        a->stamp = vault_unpack_u64(r);
        r->bad |= !a->cursor;
    }
}

static void take_files(vault_unpacker_t *r, apr_array_header_t *files)
{
    apr_uint32_t n = vault_unpack_pair(r, NULL);

    for (; n && !r->bad; n--) {
        vault_output_file_t *f = apr_array_push(files);
        f->path = vault_unpack_text(r);
        f->device = vault_unpack_u64(r);
        f->inode = vault_unpack_u64(r);
        f->changed = vault_unpack_u64(r);
        f->size = vault_unpack_u64(r);
        r->bad |= !f->path;
    }
}

static void take_offsets(vault_unpacker_t *r, apr_array_header_t *id_offsets)
{
    apr_uint32_t n = vault_unpack_pair(r, NULL);

    for (; n && !r->bad; n--) {
        *(apr_uint32_t *)apr_array_push(id_offsets) = (apr_uint32_t)vault_unpack_u64(r);
    }
}

static const vault_state_t *take_made(vault_unpacker_t *r, apr_pool_t *pool)
{
    apr_uint32_t size = vault_unpack_pair(r, NULL);
    const char *at = vault_unpack_bytes(r, VAULT_PACK_ALIGN(size));
    const vault_state_t *made = at && size ? vault_state_decode(at, size, pool) : NULL;

    r->bad |= size && !made;
    return made;
}

int vault_metadata_decode(vault_output_metadata_t *metadata, const void *block, apr_size_t size, apr_pool_t *pool)
{
    vault_unpacker_t r = {block, size, 0};

    vault_metadata_init(metadata, pool);
    r.bad = vault_unpack_pair(&r, &metadata->status) != METADATA_MAGIC;
    metadata->flags = vault_unpack_pair(&r, NULL);
    metadata->type = vault_unpack_text(&r);
    metadata->format = vault_unpack_text(&r);
    take_properties(&r, metadata->properties);
    take_properties(&r, metadata->cursors);
    take_answers(&r, metadata->answers);
    take_properties(&r, metadata->headers);
    take_properties(&r, metadata->request);
    take_properties(&r, metadata->polls);
    take_files(&r, metadata->files);
    take_properties(&r, metadata->includes);
    take_offsets(&r, metadata->id_offsets);
    metadata->made = take_made(&r, pool);
    return !r.bad && !r.left;
}

/* -------------------------------------------------------------------- reads */

void vault_metadata_add_read(apr_array_header_t *list, const char *key, const char *value)
{
    vault_property_t *p;
    int i;

    for (i = 0; i < list->nelts; i++) {
        if (!strcmp(AT(list, vault_property_t, i)->key, key)) {
            return;
        }
    }
    p = apr_array_push(list);
    p->key = apr_pstrdup(list->pool, key);
    p->value = value ? apr_pstrdup(list->pool, value) : NULL;
}

const char *vault_metadata_cursor(const vault_cursor_t *cursor, apr_pool_t *pool)
{
    return !cursor ? NULL : !cursor->value ? "" : apr_pstrcat(pool, "=", cursor->value, NULL);
}

static apr_uint64_t hash_of(apr_uint64_t hash, const char *text)
{
    return vault_hash(hash, text ? text : "", text ? strlen(text) + 1 : 0);
}

/* A sum, so that the hash does not depend on the order of the list. */
static apr_uint64_t hash_properties(apr_uint64_t seed, const apr_array_header_t *list)
{
    apr_uint64_t sum = 0;
    int i;

    for (i = 0; i < list->nelts; i++) {
        const vault_property_t *p = AT(list, vault_property_t, i);
        sum += hash_of(hash_of(seed, p->key), p->value);
    }
    return sum;
}

apr_uint64_t vault_metadata_vary_hash(const apr_array_header_t *list, apr_uint64_t seed)
{
    return hash_properties(seed + 3, list);
}

static int same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static int compare_properties(const void *a, const void *b)
{
    return strcmp(((const vault_property_t *)a)->key, ((const vault_property_t *)b)->key);
}

/* The lengths make the text unambiguous. */
const char *vault_metadata_all_properties(const vault_state_t *base, apr_pool_t *pool)
{
    apr_array_header_t *sorted = apr_array_copy(pool, base->properties);
    apr_array_header_t *parts = apr_array_make(pool, sorted->nelts, sizeof(const char *));
    int i;

    qsort(sorted->elts, (apr_size_t)sorted->nelts, sizeof(vault_property_t), compare_properties);
    for (i = 0; i < sorted->nelts; i++) {
        const vault_property_t *p = AT(sorted, vault_property_t, i);
        APR_ARRAY_PUSH(parts, const char *) =
            apr_psprintf(pool, "%" APR_SIZE_T_FMT ":%s%" APR_SIZE_T_FMT ":%s", strlen(p->key), p->key,
                         p->value ? strlen(p->value) : 0, p->value ? p->value : "");
    }
    return apr_array_pstrcat(pool, parts, 0);
}

static const char *property_of(const vault_page_txn_t *txn, const char *key, apr_pool_t *pool)
{
    const vault_property_t *p = vault_state_property(vault_page_txn_base(txn), key);

    return !key[0] ? vault_metadata_all_properties(vault_page_txn_base(txn), pool) : p ? p->value : NULL;
}

static const char *cursor_of(const vault_page_txn_t *txn, const char *key, apr_pool_t *pool)
{
    return key[0]                         ? vault_metadata_cursor(vault_page_txn_committed(txn, key), pool)
           : vault_page_txn_is_first(txn) ? ""
                                          : NULL;
}

int vault_metadata_matches(const vault_output_metadata_t *metadata, const vault_page_txn_t *txn, apr_pool_t *pool)
{
    int i;

    for (i = 0; i < metadata->properties->nelts; i++) {
        const vault_property_t *read = AT(metadata->properties, vault_property_t, i);
        if (!same(read->value, property_of(txn, read->key, pool))) {
            return 0;
        }
    }
    for (i = 0; i < metadata->cursors->nelts; i++) {
        const vault_property_t *read = AT(metadata->cursors, vault_property_t, i);
        if (!same(read->value, cursor_of(txn, read->key, pool))) {
            return 0;
        }
    }
    for (i = 0; i < metadata->answers->nelts; i++) {
        const vault_txn_answer_t *a = AT(metadata->answers, vault_txn_answer_t, i);
        if (vault_page_txn_has_moved(txn, a->cursor, a->interest, a->stamp) != a->moved) {
            return 0;
        }
    }
    return 1;
}

apr_uint64_t vault_metadata_page_hash(const vault_page_txn_t *txn, apr_uint64_t seed)
{
    const vault_state_t *base = vault_page_txn_base(txn);
    const char *url = vault_page_txn_url(txn);
    apr_uint64_t sum = hash_properties(seed + 1, base->properties);
    int i;

    for (i = 0; i < base->cursors->nelts; i++) {
        const vault_cursor_t *c = AT(base->cursors, vault_cursor_t, i);
        if (!strcmp(c->scope, url) || (!c->scope[0] && !vault_state_cursor(base, url, c->key))) {
            sum += hash_of(hash_of(seed + 2, c->key), c->value);
        }
    }
    return sum;
}

/* -------------------------------------------------------------------- files */

static vault_output_file_t describe(const char *path, const apr_finfo_t *finfo)
{
    vault_output_file_t f = {.path = path};

    if (finfo) {
        f.device = (apr_uint64_t)finfo->device;
        f.inode = (apr_uint64_t)finfo->inode;
        f.changed = (apr_uint64_t)finfo->ctime;
        f.size = (apr_uint64_t)finfo->size;
    }
    return f;
}

void vault_metadata_add_file(vault_output_metadata_t *metadata, const char *path, const apr_finfo_t *finfo,
                             apr_pool_t *pool)
{
    int i;

    for (i = 0; i < metadata->files->nelts; i++) {
        if (!strcmp(AT(metadata->files, vault_output_file_t, i)->path, path)) {
            return;
        }
    }
    *(vault_output_file_t *)apr_array_push(metadata->files) = describe(apr_pstrdup(pool, path), finfo);
}

/* Linux sets the time of a change by a clock that ticks every 1 to 10 ms. A file system that counts whole seconds, or
 * two, shows times without a fraction. */
int vault_metadata_is_racy(apr_time_t changed, apr_time_t checked_at)
{
    apr_time_t tick = changed % APR_USEC_PER_SEC ? apr_time_from_msec(20) : apr_time_from_sec(2);

    return changed > checked_at - tick;
}

int vault_metadata_files_match(const vault_output_metadata_t *metadata, apr_pool_t *pool)
{
    apr_finfo_t finfo;
    int i;

    for (i = 0; i < metadata->files->nelts; i++) {
        const vault_output_file_t *was = AT(metadata->files, vault_output_file_t, i);
        apr_status_t rv = apr_stat(&finfo, was->path, VAULT_METADATA_STAT, pool);
        vault_output_file_t is = describe(was->path, rv == APR_SUCCESS ? &finfo : NULL);
        if (is.device != was->device || is.inode != was->inode || is.changed != was->changed || is.size != was->size) {
            return 0;
        }
    }
    return 1;
}
