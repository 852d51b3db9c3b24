/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file unit.h
 * How a unit test is registered: one row here, and a source that adds its suite to CUnit.
 *
 * SUITE(lock) means: t/unit/lock_test.c holds `void vault_lock_suite(void)`, which calls CU_add_suite("lock",
 * …) and CU_add_test(). A suite that is listed and not compiled does not link;
 * t/guards/every-test-is-registered.sh finds the other way round.
 *
 *     t/unit/unit             run all
 *     t/unit/unit lock heap   run these suites
 *     t/unit/unit --without lock heap
 *                             run all suites but these
 */
#ifndef VAULT_UNIT_H
#define VAULT_UNIT_H

/* In the order of the storeys: what a suite builds on stands above it. */
#define VAULT_SUITES(SUITE)                                                                                            \
    SUITE(lock)                                                                                                        \
    SUITE(segment)                                                                                                     \
    SUITE(heap)                                                                                                        \
    SUITE(journal)                                                                                                     \
    SUITE(notifier)                                                                                                    \
    SUITE(slot)                                                                                                        \
    SUITE(notifier_race)                                                                                               \
    SUITE(gateway)                                                                                                     \
    SUITE(filters)                                                                                                     \
    SUITE(strategies)                                                                                                  \
    SUITE(gateway_link)                                                                                                \
    SUITE(client_table)                                                                                                \
    SUITE(qos)                                                                                                         \
    SUITE(qos_clients)                                                                                                 \
    SUITE(qos_pool)                                                                                                    \
    SUITE(qos_share)                                                                                                   \
    SUITE(qos_race)                                                                                                    \
    SUITE(call_name)                                                                                                   \
    SUITE(header_text)                                                                                                 \
    SUITE(html_place)                                                                                                  \
    SUITE(utf8)                                                                                                        \
    SUITE(text)                                                                                                        \
    SUITE(json_text)                                                                                                   \
    SUITE(pause)                                                                                                       \
    SUITE(feed_figures)                                                                                                \
    SUITE(state)                                                                                                       \
    SUITE(page)                                                                                                        \
    SUITE(page_chain)                                                                                                  \
    SUITE(page_check)                                                                                                  \
    SUITE(page_name)                                                                                                   \
    SUITE(page_calls)                                                                                                  \
    SUITE(page_write)                                                                                                  \
    SUITE(page_snapshot)                                                                                               \
    SUITE(page_life)                                                                                                   \
    SUITE(session)                                                                                                     \
    SUITE(page_room)                                                                                                   \
    SUITE(page_txn)                                                                                                    \
    SUITE(page_txn_methods)                                                                                            \
    SUITE(page_model)                                                                                                  \
    SUITE(page_kill)                                                                                                   \
    SUITE(page_step)                                                                                                   \
    SUITE(output_metadata)                                                                                             \
    SUITE(output_store)                                                                                                \
    SUITE(output_lead)                                                                                                 \
    SUITE(output_room)                                                                                                 \
    SUITE(output_files)                                                                                                \
    SUITE(output_packet)                                                                                               \
    SUITE(output_race)                                                                                                 \
    SUITE(output_step)                                                                                                 \
    SUITE(wait_state)                                                                                                  \
    SUITE(waiters)                                                                                                     \
    SUITE(waiters_wakeups)                                                                                             \
    SUITE(waiters_race)                                                                                                \
    SUITE(wake)                                                                                                        \
    SUITE(mustache)                                                                                                    \
    SUITE(templates)                                                                                                   \
    SUITE(output_forms)                                                                                                \
    VAULT_DATABASE_SUITES(SUITE)

/* Where libdbi is. */
#ifdef VAULT_DATABASE_FEED
#define VAULT_DATABASE_SUITES(SUITE)                                                                                   \
    SUITE(database)                                                                                                    \
    SUITE(database_watch)                                                                                              \
    SUITE(database_keys)                                                                                               \
    SUITE(database_links)                                                                                              \
    SUITE(database_live)                                                                                               \
    SUITE(database_objects)                                                                                            \
    SUITE(database_position)                                                                                           \
    SUITE(database_properties)                                                                                         \
    SUITE(database_ring)                                                                                               \
    SUITE(database_tables)                                                                                             \
    SUITE(database_tail)                                                                                               \
    SUITE(database_query)                                                                                              \
    SUITE(database_report)                                                                                             \
    SUITE(database_walk)                                                                                               \
    SUITE(sql_semaphore)
#else
#define VAULT_DATABASE_SUITES(SUITE)
#endif

#define DECLARE(name) void vault_##name##_suite(void);
VAULT_SUITES(DECLARE)
#undef DECLARE

#endif
