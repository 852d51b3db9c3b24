/* SPDX-License-Identifier: Apache-2.0 */
/* The browser side of mod_vault: asks the server what is new for this page, and puts what comes back into the document.
 *
 *   <script src="/vault/vault.js" data-vault-page="ID" defer></script>
 *
 * or without an id, where the HTML is a plain file: the server gives one when there is something to subscribe to.
 * docs/client.md is the manual, docs/protocol.md the protocol. The promise kept here: an answer is applied and its seq
 * stored in one task, and an answer is applied only to the state that it was made from. So the document always is the
 * state that `seq` names, and the server, which is told `seq`, knows what this page has seen.
 * No dependencies and no eval; works under `Content-Security-Policy: default-src 'self'`.
 *
 * One function, in parts that `make` puts together in this order: begin (what all of them use), backoff (pauses between requests), line (a
 * connection that asks for several pages), tabs (those of one browser choose one that has the line), page (this document's), feeds, updates,
 * life (what the browser and the author say).
 */
(() => {
  'use strict';

  const POLL_TIMEOUT = 90_000; // ms; give up a poll that the server forgot; data-vault-timeout (seconds) sets another
  const HELD_AFTER = 500;         // ms; a poll that is out for so long is being held: the page is live
  const HELLO = 5_000;         // ms; a stream that has not begun by then may be kept back by somebody in between
  const SUPERSEDED = 1_000;    // ms; pause after another poll took this page's place
  const GATHER = 20;           // ms; tabs that come together are asked for together
  const CONFIRMED = 200;       // ms; so long a poll waits for tabs that have not said yet that they have their answer
  const ACK_AFTER = 1_000;     // ms without an event, and what came is acknowledged; ...
  const ACK_EACH = 4;          // ... or so many answers of one page. The server sends at most eight
  const ACK_AGAIN = 5_000;     // ms; until an acknowledgement that failed is sent again
  const ACK_LATE = 10_000;     // ms; one that has not been answered by then got lost
  const BACKOFF = 500;         // ms; bound of the first pause after a failure, doubled by each further failure ...
  const BACKOFF_MAX = 30_000;  // ms; ... up to this
  const PAUSE_MAX = 3_600_000; // ms; the longest Retry-After that is believed
  const FOREIGN_MAX = 5;       // answers that are not mod_vault's, in a row, before it is asked no more
  const EMPTY_MAX = 5;         // answers "no news" within a second, in a row, before the page slows down by itself
  const PAGES_MAX = 32;        // pages that one poll may ask for
  const RELOAD_PAUSE = 5_000;  // ms; before a page that expired straight after a reload is loaded yet again; doubled by each further one ...
  const RELOAD_MAX = 300_000;  // ms; ... up to this
  const RELOADED = 'vault-reloaded'; // sessionStorage: the id this tab reloaded from, when, and how many such there were in a row
  const POLLS = 'vault-polls';       // sessionStorage: streams do not come through here

  const script = document.currentScript ?? document.querySelector('script[data-vault-page], script[src$="/vault.js"]');
  if (!script) return console.error('vault: there is no script element that says where the server is');
  const given = script.dataset.vaultPage; // undefined: the HTML is a plain file
  if (window.vault && (!given || window.vault.page === given)) return; // two tags on one page
  window.vault?.stop?.();                                              // a new page in the same heap (Turbo Drive)

  const timeout = script.dataset.vaultTimeout > 0 ? script.dataset.vaultTimeout * 1000 : POLL_TIMEOUT;

  // Of another origin the server gets the visitor's cookies and login only where the page says so, and VaultLongPollOrigin there allows it.
  const credentials = script.dataset.vaultCredentials === 'include' ? 'include' : 'same-origin';

  // One nonce a JavaScript heap. A page back from the back/forward cache keeps it; a duplicated or restored tab has the
  // same HTML but another heap, and by the nonce the server tells them apart: two documents must not share one seq.
  const tab = window.vault?.tab ?? Array.from(crypto.getRandomValues(new Uint8Array(16)),
    (byte) => byte.toString(16).padStart(2, '0')).join('');

  let page = given;     // undefined: none yet, or it has expired
  let seq = 0;          // the answer this document shows; 0 is the HTML itself
  let known = 0;        // the seq of which we know that the server got it
  let state = 'stopped';
  let wanted = true;    // what the author wants; a page that is put away stops without changing it
  let running = null;   // a token for the loop that runs; a loop that finds another one there ends
  let membership = null;      // {leave(), hurry(), end(pause)}: somebody asks for this page
  let asking = null;    // aborts the request for a page
  let succeeded = false; // did this id ever get an answer?
  let begun = false;      // after load
  let turnedAway = false; // by a 403, or by something else than mod_vault

  let telling = false;   // tell() runs
  const feeds = new Map(); // method -> what follow() makes: the feeds that are subscribed to
  const left = new Set(); // methods that the page has on the server, and that nobody wants any more

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

