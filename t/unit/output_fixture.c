/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture of tests of the output store. */
#include "output_fixture.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apr_file_io.h"
#include "apr_strings.h"

#include "base/now.h"

#define INTERESTS 600
#define SLOTS 8

static void set_limits(store_t *s, const vault_output_limits_t *limits)
{
    s->limits = *limits;
    s->limits.memory = limits->memory ? limits->memory : 1024 * 1024;
    s->limits.entries = limits->entries ? limits->entries : 64;
    s->limits.memory_max = limits->memory_max ? limits->memory_max : 8 * 1024;
    if (limits->files) {
        strcpy(s->root, "/tmp/vault-unit-XXXXXX");
        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(s->root));
        s->limits.root = s->root;
    }
}

void store_begin(store_t *s, const vault_output_limits_t *limits)
{
    vault_limits_t of_segment = {0, INTERESTS, 1, SLOTS, 0};
    fixture_t *f = &s->f;
    unsigned i;

    memset(s, 0, sizeof(*s));
    set_limits(s, limits);
    of_segment.size = vault_notifier_space(&of_segment) + vault_outputs_space(&s->limits) + 128 * 1024;
    CU_ASSERT_FATAL(apr_pool_create(&f->pool, NULL) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_segment_create(&f->segment, &of_segment, f->pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_notifier_create(&f->notifier, f->segment, f->pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_outputs_create(&s->o, f->segment, f->notifier, &s->limits, f->pool) == APR_SUCCESS);
    CU_ASSERT(vault_segment_left(f->segment) >= 128 * 1024);
    for (i = 1; i <= 2; i++) {
        CU_ASSERT_FATAL(vault_slot_claim(f->notifier, (pid_t)(CHILD + i - 1), &s->slot[i]) == APR_SUCCESS);
    }
    vault_outputs_set_slot(s->o, s->slot[1]);
}

void store_sound(store_t *s, unsigned line, const char *file)
{
    fixture_sound(vault_outputs_check(s->o), line, file);
    fixture_sound(vault_notifier_check(s->f.notifier), line, file);
}

void store_end(store_t *s)
{
    vault_output_totals_t totals;

    CHECK_STORE(s);
    vault_outputs_drop(s->o, NULL);
    totals = store_totals(s);
    CU_ASSERT_EQUAL(totals.entries + totals.making, 0);
    CU_ASSERT_EQUAL(totals.memory, 0);
    CU_ASSERT_EQUAL(totals.files, 0);
    CU_ASSERT_EQUAL(vault_interest_count(s->f.notifier), 0);
    CU_ASSERT_EQUAL(store_files(s), 0);
    CHECK_STORE(s);
    store_remove_folder(s);
    fixture_end(&s->f);
}

void store_remove_folder(store_t *s)
{
    CU_ASSERT(!s->root[0] || rmdir(s->root) == 0);
}

apr_status_t store_lead(store_t *s, const char *key, apr_uint64_t variant, vault_output_lead_t *lead)
{
    return vault_output_lead(s->o, key, strlen(key), variant, s->slot[1], lead);
}

apr_status_t store_keep(store_t *s, const vault_output_lead_t *lead, const char *body)
{
    apr_size_t size = strlen(body);
    vault_output_content_t content = {
        .metadata = &size, .metadata_size = sizeof(size), .body = body, .body_size = size};

    return vault_output_keep(s->o, lead, &content);
}

void store_make(store_t *s, const char *key, apr_uint64_t variant, const char *interest, const char *body)
{
    vault_output_lead_t lead;

    CU_ASSERT_FATAL(store_lead(s, key, variant, &lead) == APR_SUCCESS);
    if (interest) {
        CU_ASSERT_FATAL(vault_output_hold(s->o, &lead, interest) == APR_SUCCESS);
    }
    CU_ASSERT_FATAL(store_keep(s, &lead, body) == APR_SUCCESS);
}

int store_find(store_t *s, const char *key, vault_output_entry_t *entry)
{
    memset(entry, 0, sizeof(*entry));
    return vault_outputs_find(s->o, key, strlen(key), entry, s->f.pool) == VAULT_OUTPUT_ENTRY;
}

const char *store_read(store_t *s, const char *key)
{
    vault_output_entry_t entry;
    vault_output_body_t body;
    char *text;

    if (!store_find(s, key, &entry) ||
        vault_output_body(s->o, &entry, VAULT_OUTPUT_PLAIN, &body, s->f.pool) != APR_SUCCESS) {
        return NULL;
    }
    text = apr_pcalloc(s->f.pool, body.size + 1);
    if (body.text) {
        memcpy(text, body.text, body.size);
    }
    else if (apr_file_read_full(body.file, text, body.size, NULL) != APR_SUCCESS) {
        return NULL;
    }
    return text;
}

int store_is_current(store_t *s, const char *key)
{
    vault_output_entry_t entry;

    return store_find(s, key, &entry) && vault_output_is_current(s->o, &entry, vault_now());
}

vault_output_totals_t store_totals(store_t *s)
{
    vault_output_totals_t totals;

    vault_outputs_totals(s->o, &totals);
    return totals;
}

unsigned store_files(store_t *s)
{
    apr_dir_t *dir;
    apr_finfo_t info;
    unsigned count = 0;

    if (!s->root[0] || apr_dir_open(&dir, s->root, s->f.pool) != APR_SUCCESS) {
        return 0;
    }
    while (apr_dir_read(&info, APR_FINFO_NAME, dir) == APR_SUCCESS) {
        count += strcmp(info.name, ".") && strcmp(info.name, "..");
    }
    apr_dir_close(dir);
    return count;
}

char *store_text(store_t *s, apr_size_t size, char c)
{
    char *text = apr_palloc(s->f.pool, size + 1);

    memset(text, c, size);
    text[size] = '\0';
    return text;
}
