/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings.h
 * The directives and what they come to: per location, and for the server as a whole.
 */
#ifndef VAULT_SETTINGS_H
#define VAULT_SETTINGS_H

#include "httpd.h"
#include "http_config.h"
#include "ap_expr.h"

#include "server/conf.h"
#include "shm/segment.h"

/** Per location. */
typedef struct vault_location_t {
    int long_poll;                           /* VaultLongPoll; -1: not said */
    int timeout;                             /* VaultLongPollTimeout, seconds; 0: not said */
    int stream;                              /* VaultStreamTimeout, seconds; 0: no streams; -1: not said */
    int max_methods;                         /* VaultMaxMethods; 0: not said */
    apr_off_t max_output;                    /* VaultMaxOutput, bytes; 0: not said */
    apr_off_t max_answer;                    /* VaultMaxAnswer, bytes; 0: not said */
    apr_off_t max_poll_body;                 /* VaultMaxPollBody, bytes; 0: not said */
    const char *path;                        /* VaultPath; NULL: not said */
    const char *handler;                     /* SetHandler, but of no .htaccess file; NULL: not said */
    apr_array_header_t *polls;               /* VaultPoll, of vault_rule_t; NULL: not said; empty: Off */
    apr_array_header_t *interests;           /* VaultInterest, of vault_rule_t; NULL: not said; empty: Off */
    apr_array_header_t *feed_log;            /* VaultFeedLog, of vault_feed_log_t *; NULL: not said; empty: Off */
    apr_array_header_t *exposed;             /* VaultFeedExpose, of vault_exposed_t; NULL: not said; empty: Off */
    const struct vault_feed_key_t *feed_key; /* VaultFeedKeyFile; NULL: not said */
    apr_array_header_t *notify_after;        /* VaultNotifyAfter, of const char *; NULL: not said; empty: Off */
    int notify;                              /* VaultNotify: does Vault-Notify count; -1: not said, it does */
    apr_array_header_t *origins;             /* VaultLongPollOrigin, of const char *; NULL: not said; empty: Off */
    int same_origin;                         /* VaultSameOrigin; -1: not said */
} vault_location_t;

/** One method of `VaultFeedExpose NAME METHOD …`. */
typedef struct vault_exposed_t {
    const char *feed;
    const char *method;
} vault_exposed_t;

/** One `VaultFeedLog NAME METHOD key=expression …`. */
typedef struct vault_feed_log_t {
    const char *feed;
    const char *method;
    const char *where;             /* file and line, for the start-up check */
    apr_array_header_t *arguments; /* of vault_argument_t */
} vault_feed_log_t;

typedef struct vault_argument_t {
    const char *name;
    ap_expr_info_t *value;
} vault_argument_t;

/** For the server as a whole; the defaults before pre_config. */
typedef struct vault_settings_t {
    vault_limits_t limits;  /* VaultSharedMemory, VaultMaxInterests, VaultMaxPages; slots from the MPM */
    int page_timeout;       /* VaultPageTimeout, seconds */
    int max_client_pages;   /* VaultMaxPagesPerClient */
    int max_page_interests; /* VaultMaxPageInterests */
    int notify_rate;        /* VaultNotifyRate, a second; 0: no limit */
    int max_waiting;        /* VaultMaxWaiting; 0: what MPM and descriptors allow */
    int threads;            /* VaultLongPollThreads */
    int runs;               /* VaultLongPollRuns; 0: half of ThreadsPerChild */

    apr_off_t max_client_memory; /* VaultMaxMemoryPerClient, bytes; 0: not said */
    int max_client_interests;    /* VaultMaxInterestsPerClient; 0: not said */
    apr_off_t max_client_unsent; /* VaultMaxUnsentPerClient, bytes */
    int max_client_waiting;      /* VaultMaxWaitingPerClient; 0: a quarter of what can wait in all children */
} vault_settings_t;

extern vault_settings_t vault_settings;
extern const command_rec vault_commands[];

/** Back to the defaults: before each reading of the configuration. */
void vault_settings_reset(void);

extern const vault_conf_t vault_location_conf;

/** What holds for the request, defaults filled in by these. */
const vault_location_t *vault_location_of(const request_rec *r);
int vault_location_timeout(const vault_location_t *l);
int vault_location_stream(const vault_location_t *l);
int vault_location_max_methods(const vault_location_t *l);
apr_off_t vault_location_max_output(const vault_location_t *l);
apr_off_t vault_location_max_answer(const vault_location_t *l);
apr_off_t vault_location_max_poll_body(const vault_location_t *l);
const char *vault_location_path(const vault_location_t *l);

/** A whole number from a directive.
 * @param other  what else the directive accepts, for the sentence: "; or Off"
 * @return NULL, or the sentence that stops the start */
const char *vault_settings_number(cmd_parms *cmd, const char *value, int min, int max, const char *other, int *number);

#endif
