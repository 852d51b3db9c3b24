/* SPDX-License-Identifier: Apache-2.0 */
/* Live pages of a whole httpd, over TLS: tabs, restarts, pages that are kept, sessions. In each browser. */
import assert from 'node:assert/strict';
import { after, before, describe } from 'node:test';
import { BUILD } from '../applications/server.mjs';
import { BROWSER } from './browser.mjs';
import { photograph } from './demo.mjs';
import { Server } from './server.mjs';
import { everywhere, only, stage } from './stage.mjs';

const skip = BUILD ? false : 'VAULT_BUILD is not set: no mod_vault to start';

let server;

function served(options) {
  before(async () => { server = await Server.start(options); }, { timeout: 120_000 });
  after(async () => assert.deepEqual(await server?.stop(), [], 'the error log'));
}

/** A live page in a tab of its own. */
async function visit(path, context = stage.context) {
  const page = await context.newPage();
  await page.goto(server.at(path));
  await live(page);
  return page;
}

async function live(page) {
  await page.waitForFunction(() => window.vault?.state === 'waiting', undefined, { polling: 50 });
  await page.evaluate(() => { window.sameDocument = true; });
}

const isSameDocument = (page) => page.evaluate(() => window.sameDocument === true);

/** Another visitor, while fn(context) runs. */
async function stranger(fn) {
  const context = await stage.browser.newContext({ ignoreHTTPSErrors: true });
  try {
    await fn(context);
  } finally {
    await context.close();
  }
}

describe('a server', { skip }, () => {
  served();

  let last = 0;
  const unique = () => `note ${++last} of ${BROWSER}`;
  const note = (page, text) => page.locator('#notes > li', { hasText: new RegExp(`^${text}$`) });
  const notes = (page) => page.locator('#notes > li').allInnerTexts();

  /** All of these pages show this, each once. */
  async function show(pages, ...texts) {
    for (const text of texts) {
      await Promise.all(pages.map((page) => note(page, text).first().waitFor()));
      for (const page of pages) assert.equal(await note(page, text).count(), 1, text);
    }
  }

  everywhere('three tabs are live by one connection, over TLS; what another program writes they show without a reload', async () => {
    const tabs = [await visit('/kept.shtml'), await visit('/kept.shtml'), await visit('/kept.shtml')];
    await server.waiting(1);
    const text = unique();
    await server.insert(text);
    await show(tabs, text);
    const ids = await Promise.all(tabs.map((tab) => tab.evaluate(() => window.vault.page)));
    assert.equal(new Set(ids).size, 3);
    await tabs[0].close();
    const next = unique();
    await server.insert(next);
    await show(tabs.slice(1), next);
    assert.deepEqual(await Promise.all(tabs.slice(1).map(isSameDocument)), [true, true]);
  });

  everywhere('httpd restarts, gracefully and not, and is stopped and started meanwhile: tabs lose nothing and show nothing twice', async () => {
    const tabs = [await visit('/kept.shtml'), await visit('/kept.shtml')];
    for (const [restart, reloads] of [[(rows) => server.restart('SIGUSR1', rows), false], [(rows) => server.restart('SIGHUP', rows), false],
      [(rows) => server.stopAndStart(rows), true]]) {
      const [early, late] = [unique(), unique()];
      await restart(() => server.insert(early));
      await show(tabs, early);
      assert.deepEqual(await Promise.all(tabs.map(isSameDocument)), tabs.map(() => !reloads), 'a page is loaded again only if the server forgot it');
      await Promise.all(tabs.map(live));
      await server.insert(late);
      await show(tabs, early, late);
    }
  });

  everywhere('who leaves a page and comes back has missed nothing', async () => {
    const page = await visit('/kept.shtml');
    await page.goto(server.at('/away.html'));
    const [early, late] = [unique(), unique()];
    await server.insert(early);
    await page.goBack();
    await show([page], early);
    await live(page);
    await server.insert(late);
    await show([page], early, late);
  });

  everywhere('Turbo takes the stream of a page that has no script of ours', async () => {
    const page = await stage.context.newPage();
    await page.goto(server.at('/turbo.shtml'));
    await server.waiting(1);
    const [one, two] = [unique(), unique()];
    await server.insert(one);
    await show([page], one);
    await server.insert(two);
    await show([page], one, two);
  });

  only('firefox', 'a tab in the background is live', async () => {
    const page = await visit('/kept.shtml');
    await Promise.all([stage.context.waitForEvent('page'), page.evaluate(() => { window.open('/away.html', '_blank', 'noopener'); })]);
    await page.waitForFunction(() => document.hidden, undefined, { polling: 50 });
    for (const text of [unique(), unique()]) {
      await server.insert(text);
      await show([page], text);
    }
    assert.equal(await page.evaluate(() => document.hidden), true);
  });

  describe('a page that is kept', () => {
    everywhere('is rendered once, and live for each visitor by an id of its own', async () => {
      const one = await visit('/kept.shtml');
      const early = unique();
      await server.insert(early);
      await show([one], early);
      await one.reload(); // after the notify, so that what is rendered now can be kept
      await live(one);
      const [cached] = await server.status('Cached');
      await stranger(async (other) => {
        const two = await visit('/kept.shtml', other);
        assert.deepEqual(await server.status('Cached'), [cached + 1], 'the second visitor got what was kept');
        assert.deepEqual(await notes(two), await notes(one));
        const ids = await Promise.all([one, two].map((page) => page.evaluate(() => window.vault.page)));
        assert.notEqual(ids[0], ids[1]);
        await server.waiting(2);
        const [runs, shared] = await server.status('Runs', 'Shared');
        const text = unique();
        await server.insert(text);
        await show([one, two], text);
        assert.deepEqual(await server.status('Runs', 'Shared'), [runs + 1, shared + 1], 'one rendering told both');
        await photograph(two, `kept-page-${BROWSER}`);
      });
    });

    everywhere('and is loaded while rows are written misses none, and shows none twice', async () => {
      const tabs = [await visit('/kept.shtml'), await visit('/kept.shtml')];
      for (let i = 0; i < 3; i++) {
        const written = [unique(), unique(), unique(), unique()];
        await Promise.all([tabs[1].reload(), server.insert(...written)]);
        await show(tabs, ...written);
      }
      const expected = (await notes(tabs[0])).sort();
      assert.deepEqual((await notes(tabs[1])).sort(), expected);
      assert.equal(new Set(expected).size, expected.length);
    });
  });
});

describe('a session', { skip }, () => {
  served({ shop: true });

  const basket = (page, text) => page.locator('#basket', { hasText: new RegExp(`^${text}$`) }).waitFor();
  /** The visitor looks at a tab and presses a button there. Chromium lets a tab that is not looked at wait for seconds. */
  async function put(page, item) {
    await page.bringToFront();
    await page.click(`[name=${item}]`);
  }

  const cookie = async () => (await stage.context.cookies(server.at('/'))).find(({ name }) => name === '__Host-session');

  everywhere('is one basket in three tabs; no script reads its cookie, and no other visitor sees it', async () => {
    await stranger(async (context) => {
      const other = await visit('/shop/', context);
      const tabs = [await visit('/shop/'), await visit('/shop/'), await visit('/shop/')];
      for (const [tab, item] of [[1, 'apple'], [2, 'pear'], [0, 'apple']]) {
        await put(tabs[tab], item);
        await Promise.all(tabs.map((page) => basket(page, item)));
      }
      const { httpOnly, secure, sameSite } = await cookie();
      assert.deepEqual({ httpOnly, secure, sameSite }, { httpOnly: true, secure: true, sameSite: 'Lax' });
      assert.equal(await tabs[0].evaluate(() => document.cookie), '');
      await put(other, 'pear');
      await basket(other, 'pear');
      assert.deepEqual(await Promise.all(tabs.map((page) => page.locator('#basket').innerText())), ['apple', 'apple', 'apple']);
      assert.deepEqual(await Promise.all(tabs.map(isSameDocument)), [true, true, true]);
      await photograph(tabs[0], `basket-${BROWSER}`);
    });
  });

  everywhere('gets another cookie with a login, and the tabs stay live', async () => {
    const tabs = [await visit('/shop/'), await visit('/shop/')];
    await put(tabs[0], 'apple');
    await Promise.all(tabs.map((page) => basket(page, 'apple')));
    const before = await cookie();
    await server.logIn(tabs[0]);
    await basket(tabs[0], 'apple');
    assert.notEqual((await cookie()).value, before.value);
    await put(tabs[0], 'pear');
    await Promise.all(tabs.map((page) => basket(page, 'pear')));
    assert.equal(await isSameDocument(tabs[1]), true);
  });
});
