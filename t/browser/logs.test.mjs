/* SPDX-License-Identifier: Apache-2.0 */
/* The live log of the demo, as a visitor sees it: Apache httpd, mod_vault, a database, a real browser. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ask, limit, live, photograph, showsBurst, showsItsCode, skip, unique, url, visitors } from './demo.mjs';

const ROWS = '#logs-div > tr';
const lines = (page, text) => page.locator(ROWS, { hasText: text });

test('the page shows its own code as it is', limit, () =>
  showsItsCode('logs/index.shtml', 'index.shtml', 'latest.shtml', 'log-entries.html'));

describe('the live log', { skip }, () => {
  const visitor = visitors();
  const visit = (options) => visitor('/logs/', options);

  test('is one page for one tab, under a strict CSP', limit, async () => {
    const page = await visit();
    const headers = page.response.headers();
    assert.equal(page.response.status(), 200);
    assert.match(headers['content-security-policy'], /default-src 'self'/);
    assert.match(headers['cache-control'], /no-store/);
    assert.equal(headers.etag, undefined);
    assert.equal(await page.locator('script[data-vault-page]').count(), 1);
    const other = await visit();
    const [one, two] = await Promise.all([page, other].map((each) => each.evaluate(() => window.vault.page)));
    assert.match(one, /^[A-Za-z0-9_-]{16,}$/);
    assert.notEqual(one, two);
  });

  test('comes by a stream: one request, many lines', limit, async () => {
    const page = await visit();
    const polls = [];
    page.on('request', (request) => { if (/[/]poll[?]/.test(request.url()) && !/ack=1/.test(request.url())) polls.push(request.url()); });
    for (let i = 0; i < 5; i++) {
      const name = unique();
      await ask(`/?stream=${name}`);
      await lines(page, name).waitFor();
    }
    assert.deepEqual(polls, [], 'the request that there was goes on');
  });

  test('ten tabs are live by one connection, and go on when the first is closed', { timeout: 120_000 }, async () => {
    const tabs = [await visit()];
    while (tabs.length < 10) {
      const page = await tabs[0].context().newPage();
      tabs.push(page);
      await page.goto(url('/logs/'));
      await live(page);
    }
    const first = unique();
    await ask(`/?tabs=${first}`);
    await Promise.all(tabs.map((page) => lines(page, first).waitFor()));
    const status = await (await fetch(url('/vault/status?auto'))).text();
    assert.match(status, /^Waiting: 1$/m, 'one request waits for all ten');
    await tabs[0].close();
    for (let i = 0; i < 3; i++) {
      const next = unique();
      await ask(`/?tabs=${next}`);
      await Promise.all(tabs.slice(1).map((page) => lines(page, next).waitFor()));
      for (const page of tabs.slice(1)) assert.equal(await lines(page, next).count(), 1);
    }
    assert.deepEqual(await Promise.all(tabs.slice(1).map((page) => lines(page, first).count())), Array(9).fill(1));
  });

  test('a request appears, once, and is still there after a reload', limit, async () => {
    const page = await visit();
    const [first, second] = [unique(), unique()];
    await ask(`/?hello=${first}&more='x'`);
    const line = lines(page, first);
    await line.waitFor();
    assert.equal(await line.locator('td').nth(1).innerText(), '200');
    const request = new RegExp(`^GET /\\?hello=${first}&more=.+ HTTP/1\\.1$`);
    assert.match(await line.locator('td').nth(2).innerText(), request);
    await ask(`/?hello=${second}`); // whatever would come of the first for a second time comes before this
    await lines(page, second).waitFor();
    assert.equal(await line.count(), 1);
    await page.reload();
    await live(page);
    assert.equal(await line.count(), 1);
    assert.equal(await lines(page, second).count(), 1);
    await photograph(page, 'logs-light');
  });

  test('two browsers see the same lines', limit, async () => {
    const both = [await visit(), await visit({ colorScheme: 'dark', viewport: { width: 390, height: 844 } })];
    const query = unique();
    await ask(`/?hello=${query}`);
    await Promise.all(both.map((page) => lines(page, query).waitFor()));
    for (const page of both) assert.equal(await lines(page, query).count(), 1);
    await photograph(both[1], 'logs-dark-narrow');
  });

  test('a burst arrives whole, each line once, in the order of the rows', limit, async () => {
    await showsBurst(await visit(), ROWS);
  });

  test('the page keeps to 200 lines, the newest', limit, async () => {
    const page = await visit();
    const oldest = await page.locator(ROWS).first().getAttribute('id');
    const last = unique();
    for (let i = 0; i < 22; i++) await Promise.all(Array.from({ length: 10 }, (_, j) => ask(`/?many=${i}.${j}`)));
    await ask(`/?last=${last}`);
    await lines(page, last).waitFor();
    assert.equal(await page.locator(ROWS).count(), 200);
    assert.equal(await page.locator(`#${oldest}`).count(), 0);
  });

  test('the visitor can cause a line, also a bad one', limit, async () => {
    const page = await visit();
    const query = unique();
    await page.fill('#hello', query);
    await page.click('#knock .button:not(.quiet)');
    await lines(page, `/?hello=${query} `).waitFor();
    page.bears = /status of 404/; // from here on
    const before = await lines(page, '/no-such-page').count();
    await page.click('#knock .quiet');
    await lines(page, '/no-such-page').nth(before).waitFor();
    assert.equal(await lines(page, '/no-such-page').last().getAttribute('data-status'), '404');
    assert.equal(page.url(), url('/logs/'), 'without leaving the page');
  });

  test('polls are not logged', limit, async () => {
    const page = await visit();
    const query = unique();
    await ask(`/?hello=${query}`);
    await lines(page, query).waitFor();
    assert.equal(await lines(page, '/vault/').count(), 0);
  });

  test('who leaves and comes back has missed nothing', limit, async () => {
    const page = await visit();
    const query = unique();
    await page.click('.brand');
    await page.waitForURL(url('/'));
    await ask(`/?hello=${query}`);
    await page.goBack();
    await lines(page, query).waitFor();
    assert.equal(await lines(page, query).count(), 1);
    await live(page);
  });
});
