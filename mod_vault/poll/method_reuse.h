/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file method_reuse.h
 * Renders a method once for all pages to which it has the same to say: the output store keeps the output together with
 * what running the method did for its page.
 *
 * httpd's lookup of the method's URL, with its authorization, is done for each page; what is reused is the run of the
 * handler. Each page gets the stamps and the cursors of the run, never newer ones (docs/protocol.md, "What is
 * guaranteed").
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_METHOD_REUSE_H
#define VAULT_METHOD_REUSE_H

#include "httpd.h"

#include "poll/method.h"
#include "view/context.h"

typedef enum vault_reuse_t {
    VAULT_REUSE_NONE,  /* run the method; its output is not kept */
    VAULT_REUSE_LEADS, /* run the method; its output is recorded, until vault_method_reuse_end() */
    VAULT_REUSE_DONE,  /* `output` is set and reused, and the transaction is as if the method had run */
    VAULT_REUSE_BUSY   /* another request runs it: output->busy says what to wait for */
} vault_reuse_t;

/** Look for an output that the current method of the transaction can use.
 * @param sub  the method's subrequest, whose handler is to run next */
vault_reuse_t vault_method_reuse(vault_context_t *x, request_rec *sub, vault_output_t *output);

/** The handler of the method has run: judge the headers of its answer.
 * @param sub   as of vault_method_reuse()
 * @param last  the request that has answered, after internal redirects */
void vault_method_reuse_judge(vault_context_t *x, const request_rec *sub, const request_rec *last);

/** The method has run, and its external calls are closed: keep its output if it is not personal. Sets output->personal.
 * @param ok  0: it failed */
void vault_method_reuse_end(request_rec *r, vault_context_t *x, vault_output_t *output, int ok);

#endif
