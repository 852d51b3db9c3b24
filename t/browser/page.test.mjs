/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a live page: expiry and reload, leaving and coming back, several tabs. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { all, begun, launch, open, seen, Site } from './browser.mjs';
import { LIST, everywhere, html, inner, json, stage, stream, test } from './stage.mjs';

describe('expiry', () => {
  everywhere('410 says vault:expired and loads the page again', async () => {
    await stage.open();
    const first = await stage.site.polls.next();
    stage.site.page('/', 'id-2', LIST);
    first.end(410);
    const second = await stage.site.polls.next();
    assert.equal(second.page, 'id-2');
    assert.equal(second.seq, 0);
    assert.notEqual(second.tab, first.tab);
    assert.equal(stage.site.acks.count, 0, 'no server is there to tell');
  });

  test('vault:expired can be cancelled: the page stays as it is', async () => {
    const page = await stage.open();
    await page.evaluate(() => document.addEventListener('vault:expired', (event) => event.preventDefault()));
    (await stage.site.polls.next()).end(410);
    const expired = await seen(page, { name: 'vault:expired' });
    assert.deepEqual(expired, { name: 'vault:expired', page: 'id-1', again: false });
    assert.equal(await page.evaluate(() => window.vault.state), 'stopped');
    assert.equal(stage.site.loads('/'), 1);
    assert.equal(stage.site.polls.count, 1);
  });

  test('a reload that brings the same id (a cache!) is said, not repeated', async () => {
    const page = await stage.open();
    (await stage.site.polls.next()).end(410);
    (await stage.site.polls.next()).end(410); // by the same id in the reloaded document
    const error = await seen(page, { name: 'vault:error' });
    assert.match(error.error, /same page id/);
    assert.equal((await seen(page, { name: 'vault:expired' })).again, true);
    assert.equal(await page.evaluate(() => window.vault.state), 'stopped');
    assert.equal(stage.site.loads('/'), 2);
    assert.equal(page.problems.filter((text) => text.includes('same page id')).length, 1);
  });

  test('an id that lived after the reload may expire again', async () => {
    await stage.open();
    (await stage.site.polls.next()).end(410);
    (await stage.site.polls.next()).end(204);
    const alive = await stage.site.polls.next();
    stage.site.page('/', 'id-2', LIST);
    alive.end(410);
    assert.equal((await stage.site.polls.next()).page, 'id-2');
  });

  test('new ids that expire at once do not make a storm of reloads', async () => {
    const page = await stage.open({ clock: true, random: 0 });
    const first = await stage.site.polls.next();
    stage.site.page('/', 'id-2', LIST);
    first.end(410);
    await page.waitForFunction(() => window.vault?.page === 'id-2');
    await begun(page);
    const second = await stage.site.polls.next();
    stage.site.page('/', 'id-3', LIST);
    second.end(410);
    await seen(page, { name: 'vault:expired' });
    await page.clock.runFor(4_999);
    assert.equal(stage.site.loads('/'), 2);
    await page.clock.runFor(1);
    await page.waitForFunction(() => window.vault?.page === 'id-3');
    await begun(page);
    const third = await stage.site.polls.next();
    assert.equal(third.page, 'id-3');
    stage.site.page('/', 'id-4', LIST);
    third.end(410);
    await seen(page, { name: 'vault:expired' });
    await page.clock.runFor(9_999);
    assert.equal(stage.site.loads('/'), 3, 'less and less often');
    await page.clock.runFor(1);
    await page.waitForFunction(() => window.vault?.page === 'id-4');
  });

  test('where storage is forbidden the reload still happens once', async () => {
    await stage.context.addInitScript(() => {
      Object.defineProperty(window, 'sessionStorage', { get() { throw new DOMException('no', 'SecurityError'); } });
    });
    const page = await stage.open();
    (await stage.site.polls.next()).end(410);
    (await stage.site.polls.next()).end(410);
    await seen(page, { name: 'vault:error' });
    assert.equal(stage.site.loads('/'), 2);
  });
});

describe('the life of a page', () => {
  test('stop() acknowledges the last answer; start() goes on from there', async () => {
    const page = await stage.open();
    (await stage.site.polls.next()).answer(5, json(1));
    const poll = await stage.site.polls.next();
    await page.evaluate(() => window.vault.stop());
    await poll.closed;
    const ack = await stage.site.acks.next();
    assert.deepEqual([ack.page, ack.seq, ack.tab, ack.request.method], [poll.page, 5, poll.tab, 'POST']);
    assert.equal(stage.site.polls.unread, 0);
    await page.evaluate(() => window.vault.start());
    assert.equal((await stage.site.polls.next()).seq, 5);
  });

  test('stop() while an answer is being applied acknowledges that answer, all of which is shown', async () => {
    const page = await stage.open();
    await page.evaluate(() => window.vault.on('/stop', () => window.vault.stop()));
    (await stage.site.polls.next()).answer(5, json(1, '/stop'), html(stream('append', 'list', '<li id="c">c</li>')));
    assert.equal((await stage.site.acks.next()).seq, 5);
    assert.equal(await page.locator('#c').count(), 1);
    assert.equal(stage.site.polls.count, 1);
  });

  everywhere('leaving the page ends the poll and acknowledges the last answer', async () => {
    stage.site.file('/elsewhere', '<!doctype html><title>elsewhere</title>');
    const page = await stage.open();
    (await stage.site.polls.next()).answer(3, json(1));
    const poll = await stage.site.polls.next();
    await page.goto(`${stage.site.url}/elsewhere`);
    assert.equal((await stage.site.acks.next()).seq, 3);
    await poll.closed;
  });

  for (const [said, cookies] of [['', undefined], ['data-vault-credentials="include"', 'login=me']]) {
    test(`cookies go to another origin ${cookies ? 'when' : 'only when'} the page says so, also with its last word`, async () => {
      const other = await Site.start();
      try {
        other.file('/', (response) => response.writeHead(200, { 'Content-Type': 'text/html' })
          .end(`<!doctype html><title>other</title><script src="${stage.site.url}/vault/vault.js" data-vault-page="id-1" ${said} defer></script>`));
        await stage.context.addCookies([{ name: 'login', value: 'me', url: stage.site.url }]);
        const page = await open(stage.context, `${other.url}/`);
        const poll = await stage.site.polls.next();
        const origin = { 'Access-Control-Allow-Origin': other.url, 'Access-Control-Allow-Credentials': 'true' };
        poll.end(200, { ...origin, 'Content-Type': 'application/json' }, JSON.stringify({ seq: 1, updates: [] }));
        const next = await stage.site.polls.next();
        assert.equal(next.request.headers.cookie, cookies);
        await page.goto('about:blank');
        const ack = await stage.site.acks.next();
        assert.deepEqual([ack.seq, ack.request.method, ack.request.headers.cookie], [1, 'POST', cookies]);
      } finally {
        await other.stop();
      }
    });
  }

  test('what the server knows already is not acknowledged again', async () => {
    stage.site.file('/elsewhere', '<!doctype html><title>elsewhere</title>');
    stage.site.page('/next', 'id-2');
    const page = await stage.open();
    (await stage.site.polls.next()).answer(3, json(1));
    (await stage.site.polls.next()).end(204);
    const poll = await stage.site.polls.next();
    await page.goto(`${stage.site.url}/next`);
    await poll.closed;
    (await stage.site.polls.next()).answer(1, json(1)); // its ack is the first, or there was one too many
    await stage.site.polls.next();
    await page.goto(`${stage.site.url}/elsewhere`);
    assert.equal((await stage.site.acks.next()).page, 'id-2');
    assert.equal(stage.site.acks.count, 1);
  });

  test('two tabs: two nonces, each its own answers', async () => {
    const one = await stage.open();
    const first = await stage.site.polls.next();
    const two = await stage.open(); // the same HTML: what a duplicated tab is to the server
    const second = await stage.site.polls.next();
    assert.notEqual(first.tab, second.tab);
    first.answer(1, html(stream('append', 'list', '<li>one</li>')));
    assert.equal((await stage.site.polls.next()).tab, first.tab);
    second.answer(2, html(stream('append', 'list', '<li>two</li>')));
    assert.equal((await stage.site.polls.next()).tab, second.tab);
    assert.match(await inner(one, '#list'), /<li>one<\/li>$/);
    assert.match(await inner(two, '#list'), /<li>two<\/li>$/);
  });

  test('back from the back/forward cache it goes on where it was', async () => {
    stage.another = await launch({ backForwardCache: true });
    // The other page goes back by itself, and this one tells the server: Playwright does not follow such a return.
    stage.site.file('/away', '<!doctype html><title>away</title><script src="/back.js"></script>');
    stage.site.file('/back.js', "addEventListener('load', () => setTimeout(() => history.back()));", 'text/javascript');
    stage.site.file('/tell.js', `addEventListener('pageshow', (event) => {
        if (!event.persisted) return;
        const text = () => document.getElementById('list').textContent;
        document.addEventListener('vault:applied', () => fetch('/shown?' + text()));
      });`, 'text/javascript');
    const told = new Promise((resolve) => {
      stage.site.file('/shown', (response, request) => { response.end(); resolve(request.url); });
    });
    stage.site.page('/', 'id-1', LIST, '', '<script src="/tell.js" defer></script>');
    const page = await stage.another.newPage();
    await page.goto(`${stage.site.url}/`);
    const first = await stage.site.polls.next();
    first.answer(1, json(1));
    const second = await stage.site.polls.next();
    await page.evaluate(() => { setTimeout(() => { location.href = '/away'; }); });
    await second.closed;
    assert.equal((await stage.site.acks.next()).seq, 1);
    const third = await stage.site.polls.next();
    assert.deepEqual([third.tab, third.seq], [first.tab, 1], 'the same heap, the same place');
    third.answer(2, html(stream('append', 'list', '<li>back</li>')));
    assert.equal(await told, '/shown?abback');
    assert.equal(stage.site.loads('/'), 1, 'not loaded again');
  });

  test('a page that its author stopped stays stopped, also on return', async () => {
    const page = await stage.open();
    const poll = await stage.site.polls.next();
    await page.evaluate(() => window.vault.stop());
    await poll.closed;
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    assert.equal(await page.evaluate(() => window.vault.state), 'stopped');
    assert.equal((await all(page, 'fetch')).length, 1);
  });

  test('a new page in the same heap takes over', async () => {
    const page = await stage.open();
    const old = await stage.site.polls.next();
    await page.evaluate(() => {
      const script = document.createElement('script');
      script.src = '/vault/vault.js';
      script.dataset.vaultPage = 'id-2';
      document.head.append(script);
    });
    await old.closed;
    const poll = await stage.site.polls.next();
    assert.deepEqual([poll.page, poll.seq, poll.tab], ['id-2', 0, old.tab]);
    assert.equal(await page.evaluate(() => window.vault.page), 'id-2');
  });
});
