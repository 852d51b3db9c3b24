/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_versions.h
 * Which code of each feed is loaded. A restart takes up shared objects that have been replaced, and logs each.
 *
 * httpd unloads the feeds at a restart and loads them again. Children of before the restart keep the code that they
 * have until they end. The code in memory is compared with that of the last start by its build id, which the linker
 * writes, or else by the file's time. It is also compared with the file: an object that cannot be unloaded (linked with
 * `-z nodelete`, or with unique symbols of C++) stays as it is, and loading the file again has no effect.
 */
#ifndef VAULT_FEED_VERSIONS_H
#define VAULT_FEED_VERSIONS_H

/** Register the hook that logs, at each restart, which feeds have other code than before. */
void vault_feed_versions_hooks(void);

#endif
