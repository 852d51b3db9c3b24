/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol as a browser speaks it: see client.h. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int client_find_page_id(char id[CLIENT_ID_SIZE], const wire_answer_t *answer)
{
    static const char mark[] = "data-vault-page=\"";
    const char *at = answer->status == 200 ? strstr(answer->body, mark) : NULL;
    size_t length;

    if (at == NULL) {
        return 0;
    }
    at += sizeof mark - 1;
    length = strcspn(at, "\"");
    if (length == 0 || length >= CLIENT_ID_SIZE) {
        wire_die("a page id of %zu characters", length);
    }
    memcpy(id, at, length);
    id[length] = '\0';
    return 1;
}

void client_page_id(char id[CLIENT_ID_SIZE], const wire_answer_t *answer)
{
    if (!client_find_page_id(id, answer)) {
        wire_die("a page was answered %d without a page id: %.200s", answer->status, answer->body);
    }
}

static void send_poll(wire_conn_t *conn, const char *method, const char *id, uint64_t seq, const char *more,
                      const char *header)
{
    char request[256];
    int length =
        snprintf(request, sizeof request, "%s /vault/poll?page=%s&seq=%llu%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n",
                 method, id, (unsigned long long)seq, more, header);

    wire_send(conn, request, (size_t)length);
}

void client_poll(wire_conn_t *conn, const char *id, uint64_t seq)
{
    send_poll(conn, "GET", id, seq, "", "");
}

void client_subscribe(wire_conn_t *conn, const char *channel)
{
    char request[320];
    int length = snprintf(request, sizeof request, "GET /sub?id=%s HTTP/1.1\r\nHost: localhost\r\n\r\n", channel);

    wire_send(conn, request, (size_t)length);
}

void client_stream(wire_conn_t *conn, const char *id, uint64_t seq)
{
    send_poll(conn, "GET", id, seq, "", "Accept: text/event-stream\r\n");
}

void client_acknowledge(wire_conn_t *conn, const char *id, uint64_t seq)
{
    send_poll(conn, "POST", id, seq, "&ack=1", "Content-Length: 0\r\n");
}

uint64_t client_seq(const char *body)
{
    const char *seq = strstr(body, "\"seq\":");

    if (seq == NULL) {
        wire_die("an answer without seq: %.200s", body);
    }
    return strtoull(seq + 6, NULL, 10);
}
