/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses and makes the forms of a body. */
#include "output/output_forms.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>
#ifdef VAULT_BROTLI
#include <brotli/encode.h>
#endif

#include "apr_cstr.h"
#include "apr_lib.h"

/* A shorter body is not compressed: with its headers it needs one packet in any form. */
#define BODY_MIN 150
/* A weight is counted in thousandths. */
#define WEIGHT_ONE 1000
#define WEIGHT_NONE (-1)

static const struct {
    const char *coding, *suffix;
} forms[VAULT_OUTPUT_FORMS] = {
    [VAULT_OUTPUT_PLAIN] = {NULL, ""},
    [VAULT_OUTPUT_GZIP] = {"gzip", "-gzip"},
    [VAULT_OUTPUT_BROTLI] = {"br", "-br"},
};

unsigned vault_output_forms_of_build(void)
{
    unsigned set = VAULT_OUTPUT_FORM_BIT(VAULT_OUTPUT_PLAIN) | VAULT_OUTPUT_FORM_BIT(VAULT_OUTPUT_GZIP);

#ifdef VAULT_BROTLI
    set |= VAULT_OUTPUT_FORM_BIT(VAULT_OUTPUT_BROTLI);
#endif
    return set;
}

const char *vault_output_form_coding(vault_output_form_t form)
{
    return forms[form].coding;
}

const char *vault_output_form_suffix(vault_output_form_t form)
{
    return forms[form].suffix;
}

/* ------------------------------------------------------------------ choosing */

static const char *skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t') {
        p++;
    }
    return p;
}

/* A qvalue of RFC 9110, section 12.4.2: 0 or 1, and at most three decimals. @return WEIGHT_NONE: it is not valid */
static int parse_weight(const char *p)
{
    int weight, unit = WEIGHT_ONE;

    if (*p != '0' && *p != '1') {
        return WEIGHT_NONE;
    }
    weight = (*p++ - '0') * WEIGHT_ONE;
    if (*p == '.') {
        for (p++; apr_isdigit(*p) && unit > 1; p++) {
            unit /= 10;
            weight += (*p - '0') * unit;
        }
    }
    p = skip_blanks(p);
    return weight <= WEIGHT_ONE && (!*p || *p == ',') ? weight : WEIGHT_NONE;
}

/* The weight of one element of the list. Codings have no other parameters.
 * @param rest  behind the name of the coding */
static int weight_of(const char *rest)
{
    rest = skip_blanks(rest);
    if (!*rest || *rest == ',') {
        return WEIGHT_ONE;
    }
    if (*rest != ';') {
        return WEIGHT_NONE;
    }
    rest = skip_blanks(rest + 1);
    return (*rest == 'q' || *rest == 'Q') && rest[1] == '=' ? parse_weight(rest + 2) : WEIGHT_NONE;
}

static int is_named(const char *name, apr_size_t length, const char *coding)
{
    return strlen(coding) == length && !apr_cstr_casecmpn(name, coding, length);
}

/* Set the weight of the form that has this name, or of all others by "*". */
static void set_weight(int weights[VAULT_OUTPUT_FORMS], int *others, const char *name, apr_size_t length, int weight)
{
    if (is_named(name, length, "*")) {
        *others = weight;
    }
    else if (is_named(name, length, "identity")) {
        weights[VAULT_OUTPUT_PLAIN] = weight;
    }
    else if (is_named(name, length, "gzip") || is_named(name, length, "x-gzip")) {
        weights[VAULT_OUTPUT_GZIP] = weight;
    }
    else if (is_named(name, length, "br")) {
        weights[VAULT_OUTPUT_BROTLI] = weight;
    }
}

/* An element that is not valid counts as if it were missing. */
static void parse_accept(const char *accept, int weights[VAULT_OUTPUT_FORMS], int *others)
{
    const char *p = accept;

    while (*p) {
        apr_size_t length;
        int weight;

        p = skip_blanks(p);
        length = strcspn(p, " \t;,");
        weight = weight_of(p + length);
        if (length && weight != WEIGHT_NONE) {
            set_weight(weights, others, p, length, weight);
        }
        p += strcspn(p, ",");
        p += *p == ',';
    }
}

vault_output_form_t vault_output_form_choose(const char *accept, unsigned offered)
{
    int weights[VAULT_OUTPUT_FORMS] = {WEIGHT_NONE, WEIGHT_NONE, WEIGHT_NONE}, others = WEIGHT_NONE, best = 0;
    vault_output_form_t form, chosen = VAULT_OUTPUT_PLAIN;

    if (!accept) {
        return VAULT_OUTPUT_PLAIN;
    }
    parse_accept(accept, weights, &others);
    /* A client that lists codings prefers them to the plain form, unless it lists that, too. */
    best = weights[VAULT_OUTPUT_PLAIN] > 0 ? weights[VAULT_OUTPUT_PLAIN] : 0;
    for (form = VAULT_OUTPUT_GZIP; form < VAULT_OUTPUT_FORMS; form++) {
        int weight = weights[form] == WEIGHT_NONE ? others : weights[form];
        if ((offered & VAULT_OUTPUT_FORM_BIT(form)) && weight > 0 && weight >= best) {
            best = weight;
            chosen = form;
        }
    }
    return chosen;
}

/* -------------------------------------------------------------------- making */

static apr_status_t make_gzip(vault_output_effort_t effort, const char *text, apr_size_t size, char *made,
                              apr_size_t *made_size)
{
    enum { WINDOW_BITS = 15, GZIP_WRAPPER = 16, MEMORY_LEVEL = 9 };
    z_stream z;
    int rc;

    memset(&z, 0, sizeof(z));
    if (size > UINT_MAX || deflateInit2(&z, effort == VAULT_OUTPUT_QUICK ? 6 : 9, Z_DEFLATED,
                                        WINDOW_BITS + GZIP_WRAPPER, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK) {
        return APR_ENOSPC;
    }
    z.next_in = (Bytef *)text; /* not const in its declaration; not written to */
    z.avail_in = (uInt)size;
    z.next_out = (Bytef *)made;
    z.avail_out = (uInt)*made_size;
    rc = deflate(&z, Z_FINISH);
    *made_size -= z.avail_out;
    deflateEnd(&z);
    return rc == Z_STREAM_END ? APR_SUCCESS : APR_ENOSPC;
}

#ifdef VAULT_BROTLI
/* Its highest quality, 11, takes ten times as long as 9 for some percent. */
static apr_status_t make_brotli(vault_output_effort_t effort, const char *text, apr_size_t size, char *made,
                                apr_size_t *made_size)
{
    return BrotliEncoderCompress(effort == VAULT_OUTPUT_QUICK ? 5 : 9, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, size,
                                 (const uint8_t *)text, made_size, (uint8_t *)made)
               ? APR_SUCCESS
               : APR_ENOSPC;
}
#endif

apr_status_t vault_output_form_make(vault_output_form_t form, vault_output_effort_t effort, const char *text,
                                    apr_size_t size, const char **made, apr_size_t *made_size, apr_pool_t *pool)
{
    apr_status_t rv = APR_ENOTIMPL;
    char *room;

    if (form == VAULT_OUTPUT_PLAIN || !(vault_output_forms_of_build() & VAULT_OUTPUT_FORM_BIT(form))) {
        return APR_ENOTIMPL;
    }
    if (size < BODY_MIN) {
        return APR_ENOSPC;
    }
    *made_size = size - 1; /* what does not fit is no smaller */
    room = apr_palloc(pool, *made_size);
    if (form == VAULT_OUTPUT_GZIP) {
        rv = make_gzip(effort, text, size, room, made_size);
    }
#ifdef VAULT_BROTLI
    else {
        rv = make_brotli(effort, text, size, room, made_size);
    }
#endif
    *made = room;
    return rv;
}
