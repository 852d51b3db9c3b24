/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a page's state: what is stored comes back, and a block that is not a state is no danger. */
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "fixture.h"
#include "mod_vault/vault.h"
#include "page/state.h"
#include "unit.h"

#define MUTATIONS 10000
#define AT(array, type, i) (&((type *)(array)->elts)[i])

/* -------------------------------------------------------------------- shapes */

static apr_array_header_t *make_deps(apr_pool_t *pool, vault_interest_t first, unsigned count)
{
    apr_array_header_t *deps = apr_array_make(pool, 1, sizeof(vault_dep_t));
    unsigned i;

    for (i = 0; i < count; i++) {
        vault_dep_t *d = apr_array_push(deps);
        d->interest = first + i;
        d->stamp = APR_UINT64_MAX - i;
    }
    return deps;
}

static vault_cursor_t *add_cursor(vault_state_t *s, const char *scope, const char *key, const char *value)
{
    vault_cursor_t *c = apr_array_push(s->cursors);

    c->scope = scope;
    c->key = key;
    c->value = value;
    c->deps = make_deps(s->pool, 0, 0);
    return c;
}

static vault_method_t *add_method(vault_state_t *s, const char *url, apr_array_header_t *deps)
{
    vault_method_t *m = apr_array_push(s->methods);

    m->url = url;
    m->deps = deps;
    return m;
}

static const char *repeat(apr_pool_t *pool, char c, apr_size_t length)
{
    char *s = apr_palloc(pool, length + 1);

    memset(s, c, length);
    s[length] = '\0';
    return s;
}

static void nothing(vault_state_t *s)
{
}

static void numbers(vault_state_t *s)
{
    s->seq = APR_UINT64_MAX;
}

static void properties(vault_state_t *s)
{
    vault_state_set(s, "k", "");
    vault_state_set(s, "a longer key", "1234567");
    vault_state_set(s, "\xc3\xa4\n\t<\"", "any byte but NUL \x01\xff");
}

static void nulls(vault_state_t *s)
{
    add_cursor(s, "", "never set", NULL);
    add_cursor(s, "/m", "", "");
    add_method(s, "/never-run", NULL);
    add_method(s, "/waits-for-nothing", make_deps(s->pool, 0, 0));
}

static void refuse(vault_method_t *m, unsigned status, unsigned seconds, apr_time_t until)
{
    m->refusal.status = status;
    m->refusal.seconds = seconds;
    m->refusal.until = until;
}

static void refusals(vault_state_t *s)
{
    refuse(add_method(s, "/never-run", NULL), 401, 30, 1);
    refuse(add_method(s, "/waits", make_deps(s->pool, 1, 2)), 403, VAULT_REFUSAL_MOST, APR_INT64_MAX);
    add_method(s, "/works", make_deps(s->pool, 1, 2));
    refuse(add_method(s, "/need-not-rest", NULL), 302, 0, 0);
}

static void sharing(vault_state_t *s)
{
    vault_method_t *m = add_method(s, "/shared", make_deps(s->pool, 1, 2));

    m->shared = APR_UINT32_MAX;
    add_method(s, "/personal", NULL)->personal = VAULT_PERSONAL_COUNT - 1;
}

static void acks(vault_state_t *s)
{
    static const char *const data[] = {"", "7", "message-ann 12", "\xff<\""};
    unsigned i;

    for (i = 0; i < sizeof(data) / sizeof(data[0]); i++) {
        vault_ack_t *a = apr_array_push(s->acks);
        a->feed = "messages";
        a->data = data[i];
    }
}

static void many_deps(vault_state_t *s)
{
    add_cursor(s, "/m", "k", "v")->deps = make_deps(s->pool, 1, 256);
    add_method(s, "/m", make_deps(s->pool, 1, 256));
    add_method(s, "/n", make_deps(s->pool, 200, 101));
}

static void longest(vault_state_t *s)
{
    vault_state_set(s, repeat(s->pool, 'k', VAULT_PROPERTY_KEY_MAX), repeat(s->pool, 'v', VAULT_PROPERTY_VALUE_MAX));
    add_cursor(s, repeat(s->pool, '/', 8192), repeat(s->pool, 'c', 8192),
               repeat(s->pool, 'v', VAULT_PROPERTY_VALUE_MAX));
    add_method(s, repeat(s->pool, '/', 8192), make_deps(s->pool, 0xfffffff0u, 16));
}

/* Each length once: the padding differs. */
static void lengths(vault_state_t *s)
{
    apr_size_t i;

    for (i = 0; i < 20; i++) {
        vault_state_set(s, repeat(s->pool, 'k', i + 1), repeat(s->pool, 'v', i));
    }
}

static void usual(vault_state_t *s)
{
    s->seq = 7;
    properties(s);
    add_cursor(s, "", "db/get?t=logs", "41")->deps = make_deps(s->pool, 3, 1);
    add_cursor(s, "/logs", "db/get?t=logs", "42")->deps = make_deps(s->pool, 3, 2);
    add_method(s, "/logs", make_deps(s->pool, 3, 2));
    nulls(s);
    refusals(s);
    sharing(s);
    acks(s);
}

static const struct {
    void (*make)(vault_state_t *s);
    const char *why;
} shapes[] = {
    {nothing, "an empty state"},
    {numbers, "the largest number"},
    {properties, "properties, one of them empty"},
    {nulls, "values and dependencies that are not there are not empty ones"},
    {refusals, "methods that are refused, and one that is not"},
    {sharing, "a method whose output is shared, and one whose output is personal"},
    {acks, "what feeds wait to hear of"},
    {many_deps, "many dependencies, named twice"},
    {longest, "the longest strings, the largest indexes"},
    {lengths, "every padding"},
    {usual, "a usual one"},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* ------------------------------------------------------------------ equality */

static int same_string(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static int same_deps(const apr_array_header_t *a, const apr_array_header_t *b)
{
    int i;

    if (!a || !b || a->nelts != b->nelts) {
        return a == b;
    }
    for (i = 0; i < a->nelts; i++) {
        const vault_dep_t *one = AT(a, vault_dep_t, i), *two = AT(b, vault_dep_t, i);
        if (one->interest != two->interest || one->stamp != two->stamp) {
            return 0;
        }
    }
    return 1;
}

static int same_refusal(const vault_refusal_t *a, const vault_refusal_t *b)
{
    return a->status == b->status && a->seconds == b->seconds && a->until == b->until;
}

static int same_lists(const vault_state_t *a, const vault_state_t *b)
{
    int i, same = 1;

    for (i = 0; i < a->properties->nelts; i++) {
        const vault_property_t *p = AT(a->properties, vault_property_t, i), *q = AT(b->properties, vault_property_t, i);
        same &= same_string(p->key, q->key) && same_string(p->value, q->value);
    }
    for (i = 0; i < a->cursors->nelts; i++) {
        const vault_cursor_t *c = AT(a->cursors, vault_cursor_t, i), *d = AT(b->cursors, vault_cursor_t, i);
        same &= same_string(c->scope, d->scope) && same_string(c->key, d->key) && same_string(c->value, d->value) &&
                same_deps(c->deps, d->deps);
    }
    for (i = 0; i < a->methods->nelts; i++) {
        const vault_method_t *m = AT(a->methods, vault_method_t, i), *n = AT(b->methods, vault_method_t, i);
        same &= same_string(m->url, n->url) && same_deps(m->deps, n->deps) && same_refusal(&m->refusal, &n->refusal);
        same &= m->shared == n->shared && m->personal == n->personal;
    }
    for (i = 0; i < a->acks->nelts; i++) {
        const vault_ack_t *c = AT(a->acks, vault_ack_t, i), *d = AT(b->acks, vault_ack_t, i);
        same &= same_string(c->feed, d->feed) && same_string(c->data, d->data);
    }
    return same;
}

static int same_state(const vault_state_t *a, const vault_state_t *b)
{
    return a->seq == b->seq && a->properties->nelts == b->properties->nelts && a->cursors->nelts == b->cursors->nelts &&
           a->methods->nelts == b->methods->nelts && a->acks->nelts == b->acks->nelts && same_lists(a, b);
}

/* ----------------------------------------------------------------- round trip */

/* The block, in memory that ends where it ends. */
static char *encode(const vault_state_t *s, apr_size_t *size)
{
    char *block;

    *size = vault_state_size(s);
    block = malloc(*size);
    memset(block, 0xa5, *size);
    vault_state_encode(s, block, *size);
    return block;
}

static void what_is_stored_comes_back(void)
{
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < SHAPES; i++) {
        vault_state_t *s = vault_state_create(pool), *back;
        apr_size_t size;
        char *block, *exact;

        shapes[i].make(s);
        block = encode(s, &size);
        CHECK_ROW(vault_state_bytes(block) <= size && vault_state_bytes(block) % 8 == 0, shapes[i].why);
        CHECK_ROW(vault_state_seq(block) == s->seq, shapes[i].why);
        size = vault_state_bytes(block);
        exact = malloc(size);
        memcpy(exact, block, size);
        back = vault_state_decode(exact, size, pool);
        CHECK_ROW(back && same_state(s, back), shapes[i].why);
        free(block);
        free(exact);
    }
    apr_pool_destroy(pool);
}

static void a_block_is_the_same_whatever_was_there_before(void)
{
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < SHAPES; i++) {
        vault_state_t *s = vault_state_create(pool);
        apr_size_t size;
        char *one, *two;

        shapes[i].make(s);
        one = encode(s, &size);
        two = calloc(1, size);
        vault_state_encode(s, two, size);
        CHECK_ROW(!memcmp(one, two, vault_state_bytes(one)), shapes[i].why);
        free(one);
        free(two);
    }
    apr_pool_destroy(pool);
}

/* A URL with its arguments can have a thousand bytes, and a method several cursors. */
static void the_url_of_a_method_is_stored_once(void)
{
    apr_pool_t *pool;
    vault_state_t *s, *back;
    const char *url;
    apr_size_t size;
    char *block;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    s = vault_state_create(pool);
    url = repeat(pool, 'u', 1000);
    add_method(s, "/first", NULL);
    add_method(s, url, NULL);
    add_cursor(s, url, "a", "1");
    add_cursor(s, apr_pstrdup(pool, url), "b", "2");
    add_cursor(s, "", "c", "3");
    block = encode(s, &size);
    CU_ASSERT(vault_state_bytes(block) < 1300);
    back = vault_state_decode(block, size, pool);
    CU_ASSERT(back && same_state(s, back));
    free(block);
    apr_pool_destroy(pool);
}

static void a_number_is_given_later(void)
{
    apr_pool_t *pool;
    vault_state_t *s, *back;
    apr_size_t size;
    char *block;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    usual(s = vault_state_create(pool));
    block = encode(s, &size);
    vault_state_number(block, 99, 97);
    CU_ASSERT_EQUAL(vault_state_from(block), 97);
    CU_ASSERT_EQUAL(vault_state_seq(block), 99);
    back = vault_state_decode(block, size, pool);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_EQUAL(back->seq, 99);
    back->seq = s->seq;
    CU_ASSERT(same_state(s, back));
    free(block);
    apr_pool_destroy(pool);
}

static void acks_go_and_nothing_else(void)
{
    apr_pool_t *pool;
    vault_state_t *s, *back;
    apr_size_t size;
    char *block;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    usual(s = vault_state_create(pool));
    block = encode(s, &size);
    CU_ASSERT(vault_state_has_acks(block));
    vault_state_drop_acks(block);
    CU_ASSERT(!vault_state_has_acks(block));
    back = vault_state_decode(block, size, pool);
    CU_ASSERT_PTR_NOT_NULL_FATAL(back);
    CU_ASSERT_EQUAL(back->acks->nelts, 0);
    s->acks->nelts = 0;
    CU_ASSERT(same_state(s, back));
    free(block);
    apr_pool_destroy(pool);
}

static void a_block_names_its_interests_and_no_others(void)
{
    static const struct {
        vault_interest_t interest;
        int named;
        const char *why;
    } rows[] = {
        {0, 0, "none"},
        {1, 1, "of a cursor and a method"},
        {256, 1, "the last of the cursor"},
        {257, 1, "of the second method only"},
        {300, 1, "the last"},
        {301, 0, "past the last"},
        {0xffffffffu, 0, "far past it"},
    };
    apr_pool_t *pool;
    vault_state_t *s;
    apr_size_t size;
    char *block;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    many_deps(s = vault_state_create(pool));
    block = encode(s, &size);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_ROW(vault_state_names(block, rows[i].interest) == rows[i].named, rows[i].why);
    }
    free(block);
    block = encode(vault_state_create(pool), &size);
    CU_ASSERT(!vault_state_names(block, 1));
    free(block);
    apr_pool_destroy(pool);
}

/* ------------------------------------------------------------------- harm */

/* Whatever was decoded must be whole: read all of it, store it again, and it is the same. */
static int is_harmless(vault_state_t *s, apr_pool_t *pool)
{
    vault_state_t *again;
    apr_size_t size;
    char *block = encode(s, &size);
    int same;

    again = vault_state_decode(block, size, pool);
    same = again && same_state(s, again);
    free(block);
    return same;
}

static void every_truncation_is_refused(void)
{
    apr_pool_t *pool, *round;
    vault_state_t *s;
    apr_size_t size, cut;
    char *block;
    int accepted = 0;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    CU_ASSERT_FATAL(apr_pool_create(&round, pool) == APR_SUCCESS);
    usual(s = vault_state_create(pool));
    block = encode(s, &size);
    size = vault_state_bytes(block);
    for (cut = 0; cut < size; cut++) {
        char *exact = malloc(cut ? cut : 1);

        memcpy(exact, block, cut);
        accepted += vault_state_decode(exact, cut, round) != NULL;
        if (cut >= sizeof(apr_uint32_t) * 2) { /* also when the block says that it is that short */
            apr_uint32_t bytes = (apr_uint32_t)cut;
            memcpy(exact + sizeof(bytes), &bytes, sizeof(bytes));
            accepted += vault_state_decode(exact, cut, round) != NULL;
        }
        free(exact);
        apr_pool_clear(round);
    }
    CU_ASSERT_EQUAL(accepted, 0);
    free(block);
    apr_pool_destroy(pool);
}

static void mutate(char *block, apr_size_t size, unsigned *seed)
{
    static const apr_uint32_t telling[] = {0, 1, 7, 8, 0x7fffffffu, 0x80000000u, 0xfffffff8u, 0xfffffffeu, 0xffffffffu};
    int n = 1 + rand_r(seed) % 4;

    for (; n > 0; n--) {
        apr_size_t at = (apr_size_t)rand_r(seed) % size;
        switch (rand_r(seed) % 3) {
        case 0:
            block[at] = (char)(block[at] ^ 1 << rand_r(seed) % 8);
            break;
        case 1:
            block[at] = (char)rand_r(seed);
            break;
        default:
            at = at / 4 * 4;
            memcpy(block + at, &telling[(unsigned)rand_r(seed) % (sizeof(telling) / sizeof(telling[0]))], 4);
        }
    }
}

static void no_mutation_does_harm(void)
{
    apr_pool_t *pool;
    unsigned seed = 11;
    int i, refused = 0, harmful = 0;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < MUTATIONS; i++) {
        vault_state_t *s = vault_state_create(pool);
        apr_size_t size;
        char *block;

        (i % 4 ? usual : many_deps)(s);
        block = encode(s, &size);
        mutate(block, size, &seed);
        s = vault_state_decode(block, size, pool);
        refused += s == NULL;
        harmful += s && !is_harmless(s, pool);
        free(block);
        apr_pool_clear(pool);
    }
    CU_ASSERT_EQUAL(harmful, 0);
    CU_ASSERT(refused > MUTATIONS / 20 && refused < MUTATIONS); /* else the mutations say nothing */
    apr_pool_destroy(pool);
}

static void a_refusal_that_cannot_be_is_refused(void)
{
    static const struct {
        vault_refusal_t refusal;
        int accepted;
        const char *why;
    } rows[] = {
        {{300, 0, 0}, 1, "the lowest"},
        {{499, VAULT_REFUSAL_MOST, 1}, 1, "the highest, and the longest rest"},
        {{299, 30, 1}, 0, "a status of success"},
        {{500, 30, 1}, 0, "a status of failure"},
        {{401, VAULT_REFUSAL_MOST + 1, 1}, 0, "too long a rest"},
        {{401, 30, -1}, 0, "a time before all times"},
        {{0, 1, 0}, 0, "a rest of a method that is not refused"},
    };
    apr_pool_t *pool;
    unsigned i;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_state_t *s = vault_state_create(pool);
        apr_size_t size;
        char *block;

        add_method(s, "/m", NULL)->refusal = rows[i].refusal;
        block = encode(s, &size);
        CHECK_ROW((vault_state_decode(block, size, pool) != NULL) == rows[i].accepted, rows[i].why);
        free(block);
    }
    apr_pool_destroy(pool);
}

static void a_reason_that_cannot_be_is_refused(void)
{
    apr_pool_t *pool;
    vault_state_t *s;
    apr_size_t size;
    char *block;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    s = vault_state_create(pool);
    add_method(s, "/m", NULL)->personal = VAULT_PERSONAL_COUNT;
    block = encode(s, &size);
    CU_ASSERT_PTR_NULL(vault_state_decode(block, size, pool));
    free(block);
    apr_pool_destroy(pool);
}

/* -------------------------------------------------------------------- look-up */

static void a_refused_method_rests_until_its_time(void)
{
    static const struct {
        vault_refusal_t refusal;
        apr_time_t at;
        int rests;
        const char *why;
    } rows[] = {
        {{0, 0, 0}, 5, 0, "it is not refused"},
        {{401, 30, apr_time_from_sec(40)}, apr_time_from_sec(10), 1, "it has just been refused"},
        {{401, 30, apr_time_from_sec(40)}, apr_time_from_sec(39) - 1, 1, "more than a second is left"},
        {{401, 30, apr_time_from_sec(40)}, apr_time_from_sec(39), 0, "a second is left"},
        {{401, 30, apr_time_from_sec(40)}, apr_time_from_sec(400), 0, "long after"},
        {{401, 0, 0}, 1, 0, "it need not rest"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_method_t m = {.refusal = rows[i].refusal};
        CHECK_ROW(vault_method_rests(&m, rows[i].at) == rows[i].rests, rows[i].why);
    }
}

static void a_property_is_set_changed_and_removed(void)
{
    apr_pool_t *pool;
    vault_state_t *s;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    s = vault_state_create(pool);
    vault_state_set(s, "none", NULL);
    CU_ASSERT_EQUAL(s->properties->nelts, 0);
    vault_state_set(s, "a", "1");
    vault_state_set(s, "b", "2");
    vault_state_set(s, "c", "3");
    vault_state_set(s, "a", "4");
    CU_ASSERT_EQUAL(s->properties->nelts, 3);
    CU_ASSERT_STRING_EQUAL(vault_state_property(s, "a")->value, "4");
    vault_state_set(s, "a", NULL);
    CU_ASSERT_PTR_NULL(vault_state_property(s, "a"));
    CU_ASSERT_STRING_EQUAL(vault_state_property(s, "b")->value, "2");
    CU_ASSERT_STRING_EQUAL(vault_state_property(s, "c")->value, "3");
    vault_state_set(s, "c", NULL);
    vault_state_set(s, "b", NULL);
    CU_ASSERT_EQUAL(s->properties->nelts, 0);
    apr_pool_destroy(pool);
}

static void what_is_not_there_is_not_found(void)
{
    apr_pool_t *pool;
    vault_state_t *s;

    CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
    usual(s = vault_state_create(pool));
    CU_ASSERT_STRING_EQUAL(vault_state_cursor(s, "", "db/get?t=logs")->value, "41");
    CU_ASSERT_STRING_EQUAL(vault_state_cursor(s, "/logs", "db/get?t=logs")->value, "42");
    CU_ASSERT_PTR_NULL(vault_state_cursor(s, "/other", "db/get?t=logs"));
    CU_ASSERT_PTR_NULL(vault_state_cursor(s, "/logs", "db/get?t=log"));
    CU_ASSERT_EQUAL(vault_deps_find(vault_state_method(s, "/logs")->deps, 4)->interest, 4);
    CU_ASSERT_PTR_NULL(vault_deps_find(vault_state_method(s, "/logs")->deps, 5));
    CU_ASSERT_PTR_NULL(vault_deps_find(NULL, 3));
    CU_ASSERT_PTR_NULL(vault_state_method(s, "/log"));
    CU_ASSERT_PTR_NULL(vault_state_property(s, ""));
    apr_pool_destroy(pool);
}

void vault_state_suite(void)
{
    CU_pSuite suite = CU_add_suite("state", NULL, NULL);

    CU_ADD_TEST(suite, what_is_stored_comes_back);
    CU_ADD_TEST(suite, a_block_is_the_same_whatever_was_there_before);
    CU_ADD_TEST(suite, the_url_of_a_method_is_stored_once);
    CU_ADD_TEST(suite, a_number_is_given_later);
    CU_ADD_TEST(suite, acks_go_and_nothing_else);
    CU_ADD_TEST(suite, a_block_names_its_interests_and_no_others);
    CU_ADD_TEST(suite, every_truncation_is_refused);
    CU_ADD_TEST(suite, no_mutation_does_harm);
    CU_ADD_TEST(suite, a_refusal_that_cannot_be_is_refused);
    CU_ADD_TEST(suite, a_reason_that_cannot_be_is_refused);
    CU_ADD_TEST(suite, a_refused_method_rests_until_its_time);
    CU_ADD_TEST(suite, a_property_is_set_changed_and_removed);
    CU_ADD_TEST(suite, what_is_not_there_is_not_found);
}
