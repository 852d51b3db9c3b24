/* SPDX-License-Identifier: Apache-2.0 */
/* The tests that are marked `everywhere`, in Firefox: all of them in this process, with one browser. */
process.env.VAULT_BROWSER = 'firefox';
for (const name of ['client', 'page', 'stream', 'tabs', 'updates', 'server']) await import(`./${name}.test.mjs`);
