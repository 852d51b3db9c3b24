/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_walk_read.h
 * Looks of a random walk: what each answer says is added to what a page was shown, and that is compared with
 * what there is.
 */
#ifndef DATABASE_WALK_READ_H
#define DATABASE_WALK_READ_H

#include "database_walk_filter.h"

/* ------------------------------------------------------------ answers */

/* As a page was shown it: a table may have got or lost columns since. */
static int is_same_row(const json_t *was, const json_t *is)
{
    const char *column;
    json_t *value;

    json_object_foreach((json_t *)(uintptr_t)was, column, value)
    {
        const json_t *other = json_object_get(is, column);

        if (other != NULL && !json_equal(value, other)) {
            return 0;
        }
    }
    return was != NULL;
}

/* Where making a table is no transaction, another thread may have made the table of links anew and not watched it yet:
 * then links are not recorded. */
static int records_links(const walk_t *w, const watching_t *at)
{
    return is_whole(w, at) && !(w->is_crowd && log_dialect_of(w->stranger.db)->replace != NULL);
}

/* A table that was made anew without a primary key may have two rows with one id, which the feed shows until it knows
 * that the table has lost its key. */
static int has_unique_keys(const walk_t *w, const watching_t *at)
{
    return !w->is_keyless[at->table];
}

static void take_lists(walk_t *w, watching_t *at, const json_t *answer)
{
    /* Where links are recorded and elements are not, or the other way round, it cannot be told what came and went. */
    int is_exact = has_unique_keys(w, at) && !at->is_cut &&
                   (at->look != COLLECTION || foreign_table(at) == at->table || records_links(w, at));
    size_t i;
    json_t *element;

    json_array_foreach(json_object_get(answer, "added"), i, element)
    {
        const char *key = key_in(w, at, element);

        if (key == NULL) {
            continue;
        }
        if (json_object_get(at->shown, key) != NULL && is_exact) {
            is_wrong(w, "added twice", at->args, at->shown, answer);
        }
        json_object_set(at->shown, key, element);
    }
    json_array_foreach(json_object_get(answer, "changed"), i, element)
    {
        const char *key = key_in(w, at, element);
        const json_t *was = key != NULL ? json_object_get(at->shown, key) : NULL;

        if (key == NULL) {
            continue;
        }
        if ((was == NULL || json_equal(was, element)) && is_exact) {
            is_wrong(w, "changed, and was not there, or was so before", at->args, at->shown, answer);
        }
        json_object_set(at->shown, key, element);
    }
    json_array_foreach(json_object_get(answer, "removed"), i, element)
    {
        const char *key = key_in(w, at, element);
        const json_t *was = key != NULL ? json_object_get(at->shown, key) : NULL;

        if (key == NULL) {
            continue;
        }
        if (!is_same_row(was, element) && is_exact) {
            is_wrong(w, "removed, and was not there, or was another", at->args, at->shown, answer);
        }
        json_object_del(at->shown, key);
    }
}

/* All that there is, or as much of it as an answer has room for. */
static int is_first_view(const walk_t *w, const json_t *is, const json_t *added)
{
    const char *key;
    json_t *row;

    json_object_foreach((json_t *)(uintptr_t)added, key, row)
    {
        if (!json_equal(row, json_object_get(is, key))) {
            return 0;
        }
    }
    return json_object_size(added) == json_object_size(is) || json_object_size(added) >= (size_t)w->rows;
}

/* A user whose position is gone is shown all. */
static int is_all(walk_t *w, const watching_t *at, const json_t *answer)
{
    json_t *is = truth(w, at);
    json_t *added = by_key(w, at, json_object_get(answer, "added"));
    int all = is_first_view(w, is, added) && json_array_size(json_object_get(answer, "removed")) == 0 &&
              json_array_size(json_object_get(answer, "changed")) == 0;

    json_decref(is);
    json_decref(added);
    return all;
}

/* Likewise of a column. */
static int is_all_of_column(walk_t *w, const watching_t *at, const json_t *answer)
{
    json_t *is = truth(w, at);
    json_t *added = json_object();
    size_t i;
    json_t *row;
    int all;

    json_array_foreach(answer, i, row)
    {
        if (json_is_true(json_object_get(row, "added"))) {
            json_object_set(added, text_of(w, json_object_get(row, "id")), json_object_get(row, "new"));
        }
    }
    all = is_first_view(w, is, added) && json_array_size(answer) == json_object_size(added);
    json_decref(is);
    json_decref(added);
    return all;
}

static void take_column(walk_t *w, watching_t *at, const json_t *answer)
{
    size_t i;
    json_t *row;

    json_array_foreach(answer, i, row)
    {
        const char *key = text_of(w, json_object_get(row, "id"));
        const json_t *was = json_object_get(at->shown, key), *old = json_object_get(row, "old");
        json_t *new = json_object_get(row, "new");
        int is_added = json_is_true(json_object_get(row, "added"));
        int is_removed = json_is_true(json_object_get(row, "removed"));
        int fits = is_added     ? was == NULL && json_is_null(old)
                   : is_removed ? json_equal(was, old) && json_is_null(new)
                                : json_equal(was, old) && !json_equal(old, new);

        if (!fits && !at->is_cut && has_unique_keys(w, at)) {
            is_wrong(w, "it does not fit to what was shown", at->args, at->shown, answer);
        }
        if (is_removed) {
            json_object_del(at->shown, key);
        }
        else {
            json_object_set(at->shown, key, new);
        }
    }
}

static void take_row(walk_t *w, watching_t *at, const json_t *answer, int anew)
{
    json_t *row = json_array_get(answer, 0);

    if (at->look == ROW) {
        json_decref(at->shown);
        at->shown = row != NULL ? json_incref(row) : json_null();
        return;
    }
    if (row != NULL && !anew && at->begun &&
        !json_equal(json_object_get(row, "old"), json_object_get(at->shown, "new"))) {
        is_wrong(w, "the old one is another", at->args, at->shown, answer);
    }
    if (row != NULL) {
        json_object_set(at->shown, "new", json_object_get(row, "new"));
    }
}

static void take_new(walk_t *w, watching_t *at, const json_t *answer, json_t *got)
{
    json_t *part = json_object();
    size_t i;
    json_t *row;

    json_array_foreach(answer, i, row)
    {
        const char *key = pair_of(w, tables[at->table].key, row);

        if (key == NULL) {
            continue;
        }
        if (json_object_get(part, key) != NULL && is_whole(w, at)) {
            is_wrong(w, "new twice", at->args, got, answer);
        }
        json_object_set(part, key, row);
    }
    json_object_update(got, part);
    json_decref(part);
}

static void compare_new(walk_t *w, watching_t *at, const json_t *got, int anew)
{
    json_t *now = read_table(w, at->table);
    const char *key;
    json_t *row;

    json_object_foreach((json_t *)(uintptr_t)got, key, row)
    {
        if (!json_equal(row, json_object_get(now, key)) && !w->is_stale) {
            is_wrong(w, "new, and is another", at->args, row, json_object_get(now, key));
        }
    }
    json_object_foreach(now, key, row)
    {
        if (!anew && json_object_get(at->rows, key) == NULL && json_object_get(got, key) == NULL) {
            is_wrong(w, "new, and not shown", at->args, got, row);
        }
    }
    if (anew && json_object_size(now) <= (size_t)w->rows && !json_equal(now, got)) {
        is_wrong(w, "a first view", at->args, got, now);
    }
    json_decref(at->rows);
    at->rows = now;
}

/* Does the page have what there is? */
static int has_all(walk_t *w, const watching_t *at)
{
    json_t *is = truth(w, at);
    const json_t *shown = at->shown;
    int same;

    if (at->look == ATTRIBUTE || at->look == PROPERTY) {
        json_t *now = json_object_get(is, at->column);
        json_t *was = json_object_get(shown, "new");

        same = (was == NULL || json_is_null(was)) ? now == NULL || json_is_null(now) : json_equal(was, now);
    }
    else {
        same = json_equal(shown, is) && is_in_order(at, is);
    }
    if (!same) {
        say(w, "differs", apr_pstrcat(w->pool, dumped(w, at->args), " ", dumped(w, shown), " ", dumped(w, is), NULL));
    }
    json_decref(is);
    return same;
}

/* ------------------------------------------------------------ looks */

static const char *const methods[LOOKS] = {"get_new_instances",     "get_modified_instance", "get_attribute_changes",
                                           "get_attribute_changes", "get_property_changes",  "get_collection_changes",
                                           "get_query_changes",     "get_filter_changes"};

static void forget_shown(watching_t *at)
{
    json_decref(at->shown);
    at->shown = at->look == ROW ? json_null() : json_object();
    at->is_cut = 0;
}

static void take_answer(walk_t *w, watching_t *at, const json_t *answer, int anew)
{
    if (at->look == COLLECTION || at->look == QUERY || at->look == FILTER) {
        if (anew || (!at->begun && at->persistent && answer != NULL && is_all(w, at, answer))) {
            forget_shown(at);
            at->is_cut = at->look == COLLECTION && json_array_size(json_object_get(answer, "added")) >= (size_t)w->rows;
        }
        if (anew && answer != NULL) {
            at->is_full = at->look == FILTER && json_array_size(json_object_get(answer, "added")) >= (size_t)w->rows &&
                          json_object_get(at->args, "limit") == NULL;
        }
        take_lists(w, at, answer);
    }
    else if (at->look == COLUMN) {
        if (anew || (!at->begun && at->persistent && is_all_of_column(w, at, answer))) {
            forget_shown(at);
            at->is_cut = json_array_size(answer) >= (size_t)w->rows;
        }
        take_column(w, at, answer);
    }
    else if (answer != NULL) {
        take_row(w, at, answer, anew);
    }
}

/* The feed refuses a query that gives more rows than an answer may have. */
static int is_too_long(walk_t *w, const watching_t *at)
{
    json_t *is = at->look == QUERY ? truth(w, at) : NULL;
    int is_more = json_object_size(is) > (size_t)w->rows;

    json_decref(is);
    return is_more;
}

/* Of the tables that the page looks at. */
static int life_of(const walk_t *w, const watching_t *at)
{
    return 1 + w->life[at->table] + (at->look == COLLECTION ? w->life[foreign_table(at)] : 0);
}

static void acknowledge(walk_t *w, watching_t *at)
{
    if (!at->persistent || at->page.ack[0] == '\0' || draw(w, 4) == 0) {
        return;
    }
    vault_feed.acked(w->feed.self, at->page.ack);
    at->page.ack[0] = '\0';
    json_decref(at->acked);
    at->acked = json_deep_copy(at->shown);
    at->acked_in = life_of(w, at);
    at->was_cut = at->is_cut;
}

static const char *user_of(walk_t *w, const watching_t *at)
{
    return at->persistent ? apr_psprintf(w->pool, "%" APR_TIME_T_FMT "-%d", w->began_at, at->persistent) : NULL;
}

/* All new rows, in parts. */
static void look_at_new(walk_t *w, watching_t *at)
{
    json_t *got = json_object();
    int resets = at->page.resets, begun = at->begun, parts = 0;
    char sentence[1024];
    apr_status_t rv;
    json_t *answer;

    do {
        answer = call(w, &at->page, methods[at->look], at->args, &rv, sentence);
        if (at->page.resets > resets) {
            resets = at->page.resets;
            begun = 0;
            json_object_clear(got);
        }
        take_new(w, at, answer, got);
        json_decref(answer);
    } while (answer != NULL && begun && ++parts < 50);
    if (rv != APR_SUCCESS && is_whole(w, at) && !w->tolerant) {
        is_wrong(w, sentence, at->args, NULL, NULL);
    }
    if (rv == APR_SUCCESS && is_whole(w, at) && !w->is_crowd &&
        ((w->looks == 0 && parts > 0) || !begun || !w->is_stale)) {
        compare_new(w, at, got, !begun);
        at->begun = 1;
    }
    else if (at->rows != NULL) {
        json_object_update(at->rows, got); /* what strangers wrote the tailer may not have read yet */
    }
    json_decref(got);
}

static void look_at(walk_t *w, watching_t *at)
{
    int resets = at->page.resets;
    char sentence[1024];
    apr_status_t rv;
    json_t *answer;

    if (!w->is_crowd) {
        host_user_name = user_of(w, at);
    }
    if (at->look == NEW_ROWS) {
        look_at_new(w, at);
        return;
    }
    answer = call(w, &at->page, methods[at->look], at->args, &rv, sentence);
    if (rv != APR_SUCCESS) {
        if (is_whole(w, at) && !w->tolerant && !at->is_odd && !is_too_long(w, at)) {
            is_wrong(w, sentence, at->args, NULL, NULL);
        }
        return;
    }
    take_answer(w, at, answer, (!at->begun && !at->persistent) || at->page.resets > resets);
    json_decref(answer);
    at->begun = 1;
    if (is_whole(w, at) && !w->is_stale && !at->is_cut && !w->tolerant && !has_all(w, at)) {
        json_t *is = truth(w, at);

        is_wrong(w, "what was shown is not what there is", at->args, at->shown, is);
        json_decref(is);
        forget_shown(at);
        memset(&at->page, 0, sizeof(at->page));
        at->begun = 0;
    }
    acknowledge(w, at);
}

/* ------------------------------------------------------------ pages */

static const char *draw_word(walk_t *w, int table, const char *column, int *is_odd)
{
    int is_text = is_of_text(table, column);

    *is_odd = !is_text && draw(w, 8) == 0 && !w->is_plain;
    return is_text || *is_odd ? texts[draw(w, COUNT(texts) - 1)] : DRAW(w, numbers);
}

/* Of one or two columns. */
static const char *draw_pair(walk_t *w, int table, const char *const columns[2], int *is_odd)
{
    const char *one = draw_word(w, table, columns[0], is_odd), *two;
    int is_odd_too;

    if (columns[1] == NULL) {
        return one;
    }
    two = draw_word(w, table, columns[1], &is_odd_too);
    *is_odd |= is_odd_too;
    return apr_pstrcat(w->pool, part_of(w, one), ",", part_of(w, two), NULL);
}

static void draw_row_page(walk_t *w, watching_t *at)
{
    static const char *const entities[TABLES] = {"Post", "Note", "Profile", "Like"};
    static const char *const properties[TABLES] = {"text", "text", "name", "n"};
    static const char *const of[TABLES] = {"body", "body", "full_name", "n"};

    at->table = (int)draw(w, TABLES);
    at->word = draw_pair(w, at->table, tables[at->table].key, &at->is_odd);
    at->column = of[at->table];
    at->args = at->look == ROW         ? json_pack("{s:s,s:s}", "table", tables[at->table].name, "key", at->word)
               : at->look == ATTRIBUTE ? json_pack("{s:s,s:s,s:s}", "table", tables[at->table].name, "key", at->word,
                                                   "attribute", at->column)
                                       : json_pack("{s:s,s:s,s:s}", "entity", entities[at->table], "id", at->word,
                                                   "property", properties[at->table]);
}

static void draw_query_page(walk_t *w, watching_t *at)
{
    static const struct {
        const char *name;
        int table;
        char of; /* the parameter `wall`: a number, a text or none */
    } queries[] = {{"wall", POSTS, 'n'}, {"last", POSTS, 0},    {"notes", NOTES, 't'},
                   {"told", POSTS, 'n'}, {"first", NOTES, 't'}, {"said", POSTS, 0}};
    int i = (int)draw(w, COUNT(queries));

    at->query = queries[i].name;
    at->table = queries[i].table;
    at->args =
        queries[i].of == 'n' ? json_pack("{s:s,s:{s:i}}", "query", at->query, "parameters", "wall", (int)draw(w, 5))
        : queries[i].of == 't'
            ? json_pack("{s:s,s:{s:s}}", "query", at->query, "parameters", "wall", texts[draw(w, COUNT(texts) - 1)])
            : json_pack("{s:s}", "query", at->query);
}

static void draw_page(walk_t *w, watching_t *at)
{
    json_decref(at->args);
    json_decref(at->shown);
    json_decref(at->rows);
    json_decref(at->acked);
    memset(at, 0, sizeof(*at));
    at->look = (look_e)draw(w, LOOKS + 6);
    at->look = at->look >= LOOKS + 3 ? QUERY : at->look >= LOOKS ? COLLECTION : at->look;
    if (at->look == COLLECTION) {
        at->collection = (int)draw(w, COUNT(collections));
        at->table = collections[at->collection].table;
        at->word = draw_pair(w, foreign_table(at), collections[at->collection].foreign, &at->is_odd);
        at->args = json_pack("{s:s,s:s,s:s}", "entity", collections[at->collection].entity, "id", at->word,
                             "collection", collections[at->collection].name);
    }
    else if (at->look == QUERY) {
        draw_query_page(w, at);
    }
    else if (at->look == NEW_ROWS || at->look == COLUMN) {
        at->table = (int)draw(w, TABLES);
        at->args = json_pack("{s:s}", "table", tables[at->table].name);
    }
    else if (at->look == FILTER) {
        at->table = (int)draw(w, TABLES);
        at->args = draw_filter(w, at->table);
    }
    else {
        draw_row_page(w, at);
    }
    if (at->look == COLUMN) {
        at->column = tables[at->table].columns[draw(w, at->table == POSTS ? 5 : at->table == NOTES ? 4 : 3)];
        json_object_set_new(at->args, "attribute", json_string(at->column));
    }
    if (!w->is_crowd && at->look != NEW_ROWS && at->look != ATTRIBUTE && at->look != PROPERTY && at->look != FILTER &&
        draw(w, 4) == 0) {
        at->persistent = ++w->users;
        json_object_set_new(at->args, "persistent", json_string("yes"));
    }
    forget_shown(at);
    at->rows = json_object();
}

/* The same call from another page. */
static void renew_page(walk_t *w, watching_t *at)
{
    memset(&at->page, 0, sizeof(at->page));
    at->begun = 0;
    forget_shown(at);
    if (at->persistent && at->acked != NULL && (at->look == QUERY || at->acked_in == life_of(w, at))) {
        json_decref(at->shown);
        at->shown = json_deep_copy(at->acked);
        at->is_cut = at->was_cut;
    }
}

#endif
