/* SPDX-License-Identifier: Apache-2.0 */
/* Turbo's <turbo-stream-source> and the SSE extensions of htmx 2 and 4, unchanged, take the updates of a real server: the demo's, with the
 * files of site/ in it. Their pages have no script of ours. They come through a proxy that can cut their connections. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import net from 'node:net';
import { after, before, describe, test } from 'node:test';
import { ask, limit, skip, unique, url, visitors } from './demo.mjs';

const library = (path) => readFile(new URL(`node_modules/${path}`, import.meta.url), 'utf8');

/** A TCP proxy in front of the demo. cut() breaks all its connections, with what is on its way; lastId is what a browser has said that it has. */
class Proxy {
  #sockets = new Set();
  lastId;

  async start() {
    const { hostname, port } = new URL(url('/'));
    this.server = net.createServer((client) => {
      const server = net.connect(Number(port), hostname);
      client.on('data', (data) => { this.lastId = /^last-event-id: *(\d+)/im.exec(data)?.[1] ?? this.lastId; });
      for (const [socket, other] of [[client, server], [server, client]]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => { this.#sockets.delete(socket); other.destroy(); });
        socket.pipe(other);
      }
    });
    this.server.listen(0, 'localhost');
    await once(this.server, 'listening');
    this.url = `http://localhost:${this.server.address().port}`;
  }

  cut() {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  stop() {
    this.cut();
    this.server.close();
  }
}

const clients = [
  ['Turbo 8', '/sse/turbo.shtml', { 'turbo.js': '@hotwired/turbo/dist/turbo.es2017-umd.js' }],
  ['htmx 2', '/sse/htmx2.shtml', { 'htmx2.js': 'htmx.org-2/dist/htmx.min.js', 'sse.js': 'htmx-ext-sse/dist/sse.min.js' }],
  ['htmx 4', '/sse/htmx4.shtml', { 'htmx4.js': 'htmx.org/dist/htmx.min.js', 'hx-sse.js': 'htmx.org/dist/ext/hx-sse.min.js' }],
];

for (const [name, path, scripts] of clients) {
  describe(`${name} takes a stream`, { skip }, () => {
    const proxy = new Proxy();
    before(() => proxy.start());
    after(() => proxy.stop());

    async function prepare(page) {
      // What Turbo does not say of a stream that ends, and htmx does.
      page.bears = /ERR_(CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)|Applying inline style|^\[object Event\]$|^htmx: htmx:sse:error/;
      for (const [file, from] of Object.entries(scripts)) {
        const body = await library(from);
        await page.route(`**/sse/${file}`, (route) => route.fulfill({ contentType: 'text/javascript', body }));
      }
      page.streams = [];
      page.on('request', (request) => { if (request.url().includes('/vault/')) page.streams.push(request); });
      page.first = page.waitForRequest(/\/vault\/poll\?/);
    }

    async function ready(page) {
      assert.equal(page.response.status(), 200, 'the files of t/browser/site are in the demo');
      await page.first;
    }

    const visitor = visitors({ prepare, ready });
    const visit = () => visitor(`${proxy.url}${path}`);

    const row = (page, text) => page.locator('#rows > tr', { hasText: text });

    /** A request that all of these show, each once. */
    async function shows(...pages) {
      const text = unique();
      await ask(`/?hello=${text}`);
      for (const page of pages) await row(page, text).waitFor();
      return text;
    }

    test('a row that the server has appears once, in two browsers', limit, async () => {
      const two = [await visit(), await visit()];
      const [first, second] = [await shows(...two), await shows(...two)];
      for (const page of two) {
        assert.equal(await row(page, first).count(), 1);
        assert.equal(await row(page, second).count(), 1);
        assert.equal(await row(page, first).locator('td').first().innerText(), '200');
        assert.equal(await page.evaluate(() => typeof window.vault), 'undefined', 'without a script of ours');
        assert.ok(page.streams.every((request) => request.url().includes('as=html')), 'and with one client alone');
        assert.equal(page.streams.length, 1);
      }
    });

    test('more rows than may be unacknowledged, and connections that break: each appears, once, in order', limit, async () => {
      const page = await visit();
      const texts = [];
      for (let i = 0; i < 10; i++) texts.push(await shows(page));
      for (let round = 0; round < 2; round++) {
        const lost = unique();
        const again = page.waitForRequest(/\/vault\/poll\?/);
        await Promise.all([ask(`/?lost=${lost}`), proxy.cut()]);
        texts.push(lost);
        await row(page, lost).waitFor();
        await again;
        texts.push(await shows(page));
      }
      const rows = await page.locator('#rows > tr').allInnerTexts();
      assert.deepEqual(rows.map((row) => texts.findIndex((text) => row.includes(text))).filter((i) => i >= 0), texts.map((_, i) => i));
      assert.ok(Number(proxy.lastId) >= 10, 'by what the client says that it has');
    });

    test('a page that the server does not know any more is loaded again', limit, async () => {
      let unknown = 0;
      const page = await visitor(`${proxy.url}${path}`, { prepared: (fresh) => fresh.route(/\/vault\/poll\?/, (route) => {
        const asked = route.request().url();
        return route.continue(unknown++ ? {} : { url: asked.replace(/page=[0-9a-f]+/, `page=${'0'.repeat(40)}`) });
      }) });
      await shows(page); // maybe in the HTML that is loaded again
      await shows(page); // by its stream
      assert.equal(unknown, 2, 'one stream of a page that is unknown, one of the page that was loaded then');
      assert.equal(await page.locator('#rows turbo-stream').count(), 0);
    });

    if (name.startsWith('Turbo')) {
      test('an element that is moved goes on where it was', limit, async () => {
        const page = await visit();
        const first = await shows(page);
        const again = page.waitForRequest(/\/vault\/poll\?/);
        await page.evaluate(() => document.body.append(document.querySelector('turbo-stream-source')));
        await again;
        const second = await shows(page);
        assert.equal(await row(page, first).count(), 1);
        assert.equal(await row(page, second).count(), 1);
      });
    }
  });
}
