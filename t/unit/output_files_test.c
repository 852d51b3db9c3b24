/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the bodies of the output store that are in files, and of the compressed forms of a body. */
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "apr_strings.h"

#include "base/now.h"
#include "output_fixture.h"
#include "unit.h"

#define DEFAULTS (&(vault_output_limits_t){0})
#define WITH_FILES (&(vault_output_limits_t){.memory_max = 100, .files = 3000})

static void a_large_body_is_in_a_file(void)
{
    store_t s;
    vault_output_entry_t entry;
    vault_output_body_t body;
    char *text;

    store_begin(&s, WITH_FILES);
    text = store_text(&s, 1000, 'f');
    store_make(&s, "k", 0, "x", text);
    CU_ASSERT_STRING_EQUAL(store_read(&s, "k"), text);
    CU_ASSERT_FATAL(store_find(&s, "k", &entry) && entry.body_size == 1000);
    CU_ASSERT_EQUAL(vault_output_body(s.o, &entry, VAULT_OUTPUT_PLAIN, &body, s.f.pool), APR_SUCCESS);
    CU_ASSERT(body.file && !body.text && body.size == 1000);
    CU_ASSERT_EQUAL(store_files(&s), 1);
    CU_ASSERT_EQUAL(store_totals(&s).files, 1000);
    store_make(&s, "k", 0, "x", store_text(&s, 100, 'm')); /* as large as fits into memory */
    CU_ASSERT_EQUAL(store_files(&s), 0);
    CU_ASSERT_EQUAL(store_totals(&s).files, 0);
    CU_ASSERT_EQUAL(vault_output_body(s.o, &entry, VAULT_OUTPUT_PLAIN, &body, s.f.pool), APR_NOTFOUND);
    store_end(&s);
}

static void files_have_a_limit(void)
{
    store_t s;
    vault_output_lead_t lead;

    store_begin(&s, WITH_FILES);
    store_make(&s, "a", 0, NULL, store_text(&s, 1000, 'a'));
    store_make(&s, "in memory", 0, NULL, "m");
    store_make(&s, "b", 0, NULL, store_text(&s, 1000, 'b'));
    store_make(&s, "c", 0, NULL, store_text(&s, 1000, 'c'));
    CU_ASSERT_EQUAL(store_files(&s), 3);
    store_make(&s, "d", 0, NULL, store_text(&s, 1001, 'd'));
    CU_ASSERT_EQUAL(store_files(&s), 2);
    CU_ASSERT(!store_read(&s, "a") && !store_read(&s, "b") && store_read(&s, "c"));
    CU_ASSERT_STRING_EQUAL(store_read(&s, "in memory"), "m");
    CU_ASSERT_EQUAL(store_lead(&s, "e", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, store_text(&s, 3001, 'e')), APR_ENOSPC);
    CU_ASSERT(store_read(&s, "c") && store_read(&s, "d"));
    store_end(&s);
}

/* A limit of the process stands for a full disk: a part is written, then no more. */
static void a_full_disk_leaves_nothing(void)
{
    struct rlimit before, small;
    store_t s;
    vault_output_lead_t lead;
    apr_status_t rv;
    char *text;

    store_begin(&s, WITH_FILES);
    text = store_text(&s, 2000, 'f');
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "x"), APR_SUCCESS);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 1500;
    setrlimit(RLIMIT_FSIZE, &small);
    rv = store_keep(&s, &lead, text);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    CU_ASSERT_EQUAL(rv, APR_ENOSPC);
    CU_ASSERT_EQUAL(store_files(&s), 0);
    CU_ASSERT_EQUAL(store_totals(&s).files, 0);
    CU_ASSERT_EQUAL(store_totals(&s).write_errors, 1);
    CU_ASSERT_NOT_EQUAL(store_totals(&s).write_error, APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_outputs_write_errors(s.o, &rv), 1);
    CU_ASSERT_NOT_EQUAL(rv, APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_outputs_write_errors(s.o, &rv), 0);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 0);
    CU_ASSERT_PTR_NULL(store_read(&s, "k"));
    store_make(&s, "k", 0, NULL, text);
    CU_ASSERT_STRING_EQUAL(store_read(&s, "k"), text);
    store_end(&s);
}

static void put_file(store_t *s, const char *name, const char *text)
{
    apr_file_t *file;
    apr_size_t size = strlen(text);

    CU_ASSERT_FATAL(apr_file_open(&file, apr_pstrcat(s->f.pool, s->root, "/", name, NULL),
                                  APR_FOPEN_WRITE | APR_FOPEN_CREATE | APR_FOPEN_TRUNCATE, APR_FPROT_OS_DEFAULT,
                                  s->f.pool) == APR_SUCCESS);
    CU_ASSERT_EQUAL(apr_file_write_full(file, text, size, NULL), APR_SUCCESS);
    apr_file_close(file);
}

/* What another program has in the folder stays. */
static void only_files_of_the_store_are_removed(void)
{
    static const char *const own[] = {"vault-output-1-1.plain", "vault-output-ff-2a.gz", "vault-output-3-4.br.part"};
    static const char *const others[] = {"vault-output-", "vault-output-1-1.txt", "vault-output-1-1.plain.partial",
                                         "vault-output-1", "index.html"};
    store_t s;
    vault_outputs_t *again;
    unsigned i, slot;

    store_begin(&s, WITH_FILES);
    store_make(&s, "k", 0, NULL, store_text(&s, 1000, 'k'));
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        put_file(&s, others[i], "kept");
    }
    put_file(&s, "vault-output-3f-1.plain", "left by a killed child");
    CU_ASSERT_EQUAL(store_files(&s), 7);
    vault_outputs_sweep(s.o, vault_now(), 0);
    CU_ASSERT_EQUAL(store_files(&s), 7); /* no child was killed */
    CU_ASSERT_EQUAL(vault_slot_exited(s.f.notifier, CHILD + 1, &slot), 1);
    vault_outputs_sweep(s.o, vault_now() + apr_time_from_sec(1), 0);
    CU_ASSERT_EQUAL(store_files(&s), 6);
    CU_ASSERT_PTR_NOT_NULL(store_read(&s, "k"));
    vault_outputs_drop(s.o, NULL);
    CU_ASSERT_EQUAL(store_files(&s), 5);
    for (i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        put_file(&s, own[i], "of an earlier server");
    }
    s.limits.memory = 16384;
    s.limits.entries = 1;
    CU_ASSERT_EQUAL(vault_outputs_create(&again, s.f.segment, s.f.notifier, &s.limits, s.f.pool), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_files(&s), 5);
    for (i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        CU_ASSERT_EQUAL(apr_file_remove(apr_pstrcat(s.f.pool, s.root, "/", others[i], NULL), s.f.pool), APR_SUCCESS);
    }
    store_end(&s);
}

static void a_file_that_is_not_whole_is_not_read(void)
{
    store_t s;
    vault_output_lead_t lead;
    char name[64];

    store_begin(&s, WITH_FILES);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, store_text(&s, 1000, 'k')), APR_SUCCESS);
    apr_snprintf(name, sizeof(name), "vault-output-%x-%" APR_UINT64_T_HEX_FMT ".plain", lead.ref.index,
                 lead.ref.number);
    put_file(&s, name, "cut by a full disk or by hand");
    CU_ASSERT_PTR_NULL(store_read(&s, "k"));
    apr_file_remove(apr_pstrcat(s.f.pool, s.root, "/", name, NULL), s.f.pool);
    CU_ASSERT_PTR_NULL(store_read(&s, "k"));
    store_end(&s);
}

/* --------------------------------------------------------------------- forms */

static const char *read_form(store_t *s, const vault_output_entry_t *entry, vault_output_form_t form)
{
    vault_output_body_t body;
    char *text;

    if (vault_output_body(s->o, entry, form, &body, s->f.pool) != APR_SUCCESS) {
        return NULL;
    }
    text = apr_pcalloc(s->f.pool, body.size + 1);
    if (body.text) {
        memcpy(text, body.text, body.size);
    }
    else {
        CU_ASSERT_EQUAL(apr_file_read_full(body.file, text, body.size, NULL), APR_SUCCESS);
    }
    return text;
}

static void a_form_is_made_once(void)
{
    store_t s;
    vault_output_entry_t entry;

    store_begin(&s, DEFAULTS);
    store_make(&s, "k", 0, NULL, "body");
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_PLAIN), 0);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_FORMS), 0);
    vault_output_add_form(s.o, &entry, VAULT_OUTPUT_GZIP, "not claimed", 11);
    CU_ASSERT_PTR_NULL(read_form(&s, &entry, VAULT_OUTPUT_GZIP));
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_GZIP), 1);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_GZIP), 0);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_BROTLI), 1);
    CU_ASSERT_PTR_NULL(read_form(&s, &entry, VAULT_OUTPUT_GZIP));
    vault_output_add_form(s.o, &entry, VAULT_OUTPUT_GZIP, "gz", 2);
    vault_output_add_form(s.o, &entry, VAULT_OUTPUT_BROTLI, NULL, 0);
    CU_ASSERT_STRING_EQUAL(read_form(&s, &entry, VAULT_OUTPUT_GZIP), "gz");
    CU_ASSERT_PTR_NULL(read_form(&s, &entry, VAULT_OUTPUT_BROTLI));
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_BROTLI), 0);
    CU_ASSERT_STRING_EQUAL(read_form(&s, &entry, VAULT_OUTPUT_PLAIN), "body");
    vault_outputs_drop(s.o, NULL);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_GZIP), 0);
    vault_output_add_form(s.o, &entry, VAULT_OUTPUT_GZIP, "gz", 2);
    store_end(&s);
}

static unsigned bits(vault_output_form_t a, vault_output_form_t b)
{
    return VAULT_OUTPUT_FORM_BIT(a) | VAULT_OUTPUT_FORM_BIT(b);
}

static void an_entry_says_which_forms_it_has(void)
{
    store_t s;
    vault_output_entry_t entry;

    store_begin(&s, DEFAULTS);
    store_make(&s, "k", 0, NULL, "body");
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    CU_ASSERT(entry.forms == VAULT_OUTPUT_FORM_BIT(VAULT_OUTPUT_PLAIN) && !entry.refused);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_GZIP), 1);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_BROTLI), 1);
    vault_output_abandon_form(s.o, &entry, VAULT_OUTPUT_GZIP);
    vault_output_abandon_form(s.o, &entry, VAULT_OUTPUT_PLAIN);
    vault_output_add_form(s.o, &entry, VAULT_OUTPUT_GZIP, "gz", 2); /* it has no claim any more */
    vault_output_add_form(s.o, &entry, VAULT_OUTPUT_BROTLI, NULL, 0);
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    CU_ASSERT_EQUAL(entry.forms, VAULT_OUTPUT_FORM_BIT(VAULT_OUTPUT_PLAIN));
    CU_ASSERT_EQUAL(entry.refused, VAULT_OUTPUT_FORM_BIT(VAULT_OUTPUT_BROTLI));
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_GZIP), 1);
    vault_output_add_form(s.o, &entry, VAULT_OUTPUT_GZIP, "gz", 2);
    vault_output_abandon_form(s.o, &entry, VAULT_OUTPUT_GZIP); /* what was made stays */
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    CU_ASSERT_EQUAL(entry.forms, bits(VAULT_OUTPUT_PLAIN, VAULT_OUTPUT_GZIP));
    CU_ASSERT_STRING_EQUAL(read_form(&s, &entry, VAULT_OUTPUT_GZIP), "gz");
    store_end(&s);
}

static void a_claim_ends_with_its_child(void)
{
    store_t s;
    vault_output_entry_t entry;
    unsigned slot;

    store_begin(&s, DEFAULTS);
    store_make(&s, "k", 0, NULL, "body");
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    vault_outputs_set_slot(s.o, 0);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_GZIP), 0); /* its end would not be known */
    vault_outputs_set_slot(s.o, s.slot[1]);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_GZIP), 1);
    vault_outputs_set_slot(s.o, s.slot[2]);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_GZIP), 0);
    vault_slot_exited(s.f.notifier, CHILD, &slot);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_GZIP), 1);
    vault_output_add_form(s.o, &entry, VAULT_OUTPUT_GZIP, "gz", 2);
    CU_ASSERT_STRING_EQUAL(read_form(&s, &entry, VAULT_OUTPUT_GZIP), "gz");
    store_end(&s);
}

static void forms_may_be_files(void)
{
    store_t s;
    vault_output_entry_t entry, other;
    char *gz;

    store_begin(&s, WITH_FILES);
    gz = store_text(&s, 700, 'z');
    store_make(&s, "other", 0, NULL, store_text(&s, 1000, 'o'));
    store_make(&s, "k", 0, NULL, store_text(&s, 2000, 'k'));
    CU_ASSERT_FATAL(store_find(&s, "k", &entry) && store_find(&s, "other", &other));
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_GZIP), 1);
    vault_output_add_form(s.o, &entry, VAULT_OUTPUT_GZIP, gz, 700);
    CU_ASSERT_PTR_NULL(store_read(&s, "other")); /* it made room */
    CU_ASSERT_STRING_EQUAL(read_form(&s, &entry, VAULT_OUTPUT_GZIP), gz);
    CU_ASSERT_EQUAL(store_files(&s), 2);
    CU_ASSERT_EQUAL(store_totals(&s).files, 2700);
    CU_ASSERT_EQUAL(vault_output_claim_form(s.o, &entry, VAULT_OUTPUT_BROTLI), 1);
    vault_output_add_form(s.o, &entry, VAULT_OUTPUT_BROTLI, gz, 700); /* its own entry does not make room for it */
    CU_ASSERT_PTR_NULL(read_form(&s, &entry, VAULT_OUTPUT_BROTLI));
    CU_ASSERT_STRING_EQUAL(read_form(&s, &entry, VAULT_OUTPUT_GZIP), gz);
    CHECK_STORE(&s);
    vault_outputs_drop(s.o, &(vault_output_filter_t){.part = "k"});
    CU_ASSERT_EQUAL(store_files(&s), 0);
    store_end(&s);
}

void vault_output_files_suite(void)
{
    CU_pSuite suite = CU_add_suite("output_files", NULL, NULL);

    CU_ADD_TEST(suite, a_large_body_is_in_a_file);
    CU_ADD_TEST(suite, files_have_a_limit);
    CU_ADD_TEST(suite, a_full_disk_leaves_nothing);
    CU_ADD_TEST(suite, only_files_of_the_store_are_removed);
    CU_ADD_TEST(suite, a_file_that_is_not_whole_is_not_read);
    CU_ADD_TEST(suite, a_form_is_made_once);
    CU_ADD_TEST(suite, an_entry_says_which_forms_it_has);
    CU_ADD_TEST(suite, a_claim_ends_with_its_child);
    CU_ADD_TEST(suite, forms_may_be_files);
}
