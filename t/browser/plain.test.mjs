/* SPDX-License-Identifier: Apache-2.0 */
/* The demo's page that is a plain file: its subscriptions against Apache httpd, mod_vault and a database. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ask, limit, showsBurst, showsItsCode, skip, source, unique, url, visitors } from './demo.mjs';

const LOGS = '/vault/feed/public/get_new_instances?table=logs';
const ROWS = '#log > tr';
const lines = (page, text) => page.locator(ROWS, { hasText: text });

test('the page shows its own code as it is', limit, () => showsItsCode('plain/index.html', 'index.html', 'plain.js'));

/** Not what acknowledges the events of a stream beside it. */
function isPoll(request) {
  const { pathname, searchParams } = new URL(request.url());
  return pathname === '/vault/poll' && !searchParams.has('ack');
}

describe('a plain file', { skip }, () => {
  /** What the page has asked for, and how many polls it had under way at most. */
  function count(page) {
    Object.assign(page, { asked: [], flying: 0, most: 0 });
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.startsWith('/vault/') && pathname !== '/vault/vault.js') page.asked.push(pathname);
      if (isPoll(request)) page.most = Math.max(page.most, ++page.flying);
    });
    const landed = (request) => { if (isPoll(request)) page.flying--; };
    page.on('requestfinished', landed);
    page.on('requestfailed', landed);
  }

  const visitor = visitors({ prepare: count });
  const visit = () => visitor('/plain/');

  test('is one for all, and each who loads it has a page and one poll', limit, async () => {
    const [page, other] = [await visit(), await visit()];
    assert.equal(await page.response.text(), await source('htdocs/demo/plain/index.html'));
    assert.ok(page.response.headers().etag, 'a file that caches may keep');
    const [one, two] = await Promise.all([page, other].map((each) => each.evaluate(() => window.vault.page)));
    assert.match(one, /^[0-9a-f]{40}$/);
    assert.notEqual(one, two);
    for (let i = 0; i < 3; i++) {
      const query = unique();
      await ask(`/?hello=${query}`);
      for (const each of [page, other]) {
        await lines(each, query).waitFor();
        await each.locator('#last', { hasText: query }).waitFor();
      }
    }
    assert.equal(page.most, 1, 'never more than one poll at a time');
    assert.equal(page.asked.filter((path) => path === '/vault/page').length, 1);
  });

  test('misses nothing and shows nothing twice', limit, async () => {
    await showsBurst(await visit(), ROWS);
  });

  test('a subscription that comes later joins, with its first view; one that ends leaves', limit, async () => {
    const page = await visit();
    const id = await page.evaluate(() => window.vault.page);
    const first = await page.evaluate(() => {
      window.heard = [];
      window.end = window.vault.on('public/get_new_instances', { table: 'logs', limit: 3 },
        (rows, { first }) => window.heard.push([first, rows.map((row) => row.request)]));
      return window.end.ready;
    });
    assert.equal(first.length, 3);
    const query = unique();
    await ask(`/?hello=${query}`);
    await page.waitForFunction((text) => window.heard.some(([first, requests]) => !first && requests.join().includes(text)), query);
    const left = page.waitForResponse((response) => response.url().endsWith('/vault/page'));
    await page.evaluate(() => { window.end(); window.heard = []; });
    assert.equal((await left).status(), 200);
    const unheard = unique();
    await ask(`/?hello=${unheard}`);
    await lines(page, unheard).waitFor();
    assert.deepEqual(await page.evaluate(() => window.heard), []);
    assert.equal(await page.evaluate(() => window.vault.page), id, 'the same page');
    assert.equal(page.most, 1);
  });

  test('a page that the server forgot is made anew, and the views begin again', limit, async () => {
    const page = await visit();
    const id = await page.evaluate(() => window.vault.page);
    await page.evaluate(() => window.vault.stop());
    page.bears = /status of 410/;
    await page.route('**/vault/poll?*', (route) => route.fulfill({ status: 410, body: '{}' }), { times: 1 });
    await page.evaluate(() => window.vault.start());
    await page.waitForFunction((id) => window.vault.page && window.vault.page !== id, id);
    const query = unique();
    await ask(`/?hello=${query}`);
    await lines(page, query).waitFor();
    assert.equal(await lines(page, query).count(), 1);
    const ids = await page.locator(ROWS).evaluateAll((rows) => rows.map((row) => row.id));
    assert.equal(new Set(ids).size, ids.length, 'what was shown before was replaced');
  });

  test('what is not exposed, or not to be asked, says why', limit, async () => {
    const page = await visit();
    page.bears = /status of 40[034]|^vault: \/vault\/feed\/(public|database)\//;
    const reasons = await page.evaluate(async (calls) => {
      const all = [];
      for (const [name, args] of calls) {
        all.push(await window.vault.on(name, args, () => {}).ready.catch(({ status, message }) => [status, message]));
      }
      return all;
    }, [['public/all', { table: 'logs' }], ['public/get_new_instances', { table: 'logs', colour: 'red' }],
      ['public/get_new_instances', { table: 'items' }], ['database/get_new_instances', { table: 'items' }]]);
    assert.deepEqual(reasons.map(([status]) => status), [404, 400, 400, 404]);
    assert.match(reasons[1][1], /colour/);
    assert.match(reasons[2][1], /not one of those of tables=logs/);
    const call = await page.evaluate(() => window.vault.call('public/get_new_instances', { table: 'logs', limit: 2 }));
    assert.equal(call.length, 2);
    const response = await fetch(url(`${LOGS}&limit=1`));
    assert.deepEqual([response.status, (await response.json()).length], [200, 1]);
    assert.equal((await fetch(url(`${LOGS}&tabl%65=other`))).status, 400, 'the table twice');
  });
});
