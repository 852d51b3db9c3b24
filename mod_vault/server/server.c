/* SPDX-License-Identifier: Apache-2.0 */
/* The server as this process sees it: child.c fills it in. */
#include "server/server.h"

vault_server_t vault_server;
