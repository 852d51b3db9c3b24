/* SPDX-License-Identifier: Apache-2.0 */
/* The browser side of mod_vault: keeps one long poll open for this page and puts what comes back into the document.
 *
 *   <script src="/vault/vault.js" data-vault-page="ID" defer></script>
 *
 * or without an id, where the HTML is a plain file: the server gives one when there is something to subscribe to.
 * docs/client.md is the manual, docs/protocol.md the protocol. The promise kept here: an answer is applied and its seq
 * stored in one task, and what arrives for an aborted poll is ignored. So the document always is the state that `seq`
 * names, and the server, which is told `seq` with the next poll, knows what this page has seen.
 * No dependencies and no eval; works under `Content-Security-Policy: default-src 'self'`.
 */
(() => {
  'use strict';

  const POLL_TIMEOUT = 90_000; // ms; give up a poll that the server forgot; data-vault-timeout (seconds) sets another
  const SETTLED = 500;         // ms; a poll that is out for so long is being held: the page is live
  const SUPERSEDED = 1_000;    // ms; pause after another poll took this page's place
  const BACKOFF = 500;         // ms; bound of the first pause after a failure, doubled by each further failure ...
  const BACKOFF_MAX = 30_000;  // ms; ... up to this
  const PAUSE_MAX = 3_600_000; // ms; the longest Retry-After that is believed
  const EMPTY_MAX = 5;         // answers "no news" within a second, in a row, before the page slows down by itself
  const RELOAD_PAUSE = 5_000;  // ms; before a page that expired straight after a reload is loaded yet again
  const RELOADED = 'vault-reloaded'; // sessionStorage: the id this tab reloaded from, and when

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
  let flight = null;    // {abort, since} of the poll that is out
  let nap = null;       // {until, firm, end} of the pause we are in
  let failures = 0;     // in a row
  let empties = 0;      // quick empty answers in a row
  let succeeded = false; // did this id ever get an answer?
  let begun = false;     // after load

  let telling = false;   // tell() runs
  const feeds = new Map(); // method -> what follow() makes: the feeds that are subscribed to
  const left = new Set(); // methods that the page has on the server, and that nobody wants any more

  function dispatch(name, detail, cancelable = false) {
    return document.dispatchEvent(new CustomEvent(name, { detail, cancelable }));
  }

  function report(error, method) {
    console.error('vault:', method ?? '', error);
    dispatch('vault:error', { error, method });
  }

  function setState(next, delay) {
    if (next === state && delay === undefined) return;
    state = next;
    dispatch('vault:state', { state, delay });
  }

  /* ---- the loop: one poll at a time ---- */

  function go() {
    if (running || !(given || feeds.size)) return; // without a page and subscriptions there is nothing to ask for
    setState('connecting');
    run(running = {});
    tell();
  }

  function halt() {
    if (!running) return;
    running = null;
    flight?.abort.abort();
    nap?.end();
    // The next poll would have said that the last answer arrived. There may be none: say it now.
    if (known !== seq) navigator.sendBeacon(address({ ack: 1 }));
    setState('stopped');
  }

  async function run(token) {
    while (token === running) {
      const pause = await (page ? poll(token) : enter(token));
      if (pause && token === running) await sleep(pause);
    }
  }

  function address(more) {
    const url = new URL('poll', script.src);
    url.search = new URLSearchParams({ page, seq, tab, ...more });
    return url;
  }

  const poll = (token) => ask(token, address(), {}, answered);

  /** One request of the loop, and what it brings. @return the pause before the next {ms, firm}, or nothing: at once */
  async function ask(token, url, options, done) {
    const abort = new AbortController();
    const mine = flight = { abort, since: Date.now() };
    if (state !== 'waiting') setState('connecting');
    const timers = [setTimeout(() => abort.abort(), timeout), setTimeout(() => page && setState('waiting'), SETTLED)];
    try {
      const response = await request(url, { ...options, signal: abort.signal });
      const body = await response.text(); // also of errors: it gives the connection back
      // From here to the end of answered() nothing waits: the page cannot be put away between "applied" and "stored".
      return abort.signal.aborted || token !== running ? undefined : done(response, body);
    } catch (error) {
      return abort.signal.aborted ? undefined : backOff();
    } finally {
      timers.forEach(clearTimeout);
      if (flight === mine) flight = null;
    }
  }

  function request(url, options) {
    return fetch(url, { cache: 'no-store', credentials, ...options });
  }

  /** A pause {ms, firm}: a firm one is what the server asked for and is kept, others end early when there is hope. */
  function sleep({ ms, firm }) {
    return new Promise((wake) => {
      const end = () => {
        clearTimeout(timer);
        nap = null;
        wake();
      };
      const timer = setTimeout(end, ms);
      nap = { until: Date.now() + ms, firm, end };
    });
  }

  /** The network came back, the page is looked at again, the machine woke up: do not sit out what is no longer true. */
  function hurry() {
    if (nap && (!nap.firm || Date.now() >= nap.until)) nap.end();
    // Asleep, timers stood still; the server has given this poll up.
    if (flight && Date.now() - flight.since > timeout) flight.abort.abort();
  }

  // "Full jitter": anywhere between nothing and the bound, so that those who failed together do not return together.
  const jitter = (n) => Math.random() * Math.min(BACKOFF_MAX, BACKOFF * 2 ** n);

  function backOff(pause = { ms: jitter(failures++) }) {
    if (running) setState('backing off', pause.ms);
    return pause;
  }

  /** @return the pause that the server asked for, up to a tenth longer for the same reason as above; or undefined */
  function retryAfter(response) {
    const value = response.headers.get('Retry-After')?.trim();
    if (!value) return undefined;
    const ms = /^\d+$/.test(value) ? value * 1000 : Date.parse(value) - Date.now();
    if (Number.isNaN(ms)) return undefined;
    return { ms: Math.min(Math.max(ms, 0), PAUSE_MAX) * (1 + Math.random() / 10), firm: true };
  }

  /* ---- answers ---- */

  function answered(response, body) {
    switch (response.status) {
      case 200: return accept(body);
      case 204: return noNews(response);
      case 410: return expire();
      case 429:
      case 503: return backOff(retryAfter(response));
      default: return backOff();
    }
  }

  function success() {
    failures = 0;
    succeeded = true;
    setState('waiting');
  }

  function noNews(response) {
    known = seq;
    // Empty answers at once, again and again, come from a server or proxy that does not hold polls: spare it.
    empties = Date.now() - flight.since < 1000 ? empties + 1 : 0;
    success();
    if (response.headers.has('Vault-Superseded')) return { ms: SUPERSEDED, firm: true };
    return retryAfter(response) ?? (empties > EMPTY_MAX ? { ms: jitter(empties - EMPTY_MAX) } : undefined);
  }

  function accept(body) {
    let answer;
    try {
      answer = parse(body);
    } catch (error) {
      report(error);
      return backOff(); // same seq again: the server still has these updates
    }
    known = seq;
    if (answer.seq === seq) return backOff(); // a cache repeats what we have
    // Stored first: a handler that calls stop() in the middle must acknowledge this answer, not the one before.
    seq = answer.seq;
    empties = 0;
    success();
    answer.updates.forEach(apply);
    return undefined;
  }

  function parse(body) {
    const answer = JSON.parse(body);
    const valid = Number.isSafeInteger(answer?.seq) && Array.isArray(answer.updates);
    if (!valid) throw new Error('not an answer to a poll');
    return answer;
  }

  /** 410: the server no longer knows the state of this document. A fresh one is the only way on. */
  function expire() {
    if (!given) return forget();
    wanted = false;
    running = null;
    setState('stopped');
    const { page: last, time } = lastReload();
    const again = !succeeded && last === page;
    if (!dispatch('vault:expired', { page, again }, true)) return;
    if (again) return report(new Error('expired, and reloading brought the same page id: the HTML comes from a cache'));
    // A new id that dies at once, too, comes from a server in trouble: slow down.
    if (!succeeded && Date.now() - time < RELOAD_PAUSE) setTimeout(reload, RELOAD_PAUSE * (1 + Math.random()));
    else reload();
  }

  function lastReload() {
    try {
      return JSON.parse(sessionStorage.getItem(RELOADED)) ?? {};
    } catch { // storage is forbidden: the kind of navigation has to do
      return performance.getEntriesByType('navigation')[0]?.type === 'reload' ? { page, time: Date.now() } : {};
    }
  }

  function reload() {
    try {
      sessionStorage.setItem(RELOADED, JSON.stringify({ page, time: Date.now() }));
    } catch { /* see lastReload */ }
    location.reload();
  }

  /* ---- feeds: what a document subscribes to by itself ---- */

  function locate(name) {
    if (!/^[\w-]+\/[\w-]+$/.test(name)) throw new TypeError(`vault: "${name}" is not FEED/METHOD`);
    return new URL(`feed/${name}`, script.src);
  }

  /** {where: {status: 404}} -> where.status=404 */
  function flatten(args, params = new URLSearchParams(), prefix = '') {
    for (const [key, value] of Object.entries(args)) {
      if (value === null) throw new TypeError(`vault: the argument ${prefix}${key} is null, which a URL cannot say`);
      if (typeof value === 'object') flatten(value, params, `${prefix}${key}.`);
      else if (value !== undefined) params.append(prefix + key, value);
    }
    return params;
  }

  /** The same call twice is two methods, so that each subscriber gets a first view. */
  function nameMethod(name, args) {
    const first = `${locate(name).pathname}?${flatten(args)}`;
    let method = first;
    for (let n = 2; feeds.has(method) || left.has(method); n++) method = `${first}&=${n}`;
    return method;
  }

  function follow(name, args, fn) {
    const feed = { method: nameMethod(name, args), first: true, joined: false };
    const ready = new Promise((resolve, reject) => Object.assign(feed, { resolve, reject }));
    ready.catch(() => {}); // who does not look at it hears vault:error
    feed.unlisten = listen(feed.method, ({ data, format }) => {
      const first = feed.first || format === 'first';
      feed.first = false;
      feed.resolve(data);
      fn(data, { first });
    });
    feeds.set(feed.method, feed);
    if (running) tell();
    else if (begun && wanted) go();
    return Object.assign(() => unfollow(feed), { ready });
  }

  function unfollow(feed) {
    if (feeds.get(feed.method) !== feed) return;
    feed.unlisten();
    feeds.delete(feed.method);
    if (feed.joined) left.add(feed.method);
    if (given || feeds.size) tell();
    else halt();
  }

  const pageRequest = (body) => [new URL('page', script.src),
    { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }];

  const isPassing = (status) => status === 408 || status === 429 || status >= 500;

  /** A page for all the subscriptions: their first views come with it. */
  function enter(token) {
    const add = [...feeds.keys()];
    return ask(token, ...pageRequest({ add }), (response, body) => entered(response, body, add));
  }

  function entered(response, body, add) {
    const answer = read(response, body);
    if (isPassing(answer.status)) return backOff(retryAfter(response));
    page = answer.page;
    seq = known = 0;
    succeeded = false;
    settle(answer, add);
    return page ? undefined : backOff();
  }

  /** What the server says of these methods, which now are the page's, or never will be. */
  function settle({ updates = [], refused = [], error, status }, add) {
    for (const method of add) {
      if (feeds.has(method)) feeds.get(method).joined = true;
      else left.add(method); // it went meanwhile
    }
    updates.forEach(apply);
    if (error) add.forEach((method) => refuse({ method, error, status }));
    refused.forEach(refuse);
    tell();
  }

  /** One that is wrong (4xx) ends; another one (503) waits for a poll to bring its first rows. */
  function refuse({ method, error, status }) {
    const feed = feeds.get(method);
    const reason = Object.assign(new Error(error), { status });
    if (feed && status < 500) {
      unfollow(feed);
      feed.reject(reason);
    }
    if (status < 500) left.delete(method); // it never was the page's
    if (feed) report(reason, method);
  }

  /** What an answer says, its status, and if that is no success an error. */
  function read({ ok, status }, body) {
    const error = ok ? undefined : `status ${status}`;
    try {
      return { error, ...JSON.parse(body), status };
    } catch {
      return { error, status: ok ? 502 : status }; // no JSON: somebody in between has answered
    }
  }

  /** Tell the server who came and who went since the page was made; in one request what happens in one task. */
  async function tell() {
    if (telling) return;
    telling = true;
    await undefined;
    for (let failed = 0; running && page;) {
      const add = [...feeds.values()].filter((feed) => !feed.joined).map((feed) => feed.method);
      if (!add.length && !left.size) break;
      const said = await amend({ page, add, remove: [...left] }).catch(() => false);
      if (!said) await new Promise((wake) => setTimeout(wake, jitter(failed++)));
    }
    telling = false;
  }

  async function amend(change) {
    const response = await request(...pageRequest(change));
    const answer = read(response, await response.text());
    if (isPassing(answer.status)) return false;
    if (page !== change.page) return true;
    change.remove.forEach((method) => left.delete(method));
    settle(answer.status === 410 ? {} : answer, change.add); // the poll hears 410, too, and begins anew
    return true;
  }

  /** 410 for a page that was made here: another one takes its place, and all views begin anew. */
  function forget() {
    const last = page;
    page = undefined;
    seq = known = 0;
    left.clear();
    for (const feed of feeds.values()) Object.assign(feed, { first: true, joined: false });
    if (dispatch('vault:expired', { page: last, again: false }, true)) return succeeded ? undefined : backOff();
    wanted = false;
    return halt();
  }

  async function call(name, args = {}) {
    const response = await request(locate(name), { method: 'POST', body: flatten(args) });
    const body = await response.text();
    if (response.ok) return JSON.parse(body);
    const { status, error } = read(response, body);
    throw Object.assign(new Error(error), { status });
  }

  /* ---- updates ---- */

  /** One update. It may fail; the others and seq go on, else one bad method would stop the page for good. */
  function apply(update) {
    try {
      const { method, type, body, format } = update;
      const kind = type.split(';')[0].trim().toLowerCase();
      const data = /^application\/(.+\+)?json$/.test(kind) ? JSON.parse(body) : undefined;
      if (!dispatch('vault:update', { method, type, body, data, format }, true)) return;
      if (format === 'htmx') applyHtmx(body, method);
      else if (kind === 'text/html') applyHtml(body, method);
      dispatch('vault:applied', { method, type });
    } catch (error) {
      report(error, update?.method);
    }
  }

  // Scripts in here do not run: the parser of fragments marks them as done. It stays so: data that slip into an update
  // unescaped must not become code, and a page must not grow handlers with every answer. Listen to vault:applied.
  function applyHtml(html, method) {
    const template = document.createElement('template');
    template.innerHTML = html;
    const turbo = customElements.get('turbo-stream'); // Hotwire is here: its elements act when they are connected
    for (const stream of template.content.querySelectorAll('turbo-stream')) {
      try {
        if (turbo) document.documentElement.append(document.importNode(stream, true));
        else act(stream);
      } catch (error) {
        report(error, method);
      }
    }
  }

  // Out-of-band swaps are htmx's own work, with its events, and its attributes in what is new.
  function applyHtmx(text, method) {
    const { htmx } = window;
    const target = document.body;
    if (!htmx?.swap) throw new Error('an update for htmx, which is not on this page, or older than its version 2');
    if (htmx.swap.length > 1) htmx.swap(target, text, { swapStyle: 'none', swapDelay: 0, settleDelay: 20 });
    else htmx.swap({ sourceElement: target, target, text, swap: 'none' }).catch((error) => report(error, method));
  }

  const actions = {
    append: (target, content) => { dropDoubles(target, content); target.append(content); },
    prepend: (target, content) => { dropDoubles(target, content); target.prepend(content); },
    replace: (target, content) => target.replaceWith(content),
    update: (target, content) => target.replaceChildren(content),
    remove: (target) => target.remove(),
    before: (target, content) => target.before(content),
    after: (target, content) => target.after(content),
  };

  function act(stream) {
    const name = stream.getAttribute('action');
    if (name === 'refresh') return location.reload();
    if (!Object.hasOwn(actions, name)) throw new Error(`unknown action "${name}"`);
    const template = stream.querySelector(':scope > template');
    if (!template && name !== 'remove') throw new Error(`turbo-stream ${name} without a template`);
    for (const target of targets(stream, name)) {
      actions[name](target, template && document.importNode(template.content, true));
    }
  }

  function targets(stream, name) {
    const selector = stream.getAttribute('targets');
    if (selector) return document.querySelectorAll(selector);
    const id = stream.getAttribute('target');
    const element = document.getElementById(id);
    if (!element && name !== 'remove') throw new Error(`no element with the id "${id}" to ${name}`);
    return element ? [element] : [];
  }

  // As Hotwire has it: a child that comes again, by id, takes the old one's place at the new end.
  function dropDoubles(target, content) {
    const ids = new Set(Array.from(content.children, (child) => child.id).filter(Boolean));
    for (const child of [...target.children]) if (ids.has(child.id)) child.remove();
  }

  /* ---- the page's life ---- */

  addEventListener('pagehide', halt);
  addEventListener('pageshow', (event) => { if (event.persisted && wanted) go(); });
  addEventListener('online', hurry);
  document.addEventListener('visibilitychange', () => { if (!document.hidden) hurry(); });
  document.addEventListener('resume', hurry);

  function listen(method, fn) {
    const listener = (event) => { if (event.detail.method === method) fn(event.detail, event); };
    document.addEventListener('vault:update', listener);
    return () => document.removeEventListener('vault:update', listener);
  }

  window.vault = Object.freeze({
    tab,
    get page() { return page; },
    get seq() { return seq; },
    get state() { return state; },
    start() { wanted = true; go(); },
    stop() { wanted = false; halt(); },
    /** on('/url', fn): fn({method, type, body, data}, event) for each update of one method.
     * on('feed/method', args, fn): subscribe; fn(rows, {first}) for its rows. @return a function that ends it */
    on(name, ...rest) {
      const fn = rest.pop();
      return name.startsWith('/') ? listen(name, fn) : follow(name, rest[0] ?? {}, fn);
    },
    /** Call a feed's method once. @return a promise of its rows */
    call,
  });

  // After load, and not in its event: the browser would show the page as loading for as long as a poll is held.
  const begin = () => setTimeout(() => {
    begun = true;
    if (wanted) go();
  });
  if (document.readyState === 'complete') begin();
  else addEventListener('load', begin, { once: true });
})();
