/* SPDX-License-Identifier: Apache-2.0 */
/* What the browser tests share: a real Chromium or Firefox, and a small web server whose polls the test answers by hand.
 *
 * In this folder, or a copy of it, with VAULT_JS the client as `make client/vault.js` has put it together (when not set: in the source tree):
 *
 *   npm install --no-package-lock --omit=optional --no-audit --no-fund
 *   node --test --test-concurrency=1 *.test.mjs
 *
 * client, stream, tabs, updates, page, feeds, frontends  vault.js against the server below: they need nothing else.
 * htmx, sse                the demo with the files of site/ in it, and the real Turbo and htmx: they need $VAULT_DEMO_URL.
 * logs, plain, chat, auction, wall  the demo: they need $VAULT_DEMO_URL, e.g. http://localhost:8080/ (skipped when it is not set).
 * origins                  a page of another origin and the demo: also $VAULT_DEMO_ORIGIN, what ORIGIN said to scripts/demo.
 * server                   an httpd of its own, which it restarts: needs $VAULT_BUILD, the folder that mod_vault was built in.
 * firefox                  the tests of the other files that are marked `everywhere`, in Firefox.
 *
 * Environment: CHROMIUM, FIREFOX the browsers (/usr/bin/chromium, /usr/bin/firefox-esr); VAULT_ARTIFACTS a folder for screenshots.
 *
 * Nothing here sleeps. A test waits for facts: a poll that arrived, a connection that closed, an event that was seen;
 * and where vault.js waits for time, the page's clock stands still and the test moves it.
 */
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import http from 'node:http';
import { fileURLToPath } from 'node:url';
import { chromium, firefox } from 'playwright-core';

const VAULT_JS = process.env.VAULT_JS ?? fileURLToPath(new URL('../../client/vault.js', import.meta.url));
const CSP = "default-src 'self'";

/** The browser of this process: firefox.test.mjs sets it before it loads the other files. */
export const BROWSER = process.env.VAULT_BROWSER ?? 'chromium';

/** A browser with a fresh profile. `backForwardCache`: Playwright turns that of Chromium off unless it is told not to. */
export function launch({ backForwardCache = false } = {}) {
  return BROWSER === 'firefox' ? launchFirefox() : launchChromium(backForwardCache);
}

function launchChromium(backForwardCache) {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
      '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ignoreDefaultArgs: backForwardCache ? ['--disable-back-forward-cache'] : [],
  });
}

/* A Firefox as Debian has it, by WebDriver BiDi: what Playwright calls "firefox" else is a build of its own. Playwright lets timers of
 * background tabs run as those of others; here they are as slow as for visitors. */
function launchFirefox() {
  return firefox.launch({
    channel: 'moz-firefox',
    executablePath: process.env.FIREFOX ?? '/usr/bin/firefox-esr',
    firefoxUserPrefs: {
      'dom.min_background_timeout_value': 1_000,
      'dom.min_background_timeout_value_without_budget_throttling': 1_000,
      'dom.timeout.enable_budget_timer_throttling': true,
    },
  });
}

/** A queue of things that happen, for tests that wait for the next one. */
class Arrivals {
  #waiting = [];
  #there = [];
  count = 0;

  push(thing) {
    this.count++;
    const take = this.#waiting.shift();
    if (take) take(thing);
    else this.#there.push(thing);
  }

  next() {
    return this.#there.length ? Promise.resolve(this.#there.shift()) : new Promise((take) => this.#waiting.push(take));
  }

  /** How many came that no one asked for. */
  get unread() {
    return this.#there.length;
  }
}

/** One poll (or ack) as the server got it. It is held until the test answers. */
class Poll {
  constructor(request, response, query) {
    this.request = request;
    this.response = response;
    this.page = query.get('page');
    this.seq = Number(query.get('seq'));
    this.tab = query.get('tab');
    this.asked = query.has('pages') ? query.get('pages').split(',').map((each) => each.split('.')) : [[this.page, query.get('seq'), this.tab]];
    this.streams = /text\/event-stream/.test(request.headers.accept);
    this.closed = once(response, 'close'); // answered, or the browser hung up
  }

  end(status, headers = {}, body = '') {
    this.response.writeHead(status, headers);
    this.response.end(body);
  }

  /** updates: rows [method, type, body, format] */
  answer(seq, ...updates) {
    const body = { seq, updates: updates.map(([method, type, body, format]) => ({ method, type, body, format })) };
    this.end(200, { 'Content-Type': 'application/json' }, JSON.stringify(body));
  }

  /** Of a poll of several: parts {page, seq, updates} or {page, status}. */
  answerSome(...parts) {
    this.end(200, { 'Content-Type': 'application/json' }, JSON.stringify({ pages: parts }));
  }

  /** The number that was asked with for a page. */
  seqOf(page) {
    const part = this.asked.find(([id]) => id === page);
    return part && Number(part[1]);
  }

  /** Begin a stream of events. */
  begin() {
    this.response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
    this.response.write('retry: 1000\n: live\n\n');
    return this;
  }

  /** updates: rows [method, type, body, format] */
  event(page, seq, ...updates) {
    return this.say({ page, seq, updates: updates.map(([method, type, body, format]) => ({ method, type, body, format })) });
  }

  say(part) {
    this.response.write(`id: ${part.seq ?? ''}\ndata: ${JSON.stringify(part)}\n\n`);
    return this;
  }

  beat() {
    this.response.write(':\n\n');
  }

  /** The connection breaks after `bytes` of an answer that promised more. (Without a byte Chromium would just send the
   * request again, where the connection had been used before.) */
  cut(bytes) {
    this.response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 10_000 });
    this.response.write(bytes, () => this.request.socket.destroy());
  }

  /** A whole answer but for its last byte: the browser has begun to read and cannot end. */
  trickle(seq, ...updates) {
    const text = JSON.stringify({ seq, updates: updates.map(([method, type, body]) => ({ method, type, body })) });
    this.response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
    return new Promise((sent) => this.response.write(text.slice(0, -1), sent));
  }
}

/** A document asks for a page, or changes its subscriptions. */
class Change extends Poll {
  static async of(request, response, query) {
    const change = new Change(request, response, query);
    let text = '';
    for await (const part of request) text += part;
    return Object.assign(change, { page: undefined }, JSON.parse(text)); // add; of a page that there is: page, remove
  }

  /** updates: rows [method, data]; refused: rows [method, status, error] */
  grant(page, updates, refused = []) {
    const body = {
      page, seq: page && 0,
      updates: updates.map(([method, data]) => ({ method, type: 'application/json', body: JSON.stringify(data) })),
      refused: refused.map(([method, status, error]) => ({ method, status, error })),
    };
    this.end(200, { 'Content-Type': 'application/json' }, JSON.stringify(body));
  }
}

/** The scripted server. Paths: whatever a test put into `files`, vault.js, the poll and the page. */
export class Site {
  polls = new Arrivals();
  acks = new Arrivals();
  changes = new Arrivals();
  requests = []; // paths, in order of arrival
  files = new Map();
  holdsAcks = false; // the test answers them
  #held = new Set();

  static async start() {
    const site = new Site();
    site.file('/vault/vault.js', await readFile(VAULT_JS), 'text/javascript');
    site.file('/favicon.ico', '', 'image/x-icon');
    site.server = http.createServer((request, response) => site.#serve(request, response));
    site.server.listen(0, '127.0.0.1');
    await once(site.server, 'listening');
    site.url = `http://127.0.0.1:${site.server.address().port}`;
    return site;
  }

  /** content: a string, or a function (response, request) that answers itself */
  file(path, content, type = 'text/html; charset=utf-8') {
    this.files.set(path, { content, type });
  }

  /** An ordinary live page. `more` goes into the script element. */
  page(path, id, body = '', more = '', head = '') {
    this.file(path, `<!doctype html><html lang="en"><head><title>${path}</title>${head}</head><body>${body}
<script src="/vault/vault.js" data-vault-page="${id}" ${more} defer></script></body></html>`);
  }

  /** The polls that are held now. */
  polling() {
    return [...this.#held];
  }

  loads(path) {
    return this.requests.filter((each) => each === path).length;
  }

  async stop() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  #serve(request, response) {
    const url = new URL(request.url, this.url);
    this.requests.push(url.pathname);
    if (url.pathname === '/vault/page') return Change.of(request, response, url.searchParams).then((change) => this.changes.push(change));
    if (url.pathname === '/vault/poll') return this.#poll(request, response, url.searchParams);
    const file = this.files.get(url.pathname);
    if (!file) return response.writeHead(404).end();
    if (typeof file.content === 'function') return file.content(response, request);
    response.writeHead(200, { 'Content-Type': file.type, 'Content-Security-Policy': CSP, 'Cache-Control': 'no-cache' });
    return response.end(file.content);
  }

  #poll(request, response, query) {
    const poll = new Poll(request, response, query);
    if (query.get('ack') !== '1') {
      this.#held.add(poll);
      poll.closed.then(() => this.#held.delete(poll));
      return this.polls.push(poll);
    }
    if (!this.holdsAcks) poll.end(204);
    return this.acks.push(poll);
  }
}

const clocks = new WeakSet();

/** Open a page that writes down, in window.seen, what vault.js says, and its timers and fetches. With `clock`, its time
 * stands still, as that of all tabs with `clock`; with `random`, Math.random() is that. Pages of one `context` are tabs of one user. */
export async function open(context, url, { clock = false, random } = {}) {
  const page = await context.newPage();
  page.problems = []; // what the console shows as errors, and exceptions that were not caught
  page.on('console', (message) => { if (message.type() === 'error') page.problems.push(message.text()); });
  page.on('pageerror', (error) => page.problems.push(String(error)));
  if (clock && !clocks.has(context)) {
    clocks.add(context); // all of its tabs have the one clock
    await page.clock.install({ time: 0 });
    await page.clock.pauseAt(60_000); // it runs until then, and must not be past that on a machine that is busy
  }
  await page.addInitScript(watch, random);
  await page.goto(url);
  if (clock) await begun(page);
  return page;
}

/** Where the clock stands still: let the client begin, which it does in a timer of its own after load. The clock does not move: what
 * the client measures from when it has its locks would else be measured from before or after that move. */
export async function begun(page) {
  await seen(page, { name: 'timer' });
  await page.clock.runFor(0);
}

/* Runs in the page, before its own scripts. */
function watch(random) {
  if (random !== undefined) Math.random = () => random;
  window.seen = [];
  const { setTimeout, fetch } = window;
  window.setTimeout = (fn, ms, ...rest) => {
    window.seen.push({ name: 'timer', ms });
    window.dispatchEvent(new Event('seen'));
    return setTimeout(fn, ms, ...rest);
  };
  window.fetch = (...args) => {
    window.seen.push({ name: 'fetch' });
    return fetch(...args);
  };
  const names = ['vault:update', 'vault:applied', 'vault:expired', 'vault:error', 'vault:state'];
  for (const name of names) {
    document.addEventListener(name, (event) => {
      const detail = { ...event.detail };
      if (detail.error) detail.error = detail.error.message;
      window.seen.push({ name, ...detail });
      window.dispatchEvent(new Event('seen'));
    });
  }
  document.addEventListener('securitypolicyviolation', ({ blockedURI }) => {
    window.seen.push({ name: 'csp', uri: blockedURI });
  });
}

/** Wait until the page has seen an event whose fields are those of `like`. @return the first such event */
export function seen(page, like) {
  return seenSince(page, like);
}

/** The same, but it comes after the last event of that name, if there is one. */
function seenSince(page, like, name) {
  return page.evaluate(([like, name]) => new Promise((found) => {
    const look = () => {
      const since = name ? window.seen.findLastIndex((each) => each.name === name) + 1 : 0;
      const event = window.seen.slice(since).find((each) => Object.entries(like).every(([key, value]) => each[key] === value));
      if (!event) return;
      window.removeEventListener('seen', look);
      found(event);
    };
    window.addEventListener('seen', look);
    look();
  }), [like, name]);
}

/** All the events of a name so far. */
export function all(page, name) {
  return page.evaluate((name) => window.seen.filter((each) => each.name === name), name);
}

/** The page, whose clock stands still, pauses for exactly `ms` after the last answer, and then asks again. */
export async function slept(page, ms) {
  await seenSince(page, { name: 'timer', ms }, 'fetch'); // a request sets timers of its own before it is sent
  const asked = (await all(page, 'fetch')).length;
  if (ms > 1) await page.clock.runFor(Math.ceil(ms) - 1);
  const early = (await all(page, 'fetch')).length;
  if (early !== asked) throw new Error(`asked again before ${ms} ms were over`);
  await page.clock.runFor(1);
  const late = (await all(page, 'fetch')).length;
  if (late !== asked + 1) throw new Error(`${late - asked} polls after a pause of ${ms} ms`);
}

/** Forget what was seen, to wait for the next event of a kind. */
export function forget(page) {
  return page.evaluate(() => { window.seen.length = 0; });
}
