/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of sessions: who may use one, what a login does, when one goes, and which one goes when there is no room. */
#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"
#include "page/session.h"
#include "page_fixture.h"
#include "unit.h"

#define HEAP (1024 * 1024)
#define SECONDS(n) apr_time_from_sec(n)
#define TIMEOUT SECONDS(1800)
#define HOSTILE 7

typedef struct scene_t {
    fixture_t f;
    vault_pages_t *pages;
} scene_t;

static void scene_begin(scene_t *s, apr_uint32_t records)
{
    pages_begin(&s->f, &s->pages, records, HEAP);
}

static vault_visitor_t visitor(const char *user)
{
    return (vault_visitor_t){
        .owner = {.user = user, .client = 1}, .address = 11, .timeout = TIMEOUT, .now = NOW, .keeps_alive = 1};
}

static apr_array_header_t *properties(scene_t *s, const char *key, const char *value)
{
    apr_array_header_t *list = apr_array_make(s->f.pool, 1, sizeof(vault_property_t));
    vault_property_t *p = apr_array_push(list);

    p->key = key;
    p->value = value;
    return list;
}

static apr_status_t make(scene_t *s, vault_page_t *session, const vault_visitor_t *v)
{
    return vault_session_create(s->pages, session, v, properties(s, "basket", "apple"), IDLE, s->f.pool);
}

/* As a request: from the id alone. @return the value of "basket", or why there is none */
static const char *read_as(scene_t *s, const vault_page_t *id, const vault_visitor_t *v)
{
    vault_page_t session = *id;
    vault_session_t found;
    apr_array_header_t *list;
    apr_status_t rv;

    session.index = 0;
    if ((rv = vault_session_find(s->pages, &session, v, &found)) != APR_SUCCESS ||
        (rv = vault_session_read(s->pages, &session, v, &list, s->f.pool)) != APR_SUCCESS) {
        return rv == APR_NOTFOUND ? "unknown" : rv == APR_EACCES ? "refused" : "broken";
    }
    return list->nelts ? APR_ARRAY_IDX(list, 0, vault_property_t).value : "empty";
}

static void what_one_browser_stores_it_finds_again(void)
{
    vault_visitor_t v = visitor(NULL);
    vault_page_t session;
    scene_t s;

    scene_begin(&s, 4);
    CU_ASSERT_EQUAL(make(&s, &session, &v), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &v), "apple");
    CU_ASSERT_EQUAL(vault_sessions_count(s.pages), 1);
    CU_ASSERT_EQUAL(vault_pages_count(s.pages), 0);
    CU_ASSERT_EQUAL(vault_session_write(s.pages, &session, &v, properties(&s, "basket", "pear"), s.f.pool),
                    APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &v), "pear");
    CU_ASSERT_EQUAL(vault_session_write(s.pages, &session, &v, properties(&s, "basket", NULL), s.f.pool), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &v), "empty");
    pages_end(&s.f, s.pages, &session);
}

/* The id of a page is in its HTML, that of a session is a secret: neither finds the other. */
static void pages_and_sessions_have_ids_of_their_own(void)
{
    vault_visitor_t v = visitor(NULL);
    vault_page_t session, page, as_page;
    scene_t s;

    scene_begin(&s, 4);
    page = page_publish(s.pages, s.f.pool);
    CU_ASSERT_EQUAL(make(&s, &session, &v), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(read_as(&s, &page, &v), "unknown");
    as_page = session;
    vault_page_locate(s.pages, &as_page);
    CU_ASSERT_EQUAL(as_page.index, 0);
    CU_ASSERT_EQUAL(vault_session_write(s.pages, &page, &v, properties(&s, "basket", "pear"), s.f.pool), APR_NOTFOUND);
    vault_page_draw(&as_page);
    CU_ASSERT_STRING_EQUAL(read_as(&s, &as_page, &v), "unknown");
    CU_ASSERT_EQUAL(vault_sessions_count(s.pages), 1);
    vault_session_drop(s.pages, &session);
    pages_end(&s.f, s.pages, &page);
}

static void who_may_use_a_session(void)
{
    static const struct {
        const char *owner, *user;
        apr_uint64_t host, address;
        int bound;
        const char *expected, *why;
    } rows[] = {
        {NULL, NULL, 0, 11, 0, "apple", "the browser that has the id"},
        {NULL, NULL, 0, 12, 0, "apple", "from another address, where that does not count"},
        {NULL, NULL, 0, 12, 1, "refused", "from another address, where it counts"},
        {NULL, NULL, 5, 11, 0, "unknown", "on another virtual host"},
        {NULL, "ann", 0, 11, 0, "apple", "its visitor has logged in just now"},
        {"ann", "ann", 0, 11, 0, "apple", "its user"},
        {"ann", "bob", 0, 11, 0, "refused", "another user"},
        {"ann", NULL, 0, 11, 0, "refused", "nobody, as after a logout"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_visitor_t owner = visitor(rows[i].owner), v = visitor(rows[i].user);
        vault_page_t session;
        scene_t s;

        scene_begin(&s, 2);
        v.owner.host = rows[i].host;
        v.address = rows[i].address;
        v.bound = rows[i].bound;
        CU_ASSERT_EQUAL(make(&s, &session, &owner), APR_SUCCESS);
        CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &v), rows[i].expected);
        pages_end(&s.f, s.pages, &session);
    }
}

static void a_name_of_a_user_in_another_realm_is_another_user(void)
{
    vault_visitor_t ann = visitor("ann"), other = visitor("ann");
    vault_page_t session;
    scene_t s;

    scene_begin(&s, 2);
    other.owner.realm = 3;
    CU_ASSERT_EQUAL(make(&s, &session, &ann), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &other), "refused");
    pages_end(&s.f, s.pages, &session);
}

static void a_login_voids_the_old_id(void)
{
    vault_visitor_t visits = visitor(NULL), ann = visitor("ann"), bob = visitor("bob");
    vault_page_t session, before;
    vault_session_t was, is;
    scene_t s;

    scene_begin(&s, 4);
    CU_ASSERT_EQUAL(make(&s, &session, &visits), APR_SUCCESS);
    before = session;
    CU_ASSERT_EQUAL(vault_session_find(s.pages, &session, &ann, &was), APR_SUCCESS);
    CU_ASSERT_FALSE(was.has_user);
    CU_ASSERT_EQUAL(vault_session_login(s.pages, &session, &ann), APR_SUCCESS);
    CU_ASSERT(memcmp(session.id, before.id, sizeof(session.id)) != 0);
    CU_ASSERT_STRING_EQUAL(read_as(&s, &before, &visits), "unknown");
    CU_ASSERT_STRING_EQUAL(read_as(&s, &before, &ann), "unknown");
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &ann), "apple");
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &bob), "refused");
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &visits), "refused");
    CU_ASSERT_EQUAL(vault_session_find(s.pages, &session, &ann, &is), APR_SUCCESS);
    CU_ASSERT_TRUE(is.has_user);
    CU_ASSERT_STRING_EQUAL(is.interest, was.interest); /* the pages that hold it keep it */
    CU_ASSERT_EQUAL(vault_session_login(s.pages, &before, &ann), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_sessions_count(s.pages), 1);
    pages_end(&s.f, s.pages, &session);
}

static void an_application_voids_the_old_id(void)
{
    vault_visitor_t visits = visitor(NULL), ann = visitor("ann"), bob = visitor("bob");
    vault_page_t session, before, first;
    vault_session_t was, is;
    scene_t s;

    scene_begin(&s, 4);
    CU_ASSERT_EQUAL(make(&s, &session, &visits), APR_SUCCESS);
    first = before = session;
    CU_ASSERT_EQUAL(vault_session_find(s.pages, &session, &visits, &was), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_session_renew(s.pages, &session, &visits), APR_SUCCESS);
    CU_ASSERT_STRING_EQUAL(read_as(&s, &before, &visits), "unknown");
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &visits), "apple");
    CU_ASSERT_EQUAL(vault_session_renew(s.pages, &before, &visits), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_session_find(s.pages, &session, &visits, &is), APR_SUCCESS);
    CU_ASSERT_FALSE(is.has_user);
    CU_ASSERT_STRING_EQUAL(is.interest, was.interest);
    before = session;
    CU_ASSERT_EQUAL(vault_session_renew(s.pages, &session, &ann), APR_SUCCESS); /* a login as well */
    CU_ASSERT_STRING_EQUAL(read_as(&s, &before, &ann), "unknown");
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &visits), "refused");
    CU_ASSERT_EQUAL(vault_session_renew(s.pages, &session, &bob), APR_EACCES);
    before = session;
    CU_ASSERT_EQUAL(vault_session_renew(s.pages, &session, &ann), APR_SUCCESS); /* it has its user already */
    CU_ASSERT(memcmp(session.id, before.id, sizeof(session.id)) != 0);
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &ann), "apple");
    CU_ASSERT_STRING_EQUAL(read_as(&s, &first, &ann), "unknown");
    CU_ASSERT_EQUAL(vault_sessions_count(s.pages), 1);
    pages_end(&s.f, s.pages, &session);
}

/* The id is a secret; the name of the interest is in lists and logs. */
static void the_interest_does_not_tell_the_id(void)
{
    vault_visitor_t v = visitor(NULL);
    char id[VAULT_PAGE_ID_LEN + 1];
    vault_session_t found;
    vault_page_t session;
    scene_t s;

    scene_begin(&s, 2);
    CU_ASSERT_EQUAL(make(&s, &session, &v), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_session_find(s.pages, &session, &v, &found), APR_SUCCESS);
    CU_ASSERT_EQUAL(strncmp(found.interest, "session:", 8), 0);
    vault_page_format(&session, id);
    CU_ASSERT_PTR_NULL(strstr(id, found.interest + 8));
    pages_end(&s.f, s.pages, &session);
}

/* Does this move the stamp that a page has read before it has read the properties? */
static void what_changes_a_session_notifies_it(void)
{
    static const struct {
        const char *value; /* NULL: the session is removed */
        int moves;
        const char *why;
    } rows[] = {
        {"pear", 1, "another value"},
        {"apple", 0, "the same value"},
        {NULL, 1, "there is none any more"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_visitor_t v = visitor(NULL);
        vault_interest_t interest;
        vault_session_t found;
        vault_page_t session;
        apr_uint64_t stamp;
        scene_t s;

        scene_begin(&s, 2);
        CU_ASSERT_EQUAL(make(&s, &session, &v), APR_SUCCESS);
        CU_ASSERT_EQUAL(vault_session_find(s.pages, &session, &v, &found), APR_SUCCESS);
        CU_ASSERT_EQUAL(vault_interest_hold(s.f.notifier, found.interest, &interest, &stamp), APR_SUCCESS);
        if (rows[i].value) {
            vault_session_write(s.pages, &session, &v, properties(&s, "basket", rows[i].value), s.f.pool);
        }
        else {
            vault_session_drop(s.pages, &session);
        }
        CU_ASSERT_EQUAL(vault_interest_stamp(s.f.notifier, interest) > stamp, rows[i].moves);
        vault_interest_release(s.f.notifier, interest);
        pages_end(&s.f, s.pages, rows[i].value ? &session : NULL);
    }
}

static void a_session_expires_without_a_request(void)
{
    vault_visitor_t v = visitor(NULL), poll = visitor(NULL);
    vault_page_t session;
    scene_t s;

    scene_begin(&s, 2);
    CU_ASSERT_EQUAL(make(&s, &session, &v), APR_SUCCESS);
    v.now = NOW + TIMEOUT - 1;
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &v), "apple"); /* this restarts it */
    CU_ASSERT_EQUAL(vault_pages_sweep(s.pages, NOW + TIMEOUT + SECONDS(1), IDLE), 0);
    poll.keeps_alive = 0;
    poll.now = NOW + 2 * TIMEOUT - 2;
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &poll), "apple"); /* and this does not */
    v.now = NOW + 2 * TIMEOUT;
    CU_ASSERT_STRING_EQUAL(read_as(&s, &session, &v), "unknown");
    CU_ASSERT_EQUAL(vault_sessions_count(s.pages), 1);
    CU_ASSERT_EQUAL(vault_pages_sweep(s.pages, v.now, IDLE), 1);
    CU_ASSERT_EQUAL(vault_sessions_count(s.pages), 0);
    pages_end(&s.f, s.pages, NULL);
}

static void what_is_too_long_makes_no_session(void)
{
    char *key, *value;
    vault_visitor_t v = visitor(NULL);
    vault_page_t session;
    scene_t s;

    scene_begin(&s, 2);
    key = memset(apr_pcalloc(s.f.pool, VAULT_PROPERTY_KEY_MAX + 2), 'k', VAULT_PROPERTY_KEY_MAX + 1);
    value = memset(apr_pcalloc(s.f.pool, VAULT_PROPERTY_VALUE_MAX + 2), 'v', VAULT_PROPERTY_VALUE_MAX + 1);
    CU_ASSERT_EQUAL(vault_session_create(s.pages, &session, &v, properties(&s, key, "v"), IDLE, s.f.pool), APR_EINVAL);
    CU_ASSERT_EQUAL(vault_session_create(s.pages, &session, &v, properties(&s, "", "v"), IDLE, s.f.pool), APR_EINVAL);
    CU_ASSERT_EQUAL(vault_session_create(s.pages, &session, &v, properties(&s, "k", value), IDLE, s.f.pool),
                    APR_EINVAL);
    pages_end(&s.f, s.pages, NULL);
}

/* ------------------------------------------------------------------ no room */

static vault_visitor_t client(vault_client_id_t id, apr_time_t now)
{
    vault_visitor_t v = visitor(NULL);

    v.owner.client = id;
    v.now = now;
    return v;
}

static int is_there(scene_t *s, const vault_page_t *session, apr_time_t now)
{
    vault_visitor_t v = client(0, now);

    v.keeps_alive = 0;
    return !strcmp(read_as(s, session, &v), "apple");
}

static void a_client_at_its_limit_loses_its_own_oldest(void)
{
    static const vault_page_limits_t limits = {.interests = 8, .of_client = {[VAULT_CLIENT_PAGES] = 3}};
    vault_page_t other, own[5], page;
    vault_visitor_t v = client(1, NOW);
    unsigned i;
    scene_t s;

    scene_begin(&s, 10);
    vault_pages_set_limits(s.pages, &limits);
    CU_ASSERT_EQUAL(make(&s, &other, &v), APR_SUCCESS);
    for (i = 0; i < 4; i++) {
        v = client(HOSTILE, NOW + SECONDS(60 + 20 * i));
        CU_ASSERT_EQUAL(make(&s, &own[i], &v), APR_SUCCESS);
    }
    v.now += SECONDS(1);
    CU_ASSERT_FALSE(is_there(&s, &own[0], v.now));
    CU_ASSERT(is_there(&s, &own[1], v.now) && is_there(&s, &own[2], v.now) && is_there(&s, &own[3], v.now));
    CU_ASSERT(is_there(&s, &other, v.now));
    CU_ASSERT_EQUAL(vault_page_create(s.pages, &page, &v.owner, v.now, IDLE), APR_ENOSPC); /* a page: not for it */
    vault_session_drop(s.pages, &other);
    vault_session_drop(s.pages, &own[1]);
    vault_session_drop(s.pages, &own[2]);
    pages_end(&s.f, s.pages, &own[3]);
}

/* A loop that makes sessions, faster than they can rest: it is refused, and no other client loses one. */
static void a_hostile_loop_takes_nothing_from_others(void)
{
    static const vault_page_limits_t limits = {.sessions = 8, .interests = 8};
    vault_page_t own[20], others[3], late;
    apr_status_t rv = APR_SUCCESS;
    vault_visitor_t v;
    unsigned i, made = 0;
    scene_t s;

    scene_begin(&s, 20);
    vault_pages_set_limits(s.pages, &limits);
    for (i = 0; i < 3; i++) {
        v = client(i + 1, NOW);
        CU_ASSERT_EQUAL(make(&s, &others[i], &v), APR_SUCCESS);
    }
    v = client(HOSTILE, NOW + SECONDS(600));
    for (i = 0; i < 20; i++) {
        rv = make(&s, &own[made], &v);
        made += rv == APR_SUCCESS;
        v.now += SECONDS(i < 10 ? 0 : 30); /* later its own can rest, and go */
    }
    CU_ASSERT_EQUAL(rv, APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_sessions_count(s.pages), 8);
    for (i = 0; i < 3; i++) {
        CU_ASSERT(is_there(&s, &others[i], v.now));
    }
    v.owner.client = 4; /* a new visitor has room all the same */
    CU_ASSERT_EQUAL(make(&s, &late, &v), APR_SUCCESS);
    for (i = 0; i < 3; i++) {
        CU_ASSERT(is_there(&s, &others[i], v.now));
        vault_session_drop(s.pages, &others[i]);
    }
    CHECK_PAGES(&s.f, s.pages);
    for (i = 0; i < made; i++) {
        vault_session_drop(s.pages, &own[i]);
    }
    pages_end(&s.f, s.pages, &late);
}

/* Each client has one: the one that was used least recently goes, and pages still have the other half. */
static void of_clients_with_one_each_the_oldest_goes(void)
{
    static const vault_page_limits_t limits = {.sessions = 2, .interests = 8};
    vault_visitor_t v = client(1, NOW), again;
    vault_page_t first, second, third, page;
    scene_t s;

    scene_begin(&s, 4);
    vault_pages_set_limits(s.pages, &limits);
    CU_ASSERT_EQUAL(make(&s, &first, &v), APR_SUCCESS);
    v = client(2, NOW + SECONDS(20));
    CU_ASSERT_EQUAL(make(&s, &second, &v), APR_SUCCESS);
    again = client(1, NOW + SECONDS(40));
    CU_ASSERT_STRING_EQUAL(read_as(&s, &first, &again), "apple");
    v = client(3, NOW + SECONDS(60));
    CU_ASSERT_EQUAL(make(&s, &third, &v), APR_SUCCESS);
    CU_ASSERT(is_there(&s, &first, v.now) && !is_there(&s, &second, v.now) && is_there(&s, &third, v.now));
    CU_ASSERT_EQUAL(vault_page_create(s.pages, &page, &v.owner, v.now, IDLE), APR_SUCCESS);
    CU_ASSERT(is_there(&s, &first, v.now) && is_there(&s, &third, v.now));
    CHECK_PAGES(&s.f, s.pages);
    vault_session_drop(s.pages, &first);
    vault_session_drop(s.pages, &third);
    pages_end(&s.f, s.pages, &page);
}

void vault_session_suite(void)
{
    CU_pSuite suite = CU_add_suite("session", NULL, NULL);

    CU_ADD_TEST(suite, what_one_browser_stores_it_finds_again);
    CU_ADD_TEST(suite, pages_and_sessions_have_ids_of_their_own);
    CU_ADD_TEST(suite, who_may_use_a_session);
    CU_ADD_TEST(suite, a_name_of_a_user_in_another_realm_is_another_user);
    CU_ADD_TEST(suite, a_login_voids_the_old_id);
    CU_ADD_TEST(suite, an_application_voids_the_old_id);
    CU_ADD_TEST(suite, the_interest_does_not_tell_the_id);
    CU_ADD_TEST(suite, what_changes_a_session_notifies_it);
    CU_ADD_TEST(suite, a_session_expires_without_a_request);
    CU_ADD_TEST(suite, what_is_too_long_makes_no_session);
    CU_ADD_TEST(suite, a_client_at_its_limit_loses_its_own_oldest);
    CU_ADD_TEST(suite, a_hostile_loop_takes_nothing_from_others);
    CU_ADD_TEST(suite, of_clients_with_one_each_the_oldest_goes);
}
