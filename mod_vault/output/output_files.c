/* SPDX-License-Identifier: Apache-2.0 */
/* The files of bodies that are too large for memory. A file has the index and the number of its entry in its name, is
 * written under a temporary name, and is renamed when it is whole. */
#include "output/output_table.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#define PREFIX "vault-output-"
#define PARTIAL ".part"

static const char *const suffix[VAULT_OUTPUT_FORMS] = {"plain", "gz", "br"};

static char *name_of(const vault_outputs_t *o, const vault_output_ref_t *ref, unsigned form, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%s/" PREFIX "%x-%" APR_UINT64_T_HEX_FMT ".%s", o->limits.root, ref->index, ref->number,
                        suffix[form]);
}

static apr_status_t write_text(const char *name, const char *text, apr_size_t size, apr_pool_t *pool)
{
    apr_file_t *file;
    apr_status_t rv, closed;

    rv = apr_file_open(&file, name, APR_FOPEN_WRITE | APR_FOPEN_CREATE | APR_FOPEN_EXCL | APR_FOPEN_BINARY,
                       APR_FPROT_UREAD | APR_FPROT_UWRITE, pool);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = apr_file_write_full(file, text, size, NULL);
    closed = apr_file_close(file);
    return rv != APR_SUCCESS ? rv : closed;
}

apr_status_t output_file_write(vault_outputs_t *o, const vault_output_ref_t *ref, vault_output_form_t form,
                               const char *text, apr_size_t size)
{
    apr_pool_t *pool;
    const char *name, *partial;
    apr_status_t rv = apr_pool_create(&pool, NULL);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    name = name_of(o, ref, form, pool);
    partial = apr_pstrcat(pool, name, PARTIAL, NULL);
    apr_file_remove(partial, pool); /* left by a child that was killed while it wrote this form */
    rv = write_text(partial, text, size, pool);
    if (rv == APR_SUCCESS) {
        rv = apr_file_rename(partial, name, pool);
    }
    if (rv != APR_SUCCESS) {
        apr_file_remove(partial, pool);
        output_store(&o->table->write_error, rv);
        __atomic_add_fetch(&o->table->write_errors, 1, __ATOMIC_SEQ_CST);
    }
    apr_pool_destroy(pool);
    return rv;
}

apr_uint64_t vault_outputs_write_errors(vault_outputs_t *o, apr_status_t *why)
{
    apr_uint64_t errors = output_load(&o->table->write_errors);

    *why = output_load(&o->table->write_error);
    return errors - __atomic_exchange_n(&o->table->errors_reported, errors, __ATOMIC_SEQ_CST);
}

apr_status_t output_file_open(const vault_outputs_t *o, const vault_output_ref_t *ref, vault_output_form_t form,
                              apr_uint64_t size, apr_file_t **file, apr_pool_t *pool)
{
    apr_finfo_t info;
    apr_status_t rv = o->limits.root ? apr_file_open(file, name_of(o, ref, form, pool),
                                                     APR_FOPEN_READ | APR_FOPEN_BINARY | APR_FOPEN_SENDFILE_ENABLED,
                                                     APR_FPROT_OS_DEFAULT, pool)
                                     : APR_NOTFOUND;

    if (rv == APR_SUCCESS &&
        (apr_file_info_get(&info, APR_FINFO_SIZE, *file) != APR_SUCCESS || (apr_uint64_t)info.size != size)) {
        apr_file_close(*file);
        rv = APR_NOTFOUND;
    }
    if (rv != APR_SUCCESS) {
        *file = NULL;
    }
    return APR_STATUS_IS_ENOENT(rv) ? APR_NOTFOUND : rv;
}

void output_file_remove(const vault_outputs_t *o, const vault_output_ref_t *ref, unsigned forms)
{
    apr_pool_t *pool;
    unsigned form;

    if (!forms || !o->limits.root || apr_pool_create(&pool, NULL) != APR_SUCCESS) {
        return;
    }
    for (form = 0; form < VAULT_OUTPUT_FORMS; form++) {
        if (forms & 1u << form) {
            const char *name = name_of(o, ref, form, pool);

            apr_file_remove(name, pool);
            apr_file_remove(apr_pstrcat(pool, name, PARTIAL, NULL), pool);
        }
    }
    apr_pool_destroy(pool);
}

/* -------------------------------------------------------------------- clean */

/* Parses the name of a file of the store. @return 0: the file is not of the store */
static int parse_name(const char *name, vault_output_ref_t *ref)
{
    char *end = NULL;
    apr_uint64_t index;
    unsigned form;

    if (strncmp(name, PREFIX, strlen(PREFIX))) {
        return 0;
    }
    index = strtoull(name + strlen(PREFIX), &end, 16);
    if (*end != '-' || index > APR_UINT32_MAX) {
        return 0;
    }
    ref->index = (apr_uint32_t)index;
    ref->number = strtoull(end + 1, &end, 16);
    for (form = 0; *end == '.' && form < VAULT_OUTPUT_FORMS; form++) {
        apr_size_t length = strlen(suffix[form]);

        if (!strncmp(end + 1, suffix[form], length) && (!end[1 + length] || !strcmp(end + 1 + length, PARTIAL))) {
            return 1;
        }
    }
    return 0;
}

static int has_entry(const vault_outputs_t *o, const vault_output_ref_t *ref)
{
    const output_record_t *rec = output_at(o, ref->index);

    return rec && output_number(rec) == ref->number && output_state(rec) != OUTPUT_FREE;
}

apr_status_t output_files_remove_orphans(const vault_outputs_t *o)
{
    apr_pool_t *pool;
    apr_dir_t *dir;
    apr_finfo_t info;
    vault_output_ref_t ref;
    apr_status_t rv = o->limits.root ? apr_pool_create(&pool, NULL) : APR_SUCCESS;

    if (!o->limits.root || rv != APR_SUCCESS) {
        return rv;
    }
    rv = apr_dir_open(&dir, o->limits.root, pool);
    while (rv == APR_SUCCESS && apr_dir_read(&info, APR_FINFO_NAME, dir) == APR_SUCCESS) {
        if (parse_name(info.name, &ref) && !has_entry(o, &ref)) {
            apr_file_remove(apr_pstrcat(pool, o->limits.root, "/", info.name, NULL), pool);
        }
    }
    apr_pool_destroy(pool);
    return rv;
}
