/* SPDX-License-Identifier: Apache-2.0 */
/* status --cluster: the servers of the cluster that the asked one belongs to. */
#include <stdio.h>
#include <string.h>

#include "http.h"
#include "output.h"

static const char *const figures[] = {"Pages",        "Waiting",          "Interests",
                                      "NotifiesSent", "NotifiesReceived", "NotifiesExtraneous"};
#define FIGURES (sizeof(figures) / sizeof(figures[0]))

static json_int_t number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

static const char *text(const json_t *object, const char *name)
{
    const char *value = vaultctl_json_text(json_object_get(object, name));

    return *value != '\0' ? value : "-";
}

static double seconds(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static void print_server(const json_t *server)
{
    vaultctl_print("%-16s %-24s %-10s %-13s %9.0f %6.1f", text(server, "Server"), text(server, "Address"),
                   text(server, "Release"), text(server, "Strategy"), seconds(server, "SeenSeconds"),
                   seconds(server, "HeartbeatSeconds"));
    for (size_t i = 0; i < FIGURES; i++) {
        vaultctl_print(" %*" JSON_INTEGER_FORMAT, (int)strlen(figures[i]) < 9 ? 9 : (int)strlen(figures[i]),
                       number(server, figures[i]));
    }
    vaultctl_print("  %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT "%s%s\n", number(server, "Engines"),
                   number(server, "EnginesMax"), json_is_true(json_object_get(server, "This")) ? " (asked)" : "",
                   json_is_false(json_object_get(server, "Compatible")) ? " (another configuration or version)" : "");
}

static void print_servers(const json_t *servers)
{
    const json_t *server;
    size_t i;

    vaultctl_print("%-16s %-24s %-10s %-13s %9s %6s", "Server", "Address", "Release", "Strategy", "Seen s", "Beat s");
    for (i = 0; i < FIGURES; i++) {
        vaultctl_print(" %9s", figures[i]);
    }
    vaultctl_print("  Engines\n");
    json_array_foreach(servers, i, server)
    {
        print_server(server);
    }
}

int vaultctl_cluster(const vaultctl_options_t *options, char *const *words, int count, apr_pool_t *pool)
{
    vaultctl_http_t *http = vaultctl_http_open(options, pool);
    json_t *answer, *servers;
    int status;

    if (http == NULL) {
        return VAULTCTL_TROUBLE;
    }
    status = vaultctl_http_json(http, &answer, "status?cluster", NULL, pool);
    if (status != VAULTCTL_DONE) {
        return status;
    }
    servers = json_object_get(answer, "Servers");
    if (!json_is_array(servers)) {
        status = vaultctl_say(VAULTCTL_TROUBLE, "%sstatus?cluster: this is not what mod_vault answers", options->url);
    }
    else if (json_array_size(servers) == 0) {
        status = vaultctl_say(VAULTCTL_FAILED, "this server belongs to no cluster: it has no VaultCluster");
    }
    else if (options->json) {
        vaultctl_print_json(servers, JSON_INDENT(2));
    }
    else {
        print_servers(servers);
    }
    json_decref(answer);
    return status;
}
