/* SPDX-License-Identifier: Apache-2.0 */
/* A page of one origin that polls another: a real browser between a small web server and the demo's httpd. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, describe, test } from 'node:test';
import { launch } from './browser.mjs';

const DEMO = process.env.VAULT_DEMO_URL;
const ORIGIN = process.env.VAULT_DEMO_ORIGIN; // the one that the demo's VaultLongPollOrigin names
const skip = DEMO && ORIGIN ? false : 'VAULT_DEMO_URL and VAULT_DEMO_ORIGIN are not set: no demo server that lets another origin in';
const limit = { timeout: 120_000 };
const server = DEMO && new URL(DEMO);

const html = (attributes) => `<!DOCTYPE html><title>another origin</title><ul id="list"></ul>
<script src="${new URL('/vault/vault.js', DEMO)}" ${attributes}></script>
<script>
  vault.on('public/get_new_instances', { table: 'logs' }, (rows) => {
    for (const row of rows) list.append(Object.assign(document.createElement('li'), { textContent: row.request }));
  });
</script>`;

/** A web server of another origin, with one page. */
async function serve(port, attributes) {
  const site = http.createServer((request, response) => {
    response.writeHead(200, { 'Content-Type': 'text/html' });
    response.end(html(attributes));
  }).listen(port, 'localhost');
  await once(site, 'listening');
  return { url: `http://localhost:${site.address().port}/`, close: () => new Promise((done) => { site.close(done); site.closeAllConnections(); }) };
}

describe('a page of another origin', { skip }, () => {
  let browser;

  before(async () => { browser = await launch(); });
  after(() => browser?.close());

  /** A visitor who has a cookie of the demo's, and what the browser has sent there. */
  async function visit(site) {
    const context = await browser.newContext();
    await context.addCookies([{ name: 'session', value: 'mine', domain: server.hostname, path: '/' }]);
    const page = await context.newPage();
    const sent = [];
    const problems = [];
    page.on('request', (request) => sent.push(request));
    page.on('console', (message) => { if (message.type() === 'error') problems.push(message.text()); });
    await page.goto(site.url);
    return Object.assign(page, { sent, problems });
  }

  const of = (page, path) => page.sent.filter((request) => new URL(request.url()).pathname === path && request.method() !== 'OPTIONS');
  const cookieOf = async (request) => (await request.allHeaders()).cookie;
  const log = async (text) => { await (await fetch(new URL(`/?hello=${text}`, DEMO))).arrayBuffer(); };

  for (const [attributes, cookie] of [['data-vault-credentials="include"', 'session=mine'], ['', undefined]]) {
    test(`that the server names is live, ${cookie ? 'with' : 'without'} the visitor's cookies`, limit, async () => {
      const site = await serve(new URL(ORIGIN).port, attributes);
      const page = await visit(site);
      try {
        await page.waitForFunction(() => window.vault.state === 'waiting');
        for (let i = 0; i < 3; i++) {
          const text = `o${randomUUID().slice(0, 13)}`;
          await log(text);
          await page.locator('#list > li', { hasText: text }).waitFor();
        }
        assert.deepEqual(page.problems, []);
        const polls = of(page, '/vault/poll');
        assert.ok(polls.length >= 1, 'it has polled');
        assert.equal(new URL(polls[0].url()).origin, server.origin, 'the server that its script is from');
        assert.equal(await cookieOf(polls[0]), cookie);
        assert.equal(await cookieOf(of(page, '/vault/page')[0]), cookie);
      } finally {
        await page.context().close();
        await site.close();
      }
    });
  }

  test('that the server does not name stays as it was loaded', limit, async () => {
    const site = await serve(0, 'data-vault-credentials="include"');
    const page = await visit(site);
    try {
      const failed = await page.waitForEvent('requestfailed', (request) => new URL(request.url()).pathname === '/vault/page');
      assert.equal(new URL(failed.url()).origin, server.origin);
      assert.match(page.problems.join(), /CORS/);
      assert.equal(await page.evaluate(() => window.vault.page), undefined);
      assert.deepEqual(of(page, '/vault/poll'), []);
    } finally {
      await page.context().close();
      await site.close();
    }
  });
});
