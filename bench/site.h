/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file site.h
 * The site of a stress run: which page shows what.
 *
 * There are `keys` numbers that only grow, each with an interest of its own, and `tables` tables of the
 * database. A page shows `own` keys that no other page has, one of the `shared` keys at the end of the keys,
 * and one table, if there are any: each by a long-poll method. Keys and, behind them, tables together are
 * *things*; what a thing holds is how many rows it has, which are numbered from 1.
 */
#ifndef VAULT_BENCH_SITE_H
#define VAULT_BENCH_SITE_H

typedef struct site_t {
    int pages;
    int keys;
    int shared;
    int tables;
    int own;
} site_t;

static inline int site_things(const site_t *site)
{
    return site->keys + site->tables;
}

static inline int site_methods(const site_t *site)
{
    return site->own + (site->shared > 0) + (site->tables > 0);
}

/** The thing that method 0 <= `method` < site_methods() of a page shows. */
static inline int site_thing(const site_t *site, int page, int method)
{
    if (method < site->own) {
        return page * site->own + method;
    }
    if (method == site->own && site->shared > 0) {
        return site->keys - site->shared + page % site->shared;
    }
    return site->keys + page % site->tables;
}

static inline int site_is_table(const site_t *site, int thing)
{
    return thing >= site->keys;
}

/** Methods fail in groups. */
#define SITE_GROUPS 4

#endif
