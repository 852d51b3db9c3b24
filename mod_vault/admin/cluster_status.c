/* SPDX-License-Identifier: Apache-2.0 */
/* Shows the servers of the cluster. What the other servers say of themselves is printable ASCII (peers.h), and escaped
 * here. */
#include "admin/cluster_status.h"

#include <jansson.h>

#include "http_protocol.h"

#include "base/now.h"
#include "cluster/cluster_facts.h"
#include "request/reply.h"

/* The first server is this one. */
static unsigned get_servers(const vault_peer_t **servers, apr_pool_t *pool)
{
    vault_peer_t *copy = apr_palloc(pool, (VAULT_PEERS_MAX + 1) * sizeof(*copy));

    *servers = copy;
    return vault_cluster_servers(copy);
}

static double seconds_since(apr_time_t time)
{
    apr_time_t now = vault_now();

    return now > time ? (double)(now - time) / APR_USEC_PER_SEC : 0;
}

static json_t *server_json(const vault_peer_t *s, int is_this)
{
    json_t *server =
        json_pack("{s:s, s:s, s:b, s:b, s:s, s:s, s:f, s:f}", "Server", s->name, "Address", s->facts.address, "This",
                  is_this, "Compatible", !s->is_stranger, "Release", s->facts.release, "Strategy", s->facts.strategy,
                  "SeenSeconds", seconds_since(s->since), "HeartbeatSeconds", seconds_since(s->heard));

#define SET(field, name, meaning) json_object_set_new(server, name, json_integer((json_int_t)s->facts.field));
    VAULT_FACTS_FIGURES(SET)
#undef SET
    return server;
}

int vault_cluster_status_write(request_rec *r)
{
    const vault_peer_t *servers;
    unsigned count = get_servers(&servers, r->pool), i;
    json_t *list = json_array();

    for (i = 0; i < count; i++) {
        json_array_append_new(list, server_json(&servers[i], i == 0));
    }
    return vault_reply_json(r, HTTP_OK, json_pack("{s:o}", "Servers", list));
}

void vault_cluster_status_auto(request_rec *r)
{
    const vault_peer_t *servers;
    unsigned count = get_servers(&servers, r->pool), i;

    for (i = 0; i < count; i++) {
        const vault_peer_t *s = &servers[i];
        ap_rprintf(r,
                   "Server%uName: %s\nServer%uAddress: %s\nServer%uCompatible: %d\nServer%uRelease: %s\n"
                   "Server%uStrategy: %s\nServer%uSeenSeconds: %.1f\nServer%uHeartbeatSeconds: %.1f\n",
                   i + 1, s->name, i + 1, s->facts.address, i + 1, !s->is_stranger, i + 1, s->facts.release, i + 1,
                   s->facts.strategy, i + 1, seconds_since(s->since), i + 1, seconds_since(s->heard));
#define WRITE(field, name, meaning) ap_rprintf(r, "Server%u" name ": %" APR_UINT64_T_FMT "\n", i + 1, s->facts.field);
        VAULT_FACTS_FIGURES(WRITE)
#undef WRITE
    }
}

static void write_html_row(request_rec *r, const vault_peer_t *s)
{
    ap_rprintf(r, "<tr><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%.1f</td><td>%.1f</td>",
               ap_escape_html(r->pool, s->name), ap_escape_html(r->pool, s->facts.address),
               s->is_stranger ? "no" : "yes", ap_escape_html(r->pool, s->facts.release),
               ap_escape_html(r->pool, s->facts.strategy), seconds_since(s->since), seconds_since(s->heard));
#define WRITE(field, name, meaning) ap_rprintf(r, "<td>%" APR_UINT64_T_FMT "</td>", s->facts.field);
    VAULT_FACTS_FIGURES(WRITE)
#undef WRITE
    ap_rputs("</tr>\n", r);
}

void vault_cluster_status_html(request_rec *r)
{
    const vault_peer_t *servers;
    unsigned count = get_servers(&servers, r->pool), i;

    if (!count) {
        return;
    }
    ap_rputs("<h2>Servers of the cluster</h2>\n<table>\n<tr><th>server</th><th>address</th><th>compatible</th>"
             "<th>release</th><th>strategy</th><th>seen for s</th><th>heartbeat s ago</th>",
             r);
#define HEAD(field, name, meaning) ap_rputs("<th title=\"" meaning "\">" name "</th>", r);
    VAULT_FACTS_FIGURES(HEAD)
#undef HEAD
    ap_rputs("</tr>\n", r);
    for (i = 0; i < count; i++) {
        write_html_row(r, &servers[i]);
    }
    ap_rputs("</table>\n", r);
}
