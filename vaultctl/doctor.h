/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file doctor.h
 * Shared by the files of doctor: the page under test, and the findings so far.
 */
#ifndef VAULTCTL_DOCTOR_H
#define VAULTCTL_DOCTOR_H

#include <jansson.h>

#include "html.h"
#include "visit.h"

typedef struct vaultctl_doctor_t {
    const vaultctl_options_t *options;
    vaultctl_visitor_t *visitor;
    apr_pool_t *pool;
    vaultctl_visit_t page; /* the first load, after all redirects */
    vaultctl_html_t html;
    const char *script; /* URL of vault.js; NULL: the HTML has none */
    const char *stream; /* the URL of polls, used by another client than vault.js for a stream of HTML; NULL: none */
    json_int_t seq;     /* the number that the next poll sends as its seq */
    int live;           /* mod_vault answers its polls, and not all of its methods fail */
    int broken;         /* all of its methods fail */
    int asked;          /* the server has been asked for its limits */
    json_t *facts, *changes; /* sentences */
} vaultctl_doctor_t;

/** Report what is as it should be. */
void vaultctl_doctor_fact(vaultctl_doctor_t *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Report what has to be changed, and which section of the manual explains it.
 * @param manual  `operating.md, "Page caches and crawlers"` */
void vaultctl_doctor_change(vaultctl_doctor_t *d, const char *manual, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** A header of an answer; "" if it has none. */
const char *vaultctl_doctor_header(const vaultctl_visit_t *visit, const char *name);

/** Is the id 40 hexadecimal digits? */
int vaultctl_doctor_is_id(const char *id);

/** Check the script or the stream: does it exist, which server answers the polls, do they wait, and what kind of
 * server is it? Sets `live`. */
void vaultctl_doctor_polls(vaultctl_doctor_t *d);

/** Report what the server's status says, if it can be asked. Call it while the page's poll waits, so that the status
 * shows it.
 * @param poll  the URL of the page's polls */
void vaultctl_doctor_server(vaultctl_doctor_t *d, const char *poll);

#endif
