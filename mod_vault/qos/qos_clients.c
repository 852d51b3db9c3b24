/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos_clients.c
 * Passes by client: how many a client has, which client is to be let in first, and which client has the most.
 *
 * A set holds the passes of one gate that are in, or those that queue with one rank. The passes of a client in a set
 * form a ring in order of arrival; the oldest of them is the leader. The leaders form a digital search tree by client
 * id: a leader at depth d shares the first d bits of its id with the path to it. Ids are SipHash values under a secret
 * key, so the tree is as flat as one of random keys, and no tree is deeper than 64. Each leader also knows, of itself
 * and all leaders below it, which one is to be let in first and which one has the most passes. So each step takes some
 * tens of instructions, however many requests queue.
 *
 * Everything here is derived: qos_gate_mend() makes it anew from the states of the passes.
 */
#include "qos/qos_table.h"

#define BITS 64

static unsigned side(apr_uint64_t client, unsigned depth)
{
    return (unsigned)(client >> depth) & 1;
}

/* The link to the client's leader, or the empty link where it belongs. NULL: corrupted memory. */
static apr_uint32_t *seek(const vault_qos_t *q, apr_uint32_t *root, apr_uint64_t client)
{
    apr_uint32_t *link = root;
    qos_pass_t *leader;
    unsigned depth;

    for (depth = 0; (leader = qos_pass_at(q, *link)) && leader->client != client; depth++) {
        if (depth == BITS) {
            return NULL;
        }
        link = &leader->child[side(client, depth)];
    }
    return link;
}

apr_uint32_t qos_clients_find(const vault_qos_t *q, const apr_uint32_t *root, apr_uint64_t client)
{
    apr_uint32_t copy = *root;
    const apr_uint32_t *link = seek(q, &copy, client);

    return link ? *link : 0;
}

apr_uint32_t qos_clients_count(const vault_qos_t *q, const apr_uint32_t *root, apr_uint64_t client)
{
    const qos_pass_t *leader = qos_pass_at(q, qos_clients_find(q, root, client));

    return leader ? leader->count : 0;
}

/* -------------------------------------------------------------------- winners */

static int goes_before(const qos_pass_t *a, const qos_pass_t *b)
{
    return a->running != b->running ? a->running < b->running : a->turn < b->turn;
}

static int has_more(const vault_qos_t *q, const qos_pass_t *a, const qos_pass_t *b)
{
    const qos_pass_t *latest_a = qos_pass_at(q, a->earlier), *latest_b = qos_pass_at(q, b->earlier);

    if (a->count != b->count || !latest_a || !latest_b) {
        return a->count > b->count;
    }
    return latest_a->ticket > latest_b->ticket;
}

/* Chooses among the leader itself and the winners of the two subtrees. */
static void choose(const vault_qos_t *q, apr_uint32_t index)
{
    qos_pass_t *leader = qos_pass_at(q, index);
    unsigned i;

    leader->first = leader->most = index;
    for (i = 0; i < 2; i++) {
        const qos_pass_t *below = qos_pass_at(q, leader->child[i]), *first, *most;

        if (!below || !(first = qos_pass_at(q, below->first)) || !(most = qos_pass_at(q, below->most))) {
            continue;
        }
        if (goes_before(first, qos_pass_at(q, leader->first))) {
            leader->first = below->first;
        }
        if (has_more(q, most, qos_pass_at(q, leader->most))) {
            leader->most = below->most;
        }
    }
}

/* Chooses for all leaders on the client's path, from the last one upwards. */
static void choose_on_path(const vault_qos_t *q, apr_uint32_t root, apr_uint64_t client)
{
    apr_uint32_t path[BITS + 1], index = root;
    unsigned depth = 0;

    while (qos_pass_at(q, index) && depth <= BITS) {
        path[depth] = index;
        index = qos_pass_at(q, index)->child[side(client, depth)];
        depth++;
    }
    while (depth-- > 0) {
        choose(q, path[depth]);
    }
}

/* --------------------------------------------------------------------- leaders */

/* A link to a leader directly below; NULL: there is none. */
static apr_uint32_t *any_below(const vault_qos_t *q, qos_pass_t *leader)
{
    return qos_pass_at(q, leader->child[0])   ? &leader->child[0]
           : qos_pass_at(q, leader->child[1]) ? &leader->child[1]
                                              : NULL;
}

/* Removes a leader from the tree. A leaf below it takes its position: any leader below shares the bits of the
 * path. */
static void remove_leader(const vault_qos_t *q, apr_uint32_t *root, apr_uint32_t *link)
{
    qos_pass_t *leader = qos_pass_at(q, *link), *leaf = leader;
    apr_uint32_t *last = link, *below, index;
    unsigned depth;

    for (depth = 0; depth < BITS && (below = any_below(q, leaf)); depth++) {
        last = below;
        leaf = qos_pass_at(q, *last);
    }
    index = *last;
    *last = 0;
    if (leaf != leader) {
        leaf->child[0] = leader->child[0];
        leaf->child[1] = leader->child[1];
        *link = index;
    }
    choose_on_path(q, *root, leaf->client);
}

static void add_leader(const vault_qos_t *q, apr_uint32_t *root, apr_uint32_t *link, apr_uint32_t index)
{
    qos_pass_t *leader = qos_pass_at(q, index);

    leader->child[0] = leader->child[1] = 0;
    leader->earlier = leader->later = index;
    leader->count = 1;
    leader->running = 0;
    leader->turn = 0;
    *link = index;
    choose_on_path(q, *root, leader->client);
}

/* The oldest pass of a client leaves, and the next one becomes the leader. */
static void replace_leader(const vault_qos_t *q, apr_uint32_t *link, apr_uint32_t index)
{
    const qos_pass_t *old = qos_pass_at(q, *link);
    qos_pass_t *leader = qos_pass_at(q, index);

    leader->child[0] = old->child[0];
    leader->child[1] = old->child[1];
    leader->count = old->count;
    leader->running = old->running;
    leader->turn = old->turn;
    *link = index;
}

/* ---------------------------------------------------------------------- passes */

void qos_clients_add(const vault_qos_t *q, apr_uint32_t *root, apr_uint32_t index)
{
    qos_pass_t *pass = qos_pass_at(q, index), *leader, *latest;
    apr_uint32_t *link = seek(q, root, pass->client);

    if (!link || !*link) {
        if (link) {
            add_leader(q, root, link, index);
        }
        return;
    }
    leader = qos_pass_at(q, *link);
    latest = qos_pass_at(q, leader->earlier);
    pass->earlier = leader->earlier;
    pass->later = *link;
    if (latest) {
        latest->later = index;
    }
    leader->earlier = index;
    leader->count++;
    choose_on_path(q, *root, pass->client);
}

void qos_clients_remove(const vault_qos_t *q, apr_uint32_t *root, apr_uint32_t index)
{
    qos_pass_t *pass = qos_pass_at(q, index), *leader, *earlier, *later;
    apr_uint32_t *link = seek(q, root, pass->client);

    if (!link || !(leader = qos_pass_at(q, *link))) {
        return;
    }
    if (leader->count <= 1) {
        remove_leader(q, root, link);
        return;
    }
    earlier = qos_pass_at(q, pass->earlier);
    later = qos_pass_at(q, pass->later);
    leader->count--;
    if (earlier && later) {
        earlier->later = pass->later;
        later->earlier = pass->earlier;
    }
    if (*link == index && later) {
        replace_leader(q, link, pass->later);
    }
    choose_on_path(q, *root, pass->client);
}

void qos_clients_schedule(const vault_qos_t *q, apr_uint32_t *root, apr_uint64_t client, apr_uint32_t running,
                          apr_uint64_t turn)
{
    qos_pass_t *leader = qos_pass_at(q, qos_clients_find(q, root, client));

    if (leader) {
        leader->running = running;
        leader->turn = turn ? turn : leader->turn;
        choose_on_path(q, *root, client);
    }
}

/* -------------------------------------------------------------------- checking */

static const char *check_ring(const vault_qos_t *q, apr_uint32_t index, apr_uint32_t state)
{
    const qos_pass_t *leader = qos_pass_at(q, index), *pass = leader;
    apr_uint32_t n;

    for (n = 0; n < leader->count; n++) {
        const qos_pass_t *later = qos_pass_at(q, pass->later);

        if (pass->state != state || pass->client != leader->client || pass->rank != leader->rank || !later ||
            qos_pass_at(q, later->earlier) != pass) {
            return "the requests of a client hold a pass that does not belong there";
        }
        if (later != leader && state == QOS_QUEUED && later->ticket <= pass->ticket) {
            return "the requests of a client are not in order of arrival";
        }
        pass = later;
    }
    return pass == leader ? NULL : "a client has another number of requests than was counted";
}

static const char *check_tree(const vault_qos_t *q, apr_uint32_t index, apr_uint32_t state, unsigned depth,
                              apr_uint32_t *count)
{
    qos_pass_t *leader = qos_pass_at(q, index);
    apr_uint32_t first, most;
    const char *wrong;

    if (!leader || depth > BITS) {
        return index ? "the tree of clients has no end" : NULL;
    }
    first = leader->first;
    most = leader->most;
    choose(q, index);
    if (first != leader->first || most != leader->most) {
        return "the tree of clients names the wrong one";
    }
    *count += leader->count;
    if ((wrong = check_ring(q, index, state)) || (wrong = check_tree(q, leader->child[0], state, depth + 1, count))) {
        return wrong;
    }
    return check_tree(q, leader->child[1], state, depth + 1, count);
}

static const char *check_paths(const vault_qos_t *q, const apr_uint32_t *root, apr_uint32_t index)
{
    const qos_pass_t *leader = qos_pass_at(q, index);
    const char *wrong;

    if (!leader) {
        return NULL;
    }
    if (qos_clients_find(q, root, leader->client) != index) {
        return "a client cannot be found";
    }
    wrong = check_paths(q, root, leader->child[0]);
    return wrong ? wrong : check_paths(q, root, leader->child[1]);
}

const char *qos_clients_check(const vault_qos_t *q, const apr_uint32_t *root, apr_uint32_t state, apr_uint32_t *count)
{
    const char *wrong = check_tree(q, *root, state, 0, count);

    return wrong ? wrong : check_paths(q, root, *root);
}
