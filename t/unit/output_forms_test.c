/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the forms of a body: which one is chosen, and that each can be read. */
#include "output/output_forms.h"

#include <string.h>
#include <zlib.h>
#ifdef VAULT_BROTLI_TESTS
#include <brotli/decode.h>
#endif

#include "apr_strings.h"

#include "fixture.h"
#include "unit.h"

#define PLAIN VAULT_OUTPUT_PLAIN
#define GZIP VAULT_OUTPUT_GZIP
#define BR VAULT_OUTPUT_BROTLI
#define ALL (VAULT_OUTPUT_FORM_BIT(PLAIN) | VAULT_OUTPUT_FORM_BIT(GZIP) | VAULT_OUTPUT_FORM_BIT(BR))
#define NO_BR (VAULT_OUTPUT_FORM_BIT(PLAIN) | VAULT_OUTPUT_FORM_BIT(GZIP))

static void a_form_is_chosen_by_weight(void)
{
    static const struct {
        const char *accept;
        unsigned offered;
        vault_output_form_t form;
        const char *why;
    } rows[] = {
        {NULL, ALL, PLAIN, "a client that says nothing may understand nothing"},
        {"", ALL, PLAIN, "an empty list accepts no coding"},
        {"gzip, deflate, br", ALL, BR, "of the same weight the smaller one"},
        {"br, gzip", NO_BR, GZIP, "what is offered"},
        {"br", NO_BR, PLAIN, "the other one is not accepted"},
        {"gzip", ALL, GZIP, "what is accepted"},
        {"x-gzip", ALL, GZIP, "an old name"},
        {"GZIP;Q=1", ALL, GZIP, "names have no case"},
        {"gzip;q=0.8, br;q=0.7", ALL, GZIP, "the higher weight"},
        {"gzip;q=0.001,br;q=0", ALL, GZIP, "a weight of zero refuses, any other accepts"},
        {"gzip;q=0, br;q=0.000", ALL, PLAIN, "both are refused"},
        {"identity, gzip;q=0.5", ALL, PLAIN, "plain is preferred"},
        {"identity;q=0.5, gzip;q=0.5", ALL, GZIP, "no preference: the smaller one"},
        {"identity;q=0.5, gzip;q=0.4, br;q=0.6", ALL, BR, "three weights"},
        {"*", ALL, BR, "any"},
        {"*;q=0", ALL, PLAIN, "none: plain is sent nevertheless"},
        {"identity;q=0", ALL, PLAIN, "plain is refused, and nothing else accepted: plain is sent nevertheless"},
        {"*, br;q=0", ALL, GZIP, "any but one"},
        {"br;q=0.5, *;q=0.6", ALL, GZIP, "others are preferred"},
        {"gzip;q=1.001, br;q=0.5", ALL, BR, "a weight above one is not valid"},
        {"gzip;q=0.1234, br;q=0.1", ALL, BR, "nor is one of four decimals"},
        {"gzip;q=, br;q=x", ALL, PLAIN, "nor are these"},
        {"gzip;level=9", ALL, PLAIN, "a coding has no such parameter"},
        {"gzip ; q=0.5 , br\t;\tq=0.4", ALL, GZIP, "blanks"},
        {",, gzip ,", ALL, GZIP, "empty elements"},
        {"gzipped, brotli, deflate", ALL, PLAIN, "other names"},
        {"gzip br", ALL, PLAIN, "a comma is missing"},
        {";q=1", ALL, PLAIN, "a name is missing"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_ROW(vault_output_form_choose(rows[i].accept, rows[i].offered) == rows[i].form, rows[i].why);
    }
}

static int is_gzip_of(const char *made, apr_size_t made_size, const char *text, apr_size_t size, char *room)
{
    z_stream z;
    int rc;

    memset(&z, 0, sizeof(z));
    CU_ASSERT_FATAL(inflateInit2(&z, 15 + 16) == Z_OK);
    z.next_in = (Bytef *)made;
    z.avail_in = (uInt)made_size;
    z.next_out = (Bytef *)room;
    z.avail_out = (uInt)size;
    rc = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    return rc == Z_STREAM_END && !z.avail_in && !z.avail_out && !memcmp(room, text, size);
}

static int is_brotli_of(const char *made, apr_size_t made_size, const char *text, apr_size_t size, char *room)
{
#ifdef VAULT_BROTLI_TESTS
    apr_size_t got = size;

    return BrotliDecoderDecompress(made_size, (const uint8_t *)made, &got, (uint8_t *)room) ==
               BROTLI_DECODER_RESULT_SUCCESS &&
           got == size && !memcmp(room, text, size);
#else
    return 1;
#endif
}

static void each_form_can_be_read(void)
{
    static const apr_size_t sizes[] = {150, 151, 4000, 300000};
    unsigned build = vault_output_forms_of_build();
    apr_pool_t *pool;
    vault_output_effort_t effort;
    unsigned i, k;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        char *text = apr_palloc(pool, sizes[i]), *room = apr_palloc(pool, sizes[i]);
        for (k = 0; k < sizes[i]; k++) {
            text[k] = (char)("a { color: red }\n"[k % 17] + (int)(k / 1000 % 5));
        }
        for (effort = VAULT_OUTPUT_QUICK; effort <= VAULT_OUTPUT_SMALL; effort++) {
            const char *made;
            apr_size_t size;

            CU_ASSERT(vault_output_form_make(GZIP, effort, text, sizes[i], &made, &size, pool) == APR_SUCCESS);
            CU_ASSERT(size < sizes[i] && is_gzip_of(made, size, text, sizes[i], room));
            if (build & VAULT_OUTPUT_FORM_BIT(BR)) {
                CU_ASSERT(vault_output_form_make(BR, effort, text, sizes[i], &made, &size, pool) == APR_SUCCESS);
                CU_ASSERT(size < sizes[i] && is_brotli_of(made, size, text, sizes[i], room));
            }
        }
    }
    apr_pool_destroy(pool);
}

/* A sequence that no library can shorten. */
static void fill_random(unsigned char *text, apr_size_t size)
{
    apr_uint64_t x = 88172645463325252ULL;
    apr_size_t k;

    for (k = 0; k < size; k++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        text[k] = (unsigned char)(x >> 32);
    }
}

static void what_is_no_smaller_is_not_made(void)
{
    char text[4000];
    const char *made;
    apr_size_t size;
    apr_pool_t *pool;
    vault_output_form_t form;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    fill_random((unsigned char *)text, sizeof(text));
    for (form = GZIP; form <= BR; form++) {
        int can = (vault_output_forms_of_build() & VAULT_OUTPUT_FORM_BIT(form)) != 0;
        apr_status_t no = can ? APR_ENOSPC : APR_ENOTIMPL;

        CU_ASSERT(vault_output_form_make(form, VAULT_OUTPUT_SMALL, text, sizeof(text), &made, &size, pool) == no);
        CU_ASSERT(vault_output_form_make(form, VAULT_OUTPUT_SMALL, "aaaaaaaaaaaaaaaaaaaaaa", 20, &made, &size, pool) ==
                  no);
        CU_ASSERT(vault_output_form_make(form, VAULT_OUTPUT_SMALL, "", 0, &made, &size, pool) == no);
    }
    CU_ASSERT(vault_output_form_make(PLAIN, VAULT_OUTPUT_SMALL, text, sizeof(text), &made, &size, pool) ==
              APR_ENOTIMPL);
    apr_pool_destroy(pool);
}

static void forms_have_their_names(void)
{
    CU_ASSERT_PTR_NULL(vault_output_form_coding(PLAIN));
    CU_ASSERT_STRING_EQUAL(vault_output_form_coding(GZIP), "gzip");
    CU_ASSERT_STRING_EQUAL(vault_output_form_coding(BR), "br");
    CU_ASSERT_STRING_EQUAL(vault_output_form_suffix(PLAIN), "");
    CU_ASSERT_STRING_EQUAL(vault_output_form_suffix(GZIP), "-gzip");
    CU_ASSERT_STRING_EQUAL(vault_output_form_suffix(BR), "-br");
}

void vault_output_forms_suite(void)
{
    CU_pSuite suite = CU_add_suite("output_forms", NULL, NULL);

    CU_add_test(suite, "a form is chosen by weight", a_form_is_chosen_by_weight);
    CU_add_test(suite, "each form can be read", each_form_can_be_read);
    CU_add_test(suite, "what is no smaller is not made", what_is_no_smaller_is_not_made);
    CU_add_test(suite, "forms have their names", forms_have_their_names);
}
