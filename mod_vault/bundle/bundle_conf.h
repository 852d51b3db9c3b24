/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bundle_conf.h
 * The directives VaultBundle…: which bundles a virtual host has, and what minifies them.
 *
 * The directives stand in a virtual host or outside of all. A virtual host has its own bundles and those of the main
 * server; its own take precedence.
 */
#ifndef VAULT_BUNDLE_CONF_H
#define VAULT_BUNDLE_CONF_H

#include "bundle/bundle_files.h"
#include "bundle/bundle_tool.h"
#include "server/conf.h"

/** VaultBundle: const from the check of the configuration on. */
typedef struct vault_bundle_t {
    const char *url;         /* "/css/site.css" */
    const char *stem, *type; /* its parts: "/css/site" and ".css" */
    vault_bundle_kind_t kind;
    const server_rec *server; /* of the directive: its DocumentRoot holds the files with relative names */
    vault_bundle_files_t files;
    apr_size_t size;      /* of the joined files at the start */
    apr_time_t *retry_at; /* atomic; of this process: the store had no room, so try again then */
} vault_bundle_t;

/** The values of these directives in a virtual host. */
typedef struct vault_bundle_conf_t {
    apr_array_header_t *bundles;                          /* of vault_bundle_t *; NULL: none */
    const vault_bundle_tool_t *tools[VAULT_BUNDLE_KINDS]; /* NULL: not set; without a program: Off */
    int timeout;                                          /* VaultBundleTimeout, seconds; 0: not set */
} vault_bundle_conf_t;

extern const vault_conf_t vault_bundle_conf;
extern const command_rec vault_bundle_directives[];

/** The values for `r`; NULL: httpd has not merged the sections of the request yet. */
const vault_bundle_conf_t *vault_bundle_conf_of(const request_rec *r);

/** The configured tool for a bundle. NULL: there is none. */
const vault_bundle_tool_t *vault_bundle_conf_tool(const vault_bundle_conf_t *l, const vault_bundle_t *b);

/** How long a tool may run. */
apr_interval_time_t vault_bundle_conf_timeout(const vault_bundle_conf_t *l);

/** Forget the bundles of the last configuration, before the configuration is read. */
void vault_bundle_conf_reset(apr_pool_t *pconf);

/** Register the hook that checks the files of all bundles when the configuration has been read. */
void vault_bundle_conf_hooks(void);

#endif
