/* SPDX-License-Identifier: Apache-2.0 */
/* The browser side of mod_vault: polls the server for updates of this page, and applies them to the document.
 *
 *   <script src="/vault/vault.js" data-vault-page="ID" defer></script>
 *
 * or without an id, if the HTML is a plain file: the server creates a page when the document subscribes to a feed.
 * docs/client.md is the manual, docs/protocol.md the protocol. The invariant: an answer is applied and its seq is stored
 * in one task, and an answer is applied only to the state that it was made from. So the document always shows the state
 * number `seq`, and the server, which receives `seq` with each poll, knows what this page shows.
 * No dependencies and no eval; works under `Content-Security-Policy: default-src 'self'`.
 *
 * One function, whose parts `make` concatenates in this order: begin (shared by all parts), backoff (pauses between
 * requests), connection (a request for several pages), tabs (the tabs of a browser share one connection), page (this
 * document's page), feeds, updates, visibility (events of the browser, and the public interface).
 */
(() => {
  'use strict';

  const POLL_TIMEOUT = 90_000; // ms; give up a poll that the server forgot; data-vault-timeout (seconds) sets another
  const HELD_AFTER = 500;      // ms; when a poll has been out for so long, the server holds it: the page is live
  const HELLO = 5_000;         // ms; if a stream has not begun by then, a proxy may be buffering it
  const SUPERSEDED = 1_000;    // ms; the pause after another poll has taken over this page
  const GATHER = 20;           // ms; tabs that open together are polled for together
  const CONFIRMED = 200;       // ms; how long a poll waits for tabs that have not confirmed their last answer yet
  const ACK_AFTER = 1_000;     // ms without an event until the answers of a stream are acknowledged; ...
  const ACK_EACH = 4;          // ... at once after so many answers of one page. The server sends at most eight
  const ACK_AGAIN = 5_000;     // ms until a failed acknowledgement is sent again
  const ACK_LATE = 10_000;     // ms; an acknowledgement without a response by then is lost
  const BACKOFF = 500;         // ms; bound of the first pause after a failure, doubled by each further failure ...
  const BACKOFF_MAX = 30_000;  // ms; ... up to this
  const PAUSE_MAX = 3_600_000; // ms; the longest Retry-After that is honoured
  const FOREIGN_MAX = 5;       // consecutive answers that are not mod_vault's, before polling stops
  const EMPTY_MAX = 5;         // consecutive empty answers within a second each, before the page slows down by itself
  const PAGES_MAX = 32;        // pages in one poll
  const RELOAD_PAUSE = 5_000;  // ms; before a page that expired right after a reload is reloaded again; doubled each time ...
  const RELOAD_MAX = 300_000;  // ms; ... up to this
  const RELOADED = 'vault-reloaded'; // sessionStorage: the id before the last reload, its time, and the number of consecutive reloads
  const POLLS = 'vault-polls';       // sessionStorage: streams do not get through here

  const script = document.currentScript ?? document.querySelector('script[data-vault-page], script[src$="/vault.js"]');
  if (!script) return console.error('vault: there is no script element that says where the server is');
  const given = script.dataset.vaultPage; // undefined: the HTML is a plain file
  if (window.vault && (!given || window.vault.page === given)) return; // two tags on one page
  window.vault?.stop?.();                                              // a new page in the same JavaScript heap (Turbo Drive)

  const timeout = script.dataset.vaultTimeout > 0 ? script.dataset.vaultTimeout * 1000 : POLL_TIMEOUT;

  // A server of another origin gets the visitor's cookies and login only if the page asks for that, and its VaultLongPollOrigin allows it.
  const credentials = script.dataset.vaultCredentials === 'include' ? 'include' : 'same-origin';

  // One nonce for each JavaScript heap. A page from the back/forward cache keeps it. A duplicated or restored tab has the
  // same HTML but another heap; the nonce lets the server tell the two apart, since they must not share one seq.
  const tab = window.vault?.tab ?? Array.from(crypto.getRandomValues(new Uint8Array(16)),
    (byte) => byte.toString(16).padStart(2, '0')).join('');

  let page = given;     // undefined: none yet, or it has expired
  let seq = 0;          // the answer this document shows; 0 is the HTML itself
  let known = 0;        // the last seq that the server is known to have received
  let state = 'stopped';
  let wanted = true;    // set by start() and stop(), but not when the browser freezes or leaves the page
  let running = null;   // the token of the running loop; a loop that finds another token here ends
  let membership = null; // {hurry(), end(pause)}: the page is polled for, by this tab or another one
  let asking = null;    // aborts the request for a page
  let succeeded = false; // did this id ever get an answer?
  let begun = false;      // after load
  let turnedAway = false; // by a 403, or by a server that is not mod_vault

  let telling = false;   // tell() runs
  const feeds = new Map(); // method -> what follow() makes: the feeds that are subscribed to
  const left = new Set(); // methods to be removed from the page on the server

  function dispatch(name, detail, cancelable = false) {
    return document.dispatchEvent(new CustomEvent(name, { detail, cancelable }));
  }

  function report(error, method) {
    console.error('vault:', method ?? '', error);
    dispatch('vault:error', { error, method, status: error.status });
  }

  function setState(next, delay) {
    if (next === state && delay === undefined) return;
    state = next;
    dispatch('vault:state', { state, delay });
  }

  function request(url, options) {
    return fetch(url, { cache: 'no-store', credentials, ...options });
  }

