/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file doctor.h
 * What the two files of doctor share: the page that is looked at, and what has been found so far.
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
    vaultctl_visit_t page; /* as it was loaded first, behind all redirects */
    vaultctl_html_t html;
    const char *script; /* URL of vault.js; NULL: the HTML has none */
    const char *stream; /* URL of polls, which another client of the page takes as a stream of HTML; NULL: none does */
    json_int_t seq;     /* what the next poll says that the page shows */
    int live;           /* mod_vault takes its polls */
    int asked;          /* the server has been asked for its limits */
    json_t *facts, *changes; /* sentences */
} vaultctl_doctor_t;

/** Say what is as it should be. */
void vaultctl_doctor_fact(vaultctl_doctor_t *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Say what is to be changed, and which section of the manual has more.
 * @param manual  `operating.md, "Page caches and crawlers"` */
void vaultctl_doctor_change(vaultctl_doctor_t *d, const char *manual, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/** A header of an answer; "" if it has none. */
const char *vaultctl_doctor_header(const vaultctl_visit_t *visit, const char *name);

/** Is the id 40 hexadecimal digits? */
int vaultctl_doctor_is_id(const char *id);

/** From the script or the stream on: is it there, who answers the polls, do they wait, and in what kind of server? Sets `live`. */
void vaultctl_doctor_polls(vaultctl_doctor_t *d);

#endif
