/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the text of Vault-* headers. */
#include "base/header_text.h"

#include <string.h>

#include "apr_strings.h"

#include "fixture.h"
#include "unit.h"

static int same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static void a_list_is_cut_at_commas(void)
{
    static const struct {
        const char *list, *pieces, *why;
    } rows[] = {
        {"", "", "nothing"},
        {"/a", "/a|", "one"},
        {"/a,/b", "/a|/b|", "two"},
        {" /a \t,\t /b ", "/a|/b|", "blanks around do not count"},
        {",,/a,, ,/b,", "/a|/b|", "nor do empty ones"},
        {" , ,", "", "only empty ones"},
        {"a b,c=d e", "a b|c=d e|", "blanks within do"},
    };
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *rest = rows[i].list, *piece, *all = "";
        while ((piece = vault_header_piece(&rest, pool))) {
            all = apr_pstrcat(pool, all, piece, "|", NULL);
        }
        CHECK_ROW(!strcmp(all, rows[i].pieces), rows[i].why);
    }
    apr_pool_destroy(pool);
}

static void escapes_are_undone(void)
{
    static const struct {
        const char *text, *decoded, *why;
    } rows[] = {
        {"", "", "nothing"},
        {"DB-logs", "DB-logs", "nothing to do"},
        {"a%2Cb%2cc", "a,b,c", "either case"},
        {"%25", "%", "a percent"},
        {"%C3%A4", "\xc3\xa4", "UTF-8"},
        {"+", "+", "a plus is a plus"},
        {"%", NULL, "alone"},
        {"%2", NULL, "cut"},
        {"%zz", NULL, "no digits"},
        {"%00", NULL, "a NUL"},
        {"100%", NULL, "at the end"},
        {"%2%20", NULL, "a digit is missing"},
    };
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_ROW(same(vault_header_decode(rows[i].text, pool), rows[i].decoded), rows[i].why);
    }
    apr_pool_destroy(pool);
}

/* Whatever is encoded is safe in a header, and comes back. */
static void what_is_encoded_comes_back(void)
{
    apr_pool_t *pool;
    char text[256];
    const char *encoded, *p;
    int c;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (c = 1; c < 256; c++) {
        text[c - 1] = (char)c;
    }
    text[255] = '\0';
    encoded = vault_header_encode(text, pool);
    for (p = encoded; *p; p++) {
        CU_ASSERT(*p > ' ' && *p <= '~' && *p != ',');
    }
    CU_ASSERT_STRING_EQUAL(vault_header_decode(encoded, pool), text);
    CU_ASSERT_STRING_EQUAL(vault_header_encode("41", pool), "41");
    CU_ASSERT_STRING_EQUAL(vault_header_encode("", pool), "");
    apr_pool_destroy(pool);
}

static void a_property_is_key_and_value(void)
{
    static const struct {
        const char *piece, *key, *value, *why;
    } rows[] = {
        {"last=41", "last", "41", "the usual one"},
        {"Last-Row=a=b", "last-row", "a=b", "lower case; only the first sign cuts"},
        {"last=", "last", NULL, "empty: removed"},
        {"last=%20%2C", "last", " ,", "what has to be encoded"},
        {"last", NULL, NULL, "no sign"},
        {"=41", NULL, NULL, "no key"},
        {"la_st=41", NULL, NULL, "a key that headers have not"},
        {"last =41", NULL, NULL, "a blank in the key"},
        {"l\xc3\xa4st=1", NULL, NULL, "nor letters that are not English"},
        {"last=%4", NULL, NULL, "half an escape"},
    };
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *key = NULL, *value = NULL;
        int ok = vault_header_property(rows[i].piece, &key, &value, pool);
        CHECK_ROW(ok == (rows[i].key != NULL), rows[i].why);
        CHECK_ROW(!ok || (same(key, rows[i].key) && same(value, rows[i].value)), rows[i].why);
    }
    apr_pool_destroy(pool);
}

static void names_that_could_be_taken_for_ours_are_reserved(void)
{
    static const struct {
        const char *name;
        int reserved;
        const char *why;
    } rows[] = {
        {"Vault-Page", 1, "ours"},
        {"VAULT-PAGE", 1, "in capitals"},
        {"Vault_Page", 1, "as CGI variables have it"},
        {"vault.page", 1, "some take any sign for an underscore"},
        {"Vault-Property-last", 1, "a property"},
        {"vault_property_LAST", 1, "a property, in another spelling"},
        {"Vault-Property", 1, "no property, but near"},
        {"Vault-Propertyx", 1, "nearer than needed"},
        {"X-Vault-Page", 0, "the browser's own"},
        {"Vault-Pages", 0, "another word"},
        {"Vault", 0, "a beginning"},
        {"Vault-Token", 0, "a header of another module"},
        {"Vaultxpage", 0, "a letter is no sign"},
        {"", 0, "nothing"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_ROW(vault_header_is_reserved(rows[i].name) == rows[i].reserved, rows[i].why);
    }
}

static void a_list_of_names_loses_those_that_are_reserved(void)
{
    static const struct {
        const char *list, *others, *why;
    } rows[] = {
        {"", NULL, "nothing"},
        {"keep-alive", NULL, "the usual one"},
        {"close, Upgrade ,TE,", NULL, "several"},
        {"X-Vault-Page, Vault-Pages, Vault", NULL, "names that are only alike"},
        {"Vault-Page", "", "nothing stays"},
        {"vault-page,VAULT-PROPERTY-LAST , Vault_Page", "", "in any spelling"},
        {"keep-alive, Vault-Page", "keep-alive", "the last"},
        {"Vault-Page, keep-alive", "keep-alive", "the first"},
        {"keep-alive , Vault-Page,\tUpgrade,TE", "keep-alive,\tUpgrade,TE", "in the middle; others stay as they are"},
        {"Vault-Page, close, Vault-Property-a, TE, Vault-Property-b", "close, TE", "one after another"},
        {"close;Vault-Page", "close", "httpd 2.4's mod_proxy ends names at semicolons"},
        {"Vault-Page close", "close", "and at blanks"},
        {"a\vVault-Page\fclose", "a\fclose", "whatever C takes for one"},
        {"\"Vault-Page\" =Vault-Page", NULL, "no proxy takes these for the name"},
        {", ,Vault-Page, ,", "", "empty ones"},
    };
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_ROW(same(vault_header_others(rows[i].list, pool), rows[i].others), rows[i].why);
    }
    apr_pool_destroy(pool);
}

void vault_header_text_suite(void)
{
    CU_pSuite suite = CU_add_suite("header_text", NULL, NULL);

    CU_ADD_TEST(suite, a_list_is_cut_at_commas);
    CU_ADD_TEST(suite, escapes_are_undone);
    CU_ADD_TEST(suite, what_is_encoded_comes_back);
    CU_ADD_TEST(suite, a_property_is_key_and_value);
    CU_ADD_TEST(suite, names_that_could_be_taken_for_ours_are_reserved);
    CU_ADD_TEST(suite, a_list_of_names_loses_those_that_are_reserved);
}
