/* SPDX-License-Identifier: Apache-2.0 */
/* Races of the output store: many threads and processes make, read, notify and evict at once, and are killed at random
 * points. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "base/now.h"
#include "output_fixture.h"
#include "unit.h"

#define THREADS 4
#define KEYS 300   /* of one race to lead each */
#define READS 3000 /* of each thread */
#define NAMES 12   /* keys of the races in a store that has room for less */
#define KILLS 60
#define LARGEST 6000 /* of a body; above the threshold of a file */
#define IN_MEMORY 4096

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_SEQ_CST)

/* In the segment. */
typedef struct field_t {
    store_t *s;
    apr_uint64_t data;    /* atomic; what the outputs are made of: a number */
    apr_uint64_t told;    /* atomic; the last number whose notify has returned */
    apr_uint32_t leaders; /* atomic; who lead for the key of the race */
    apr_uint32_t twice;   /* atomic; how often two led at a time */
    apr_uint32_t torn;    /* atomic; bodies and names that are not what was written */
    apr_uint32_t stale;   /* atomic; entries that were current and older than the last notify */
    apr_uint32_t served;  /* atomic; entries that were current */
    apr_uint64_t steps;   /* atomic */
} field_t;

typedef struct member_t {
    field_t *x;
    unsigned slot;
    unsigned seed;
    pthread_barrier_t *barrier;
    pthread_t thread;
} member_t;

static field_t *begin(store_t *s, const vault_output_limits_t *limits)
{
    field_t *x;

    store_begin(s, limits);
    x = fixture_shared(&s->f, sizeof(*x));
    x->s = s;
    return x;
}

static void add(apr_uint32_t *counter, apr_uint32_t by)
{
    __atomic_add_fetch(counter, by, __ATOMIC_SEQ_CST);
}

static void run_threads(field_t *x, void *(*body)(void *))
{
    member_t m[THREADS];
    pthread_barrier_t barrier;
    unsigned i;

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (i = 0; i < THREADS; i++) {
        m[i] = (member_t){.x = x, .slot = x->s->slot[1 + i % 2], .seed = i + 1, .barrier = &barrier};
        CU_ASSERT_FATAL(pthread_create(&m[i].thread, NULL, body, &m[i]) == 0);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(m[i].thread, NULL);
    }
    pthread_barrier_destroy(&barrier);
}

/* ------------------------------------------------------------------- leading */

/* Until somebody has kept it: look, lead, or wait for the one who leads. */
static void race_for(member_t *m, const char *key, apr_pool_t *pool)
{
    store_t *s = m->x->s;
    vault_output_entry_t entry;
    vault_output_lead_t lead;
    vault_output_content_t content = {.body = key, .body_size = strlen(key)};

    for (;;) {
        memset(&entry, 0, sizeof(entry));
        if (vault_outputs_find(s->o, key, strlen(key), &entry, pool) == VAULT_OUTPUT_ENTRY) {
            return;
        }
        switch (vault_output_lead(s->o, key, strlen(key), 0, m->slot, &lead)) {
        case APR_SUCCESS:
            add(&m->x->leaders, 1);
            add(&m->x->twice, LOAD(m->x->leaders) > 1);
            sched_yield();
            add(&m->x->leaders, (apr_uint32_t)-1);
            vault_output_keep(s->o, &lead, &content);
            break;
        case APR_EBUSY:
            vault_interest_arm(s->f.notifier, lead.waiters, m->slot);
            while (vault_output_is_being_made(s->o, &lead.ref)) {
                sched_yield();
            }
            break;
        default:
            add(&m->x->torn, 1);
            return;
        }
    }
}

static void *race_to_lead(void *baton)
{
    member_t *m = baton;
    apr_pool_t *pool;
    unsigned i;

    if (apr_pool_create(&pool, NULL) != APR_SUCCESS) {
        return NULL;
    }
    for (i = 0; i < KEYS; i++) {
        pthread_barrier_wait(m->barrier);
        race_for(m, apr_psprintf(pool, "key-%u", i), pool);
        apr_pool_clear(pool);
    }
    apr_pool_destroy(pool);
    return NULL;
}

static void one_leads_at_a_time(void)
{
    store_t s;
    field_t *x = begin(&s, &(vault_output_limits_t){.entries = KEYS + THREADS});

    run_threads(x, race_to_lead);
    CU_ASSERT_EQUAL(x->twice, 0);
    CU_ASSERT_EQUAL(x->torn, 0);
    CU_ASSERT_EQUAL(store_totals(&s).entries, KEYS);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 0);
    store_end(&s);
}

/* ------------------------------------------------------------------- reading */

/* What an output looks like: a number, and as many equal letters as its first byte and key say. */
static apr_size_t size_of(apr_uint64_t number, unsigned name)
{
    return sizeof(number) + (apr_size_t)((number * 31 + name * 577) % (LARGEST - sizeof(number)));
}

static void write_output(char *text, apr_uint64_t number, unsigned name)
{
    memset(text, (int)('a' + (number + name) % 26), size_of(number, name));
    memcpy(text, &number, sizeof(number));
}

/* @return the number; all ones: it is torn */
static apr_uint64_t read_output(const char *text, apr_size_t size, unsigned name, apr_pool_t *pool)
{
    char *expected = apr_palloc(pool, LARGEST);
    apr_uint64_t number;

    memcpy(&number, text, size < sizeof(number) ? size : sizeof(number));
    if (size < sizeof(number) || size != size_of(number, name)) {
        return APR_UINT64_MAX;
    }
    write_output(expected, number, name);
    return memcmp(text, expected, size) ? APR_UINT64_MAX : number;
}

static void make_output(member_t *m, const char *key, unsigned name, apr_pool_t *pool)
{
    store_t *s = m->x->s;
    char *text = apr_palloc(pool, LARGEST);
    vault_output_content_t content = {.metadata = key, .metadata_size = strlen(key), .body = text};
    vault_output_lead_t lead;
    apr_uint64_t number;

    if (vault_output_lead(s->o, key, strlen(key), 0, m->slot, &lead) != APR_SUCCESS) {
        return;
    }
    if (vault_output_hold(s->o, &lead, "data") != APR_SUCCESS) {
        vault_output_abandon(s->o, &lead, NULL);
        return;
    }
    number = LOAD(m->x->data);
    write_output(text, number, name);
    content.body_size = size_of(number, name);
    if (rand_r(&m->seed) % 16 == 0) {
        vault_output_abandon(s->o, &lead, NULL);
    }
    else {
        vault_output_keep(s->o, &lead, &content);
    }
}

static const char *read_text(store_t *s, const vault_output_entry_t *entry, vault_output_form_t form, apr_size_t *size,
                             apr_pool_t *pool)
{
    vault_output_body_t body;
    char *text;

    if (vault_output_body(s->o, entry, form, &body, pool) != APR_SUCCESS) {
        return NULL;
    }
    *size = body.size;
    if (body.text) {
        return body.text;
    }
    text = apr_palloc(pool, body.size);
    return apr_file_read_full(body.file, text, body.size, NULL) == APR_SUCCESS ? text : "";
}

/* A form that is as the plain one. */
static void add_form(member_t *m, const vault_output_entry_t *entry, apr_pool_t *pool)
{
    store_t *s = m->x->s;
    apr_size_t size;
    const char *text;

    if (vault_output_claim_form(s->o, entry, VAULT_OUTPUT_GZIP)) {
        text = read_text(s, entry, VAULT_OUTPUT_PLAIN, &size, pool);
        vault_output_add_form(s->o, entry, VAULT_OUTPUT_GZIP, text, text ? size : 0);
    }
}

/* Serve an output as the module does: after the own hold, if it is current. @return 0: there was none */
static int serve(member_t *m, const char *key, unsigned name, apr_pool_t *pool)
{
    field_t *x = m->x;
    store_t *s = x->s;
    vault_output_entry_t entry = {.dep_count = 0};
    apr_uint64_t told = LOAD(x->told), stamp, number = APR_UINT64_MAX;
    vault_interest_t held;
    apr_size_t size;
    const char *text;
    int current;

    if (vault_outputs_find(s->o, key, strlen(key), &entry, pool) != VAULT_OUTPUT_ENTRY ||
        vault_interest_hold(s->f.notifier, "data", &held, &stamp) != APR_SUCCESS) {
        return 0;
    }
    add_form(m, &entry, pool);
    text = read_text(s, &entry, rand_r(&m->seed) % 2 ? VAULT_OUTPUT_PLAIN : VAULT_OUTPUT_GZIP, &size, pool);
    current = vault_output_is_current(s->o, &entry, vault_now());
    if (text) {
        number = read_output(text, size, name, pool);
        add(&x->torn, number == APR_UINT64_MAX);
    }
    if (text && current) {
        add(&x->served, 1);
        add(&x->stale, number < told);
    }
    vault_interest_release(s->f.notifier, held);
    return current;
}

static void change_data(field_t *x)
{
    apr_uint64_t number = __atomic_add_fetch(&x->data, 1, __ATOMIC_SEQ_CST), told = LOAD(x->told);

    vault_notifier_notify(x->s->f.notifier, "data", 0);
    while (told < number &&
           !__atomic_compare_exchange_n(&x->told, &told, number, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
}

/* What is listed is whole, whatever happens meanwhile. */
static void list(member_t *m, apr_pool_t *pool)
{
    vault_output_filter_t filter = {.part = "name-"};
    apr_array_header_t *rows = vault_outputs_list(m->x->s->o, &filter, VAULT_OUTPUT_BY_HITS, NAMES, NULL, pool);
    int i;

    for (i = 0; i < rows->nelts; i++) {
        if (strncmp(APR_ARRAY_IDX(rows, i, vault_output_row_t).name, "name-", 5) != 0) {
            add(&m->x->torn, 1);
        }
    }
}

static void use_store(member_t *m, apr_pool_t *pool)
{
    unsigned name = (unsigned)rand_r(&m->seed) % NAMES;
    const char *key = apr_psprintf(pool, "name-%u", name);

    switch (rand_r(&m->seed) % 64) {
    case 0:
        vault_outputs_drop(m->x->s->o, &(vault_output_filter_t){.part = key});
        break;
    case 1:
        vault_outputs_sweep(m->x->s->o, vault_now(), 0);
        break;
    case 2:
    case 3:
        change_data(m->x);
        break;
    case 4:
        list(m, pool);
        break;
    default:
        if (!serve(m, key, name, pool)) {
            make_output(m, key, name, pool);
        }
    }
    __atomic_add_fetch(&m->x->steps, 1, __ATOMIC_SEQ_CST);
    apr_pool_clear(pool);
}

static void *use_often(void *baton)
{
    member_t *m = baton;
    apr_pool_t *pool;
    unsigned i;

    if (apr_pool_create(&pool, NULL) == APR_SUCCESS) {
        for (i = 0; i < READS; i++) {
            use_store(m, pool);
        }
        apr_pool_destroy(pool);
    }
    return NULL;
}

/* Not all names fit, neither into memory nor on disk. */
#define TIGHT (&(vault_output_limits_t){.memory = 48 * 1024, .entries = 9, .memory_max = IN_MEMORY, .files = 20000})

static void check_field(field_t *x)
{
    CU_ASSERT_EQUAL(x->torn, 0);
    CU_ASSERT_EQUAL(x->stale, 0);
    CU_ASSERT(x->served > 0);
    CU_ASSERT(store_totals(x->s).evicted > 0);
}

static void threads_read_what_was_written(void)
{
    store_t s;
    field_t *x = begin(&s, TIGHT);

    run_threads(x, use_often);
    check_field(x);
    store_end(&s);
}

static void process(void *baton)
{
    fixture_ready();
    use_often(baton);
    _exit(0);
}

static void processes_read_what_was_written(void)
{
    store_t s;
    field_t *x = begin(&s, TIGHT);
    pid_t pid[2];
    unsigned i;

    for (i = 0; i < 2; i++) {
        member_t m = {.x = x, .slot = s.slot[1 + i], .seed = 100 + i};

        vault_outputs_set_slot(s.o, m.slot);
        pid[i] = fixture_fork(process, &m);
    }
    vault_outputs_set_slot(s.o, s.slot[1]);
    for (i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(fixture_wait(pid[i]), 0);
    }
    check_field(x);
    store_end(&s);
}

/* --------------------------------------------------------------------- kills */

static void use_for_ever(void *baton)
{
    member_t *m = baton;
    apr_pool_t *pool;

    if (apr_pool_create(&pool, NULL) != APR_SUCCESS) {
        _exit(1);
    }
    vault_outputs_set_slot(m->x->s->o, m->slot);
    fixture_ready();
    for (;;) {
        use_store(m, pool);
    }
}

/* A child, which is killed while this process goes on. */
static void kill_one(field_t *x, member_t *own, apr_pool_t *pool)
{
    apr_uint64_t until = LOAD(x->steps) + 20 + (apr_uint64_t)rand_r(&own->seed) % 200;
    member_t m = {.x = x, .seed = own->seed};
    unsigned slot;
    pid_t pid;

    CU_ASSERT_FATAL(vault_slot_claim(x->s->f.notifier, CHILD + 2, &m.slot) == APR_SUCCESS);
    pid = fixture_fork(use_for_ever, &m);
    while (LOAD(x->steps) < until) {
        use_store(own, pool);
    }
    fixture_kill(pid);
    CU_ASSERT_EQUAL(vault_slot_exited(x->s->f.notifier, CHILD + 2, &slot), 1);
    use_store(own, pool);
}

/* What it was handling is lost: a block, a hold. */
static void who_is_killed_stops_no_other(void)
{
    store_t s;
    field_t *x = begin(
        &s, &(vault_output_limits_t){.memory = 512 * 1024, .entries = 9, .memory_max = IN_MEMORY, .files = 20000});
    member_t own = {.x = x, .slot = s.slot[1], .seed = 3};
    apr_time_t now = vault_now();
    apr_pool_t *pool;
    unsigned k;

    CU_ASSERT_FATAL(apr_pool_create(&pool, s.f.pool) == APR_SUCCESS);
    for (k = 0; k < KILLS; k++) {
        kill_one(x, &own, pool);
        vault_outputs_sweep(s.o, now += apr_time_from_sec(1), 0);
        CU_ASSERT_EQUAL(store_totals(&s).making, 0);
        CHECK_STORE(&s);
    }
    check_field(x);
    vault_outputs_drop(s.o, NULL);
    CHECK_STORE(&s);
    CU_ASSERT(store_totals(&s).memory <= KILLS * IN_MEMORY);
    CU_ASSERT_EQUAL(store_totals(&s).files, 0);
    CU_ASSERT_EQUAL(store_files(&s), 0);
    CU_ASSERT(vault_interest_count(s.f.notifier) <= KILLS);
    store_remove_folder(&s);
    fixture_end(&s.f);
}

void vault_output_race_suite(void)
{
    CU_pSuite suite = CU_add_suite("output_race", NULL, NULL);

    CU_ADD_TEST(suite, one_leads_at_a_time);
    CU_ADD_TEST(suite, threads_read_what_was_written);
    CU_ADD_TEST(suite, processes_read_what_was_written);
    CU_ADD_TEST(suite, who_is_killed_stops_no_other);
}
