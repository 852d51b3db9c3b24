/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sets of passes by client, against a linear list. */
#include <stdlib.h>
#include <string.h>

#include "qos_fixture.h"
#include "unit.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define PASSES 200
#define CLIENTS 12
#define STEPS 20000

/* What the set should contain. */
typedef struct model_t {
    gates_t g;
    apr_uint32_t root;
    apr_uint64_t tickets;
    apr_uint64_t id[CLIENTS];
    apr_uint32_t running[CLIENTS];
    apr_uint64_t turn[CLIENTS];
    int holds[PASSES + 1]; /* by index: 1 + the client; 0: it is not in the set */
    unsigned seed;
} model_t;

static unsigned draw(model_t *m, unsigned below)
{
    return (unsigned)rand_r(&m->seed) % below;
}

static qos_pass_t *at(model_t *m, apr_uint32_t index)
{
    return qos_pass_at(m->g.q, index);
}

static apr_uint32_t count_of(const model_t *m, unsigned client)
{
    apr_uint32_t index, count = 0;

    for (index = 1; index <= PASSES; index++) {
        count += m->holds[index] == (int)client + 1;
    }
    return count;
}

/* @param latest  1: the one with the highest ticket; 0: with the lowest */
static apr_uint32_t end_of(model_t *m, unsigned client, int latest)
{
    apr_uint32_t index, found = 0;

    for (index = 1; index <= PASSES; index++) {
        if (m->holds[index] == (int)client + 1 && (!found || (at(m, index)->ticket > at(m, found)->ticket) == latest)) {
            found = index;
        }
    }
    return found;
}

static void add(model_t *m, apr_uint32_t index, unsigned client)
{
    qos_pass_t *pass = at(m, index);

    if (!count_of(m, client)) {
        m->running[client] = 0;
        m->turn[client] = 0;
    }
    pass->client = m->id[client];
    pass->ticket = ++m->tickets;
    pass->state = QOS_QUEUED;
    pass->rank = 0;
    m->holds[index] = (int)client + 1;
    qos_clients_add(m->g.q, &m->root, index);
}

static void step(model_t *m)
{
    apr_uint32_t index = 1 + draw(m, PASSES);
    unsigned client = draw(m, CLIENTS);

    if (draw(m, 4) == 0) {
        m->running[client] = draw(m, 5);
        m->turn[client] = 1 + draw(m, 1000);
        qos_clients_schedule(m->g.q, &m->root, m->id[client], m->running[client], m->turn[client]);
        if (!count_of(m, client)) {
            m->running[client] = 0; /* it has no leader to keep that */
        }
    }
    else if (m->holds[index]) {
        m->holds[index] = 0;
        qos_clients_remove(m->g.q, &m->root, index);
    }
    else {
        add(m, index, client);
    }
}

/* No other client is to be admitted earlier, and none has more passes. */
static void compare_winners(model_t *m)
{
    const qos_pass_t *root = at(m, m->root), *first, *most;
    unsigned client;

    if (!root) {
        return;
    }
    first = at(m, root->first);
    most = at(m, root->most);
    for (client = 0; client < CLIENTS; client++) {
        apr_uint32_t count = count_of(m, client);

        CU_ASSERT_EQUAL_FATAL(qos_clients_count(m->g.q, &m->root, m->id[client]), count);
        CU_ASSERT_EQUAL_FATAL(qos_clients_find(m->g.q, &m->root, m->id[client]), end_of(m, client, 0));
        if (!count) {
            continue;
        }
        CU_ASSERT_FATAL(first->running < m->running[client] ||
                        (first->running == m->running[client] && first->turn <= m->turn[client]));
        CU_ASSERT_FATAL(most->count > count ||
                        (most->count == count && at(m, most->earlier)->ticket >= at(m, end_of(m, client, 1))->ticket));
    }
}

static void play(const apr_uint64_t id[CLIENTS], unsigned seed, const char *why)
{
    static model_t m;
    apr_uint32_t count = 0;
    int i;

    memset(&m, 0, sizeof(m));
    gates_begin(&m.g, 1, 1, 0);
    memcpy(m.id, id, sizeof(m.id));
    m.seed = seed;
    for (i = 0; i < STEPS; i++) {
        step(&m);
        count = 0;
        CHECK_SOUND(qos_clients_check(m.g.q, &m.root, QOS_QUEUED, &count));
        compare_winners(&m);
    }
    for (i = 1; i <= PASSES; i++) {
        if (m.holds[i]) {
            qos_clients_remove(m.g.q, &m.root, (apr_uint32_t)i);
        }
    }
    CHECK_ROW(m.root == 0, why);
    gates_end(&m.g);
}

static void a_set_agrees_with_a_list(void)
{
    apr_uint64_t id[CLIENTS];
    unsigned i, seed = 5;

    for (i = 0; i < CLIENTS; i++) {
        id[i] = (apr_uint64_t)rand_r(&seed) << 33 ^ (apr_uint64_t)rand_r(&seed);
    }
    play(id, 1, "random ids, as hashes are");
    for (i = 0; i < CLIENTS; i++) {
        id[i] = i;
    }
    play(id, 2, "small numbers, 0 among them");
    for (i = 0; i < CLIENTS; i++) {
        id[i] = APR_UINT64_C(1) << (63 - i);
    }
    play(id, 3, "ids that differ in their last bits only, so that the tree is a list");
    for (i = 0; i < CLIENTS; i++) {
        id[i] = (apr_uint64_t)i << 60;
    }
    id[4] = APR_UINT64_MAX;
    play(id, 4, "ids that share 60 bits");
}

/* Each level of the tree uses one bit, so 64 ids may need 65 levels. */
static void a_tree_is_never_deeper_than_an_id(void)
{
    gates_t g;
    apr_uint32_t root = 0, index, count = 0;

    gates_begin(&g, 1, 1, 0);
    for (index = 1; index <= 65; index++) {
        qos_pass_at(g.q, index)->client = index == 1 ? 0 : APR_UINT64_C(1) << (65 - index);
        qos_pass_at(g.q, index)->ticket = index;
        qos_pass_at(g.q, index)->state = QOS_QUEUED;
        qos_clients_add(g.q, &root, index);
    }
    CHECK_SOUND(qos_clients_check(g.q, &root, QOS_QUEUED, &count));
    CU_ASSERT_EQUAL(count, 65);
    CU_ASSERT_EQUAL(qos_pass_at(g.q, root)->most, 65); /* each has one, so it is the latest */
    for (index = 1; index <= 65; index++) {
        qos_clients_remove(g.q, &root, index);
    }
    CU_ASSERT_EQUAL(root, 0);
    gates_end(&g);
}

void vault_qos_clients_suite(void)
{
    CU_pSuite suite = CU_add_suite("qos_clients", NULL, NULL);

    CU_ADD_TEST(suite, a_set_agrees_with_a_list);
    CU_ADD_TEST(suite, a_tree_is_never_deeper_than_an_id);
}
