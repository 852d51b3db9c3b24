/* SPDX-License-Identifier: Apache-2.0 */
/* vault.js polls: when, where to, and what it does when the network or the server fails. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { all, forget, seen, slept } from './browser.mjs';
import { LIST, everywhere, html, inner, json, stage, stream, test } from './stage.mjs';

describe('polling', () => {
  test('begins after load, with seq=0, the page and a 128-bit nonce', async () => {
    let image;
    const asked = new Promise((resolve) => {
      stage.site.file('/slow.png', (response) => { image = response; resolve(); });
    });
    stage.site.page('/', 'id-1', '<img src="/slow.png" alt="">');
    const loading = stage.open();
    await asked;
    const [page] = stage.context.pages();
    await page.waitForFunction(() => window.vault);
    assert.equal(await page.evaluate(() => window.vault.state), 'stopped');
    assert.equal(stage.site.polls.count, 0, 'not while an image is on its way');
    image.writeHead(204).end();
    const poll = await stage.site.polls.next();
    assert.equal(poll.page, 'id-1');
    assert.equal(poll.seq, 0);
    assert.match(poll.tab, /^[0-9a-f]{32}$/);
    assert.equal(poll.request.method, 'GET');
    await loading;
  });

  everywhere('an answer is shown and acknowledged by the next poll; nothing offends a strict CSP', async () => {
    const page = await stage.open();
    const first = await stage.site.polls.next();
    first.answer(41, html(stream('append', 'list', '<li id="c">&lt;c&gt;</li>')));
    const second = await stage.site.polls.next();
    assert.equal(second.seq, 41);
    assert.equal(second.tab, first.tab, 'one nonce for the life of the document');
    assert.equal(await inner(page, '#list'), '<li id="a">a</li><li id="b">b</li><li id="c">&lt;c&gt;</li>');
    const applied = (await all(page, 'vault:applied')).map(({ method, type }) => [method, type]);
    assert.deepEqual(applied, [['/m', 'text/html']]);
    assert.deepEqual(page.problems, []);
    assert.deepEqual(await all(page, 'csp'), []);
  });

  test('one poll at a time', async () => {
    const page = await stage.open();
    for (let seq = 1; seq <= 20; seq++) {
      const poll = await stage.site.polls.next();
      assert.equal(poll.seq, seq - 1);
      assert.equal(stage.site.polls.unread, 0);
      poll.answer(seq, json(seq));
    }
    await stage.site.polls.next();
    await page.evaluate(() => { window.vault.start(); window.vault.start(); });
    assert.equal((await all(page, 'vault:update')).length, 20);
    assert.equal(stage.site.polls.count, 21);
  });

  test('204: asks again at once, with the same seq', async () => {
    await stage.open({ clock: true }); // the clock stands still: no timer can be part of it
    for (let i = 0; i < 3; i++) (await stage.site.polls.next()).end(204);
    assert.equal((await stage.site.polls.next()).seq, 0);
  });

  test('204 with Retry-After: waits as long as it was asked to', async () => {
    const page = await stage.open({ clock: true, random: 0 });
    (await stage.site.polls.next()).end(204, { 'Retry-After': '7' });
    await slept(page, 7_000);
  });

  test('204 of a superseded poll: waits a second', async () => {
    const page = await stage.open({ clock: true, random: 0 });
    (await stage.site.polls.next()).end(204, { 'Vault-Superseded': '1' });
    await slept(page, 1_000);
  });

  test('a server that does not hold polls is not asked in a tight loop', async () => {
    const page = await stage.open({ clock: true, random: 0.999 });
    for (let i = 0; i < 6; i++) (await stage.site.polls.next()).end(204);
    await slept(page, 0.999 * 500 * 2);
    (await stage.site.polls.next()).answer(1, json('news'));
    (await stage.site.polls.next()).end(204);
    assert.equal((await stage.site.polls.next()).seq, 1, 'news takes the brake off');
  });

  test('a poll that the server forgot is given up and sent again', async () => {
    stage.site.page('/', 'id-1', LIST, 'data-vault-timeout="200" data-vault-stream="off"');
    const page = await stage.open({ clock: true });
    const forgotten = await stage.site.polls.next();
    await page.clock.runFor(199_000);
    assert.equal((await all(page, 'fetch')).length, 1);
    await page.clock.runFor(1_000);
    await forgotten.closed;
    assert.equal((await stage.site.polls.next()).seq, 0);
  });

  test('two script elements for one page make one client', async () => {
    stage.site.page('/', 'id-1', '<script src="/vault/vault.js" data-vault-page="id-1" defer></script>');
    const page = await stage.open();
    (await stage.site.polls.next()).answer(1, json(1));
    await stage.site.polls.next();
    assert.equal(stage.site.polls.count, 2);
    assert.equal((await all(page, 'vault:update')).length, 1);
  });

  test('the poll goes to where the script came from', async () => {
    const { content } = stage.site.files.get('/vault/vault.js');
    stage.site.file('/vault/copy.js', content, 'text/javascript');
    const tag = '<script src="/vault/copy.js?v=3" data-vault-page="x y" defer></script>';
    stage.site.file('/', `<!doctype html><title>x</title>${tag}`);
    await stage.open();
    const poll = await stage.site.polls.next();
    assert.equal(poll.page, 'x y');
    assert.deepEqual([...new URL(poll.request.url, stage.site.url).searchParams.keys()], ['page', 'seq', 'tab']);
  });

  test('without an id and without subscriptions nothing is asked for', async () => {
    stage.site.file('/', '<!doctype html><title>x</title><script src="/vault/vault.js" defer></script>');
    const page = await stage.open({ clock: true });
    await page.evaluate(() => window.vault.start());
    assert.equal(await page.evaluate(() => window.vault.state), 'stopped');
    assert.deepEqual(await all(page, 'fetch'), []);
    assert.deepEqual(page.problems, []);
  });
});

describe('trouble', () => {
  test('failures back off with full jitter, from 0.5 s to 30 s, and a success resets it', async () => {
    const page = await stage.open({ clock: true, random: 0.5 });
    for (const bound of [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
      (await stage.site.polls.next()).end(500);
      assert.equal((await seen(page, { name: 'vault:state', state: 'backing off' })).delay, bound / 2);
      await slept(page, bound / 2);
      await forget(page);
    }
    (await stage.site.polls.next()).end(204);
    (await stage.site.polls.next()).cut('{');
    await slept(page, 250);
  });

  test('jitter may be nothing: then it asks at once', async () => {
    await stage.open({ random: 0 });
    for (let i = 0; i < 5; i++) (await stage.site.polls.next()).end(502);
    assert.equal((await stage.site.polls.next()).seq, 0);
  });

  for (const status of [503, 429]) {
    test(`${status} with Retry-After: waits so long, and nothing shortens it`, async () => {
      const page = await stage.open({ clock: true, random: 0 });
      (await stage.site.polls.next()).end(status, { 'Retry-After': '120' });
      assert.equal((await seen(page, { name: 'vault:state', state: 'backing off' })).delay, 120_000);
      await page.evaluate(() => {
        window.dispatchEvent(new Event('online'));
        document.dispatchEvent(new Event('visibilitychange'));
      });
      await slept(page, 120_000);
      assert.equal((await stage.site.polls.next()).seq, 0);
    });
  }

  test('503: up to a tenth is added, against a stampede; a date is understood; nonsense is a failure', async () => {
    const page = await stage.open({ clock: true, random: 0.5 });
    (await stage.site.polls.next()).end(503, { 'Retry-After': '10' });
    await slept(page, 10_500);
    const date = await page.evaluate(() => new Date(Date.now() + 60_000).toUTCString()); // whole seconds
    (await stage.site.polls.next()).end(503, { 'Retry-After': date });
    const { ms } = await page.evaluate(() => new Promise((found) => {
      const look = () => {
        const timer = window.seen.find((each) => each.name === 'timer' && each.ms > 55_000 && each.ms < 65_000);
        if (timer) found(timer);
        else window.addEventListener('seen', look, { once: true });
      };
      look();
    }));
    await slept(page, ms);
    (await stage.site.polls.next()).end(503, { 'Retry-After': 'soon' });
    await slept(page, 250);
  });

  test('503 with Retry-After: 0, or a date in the past: pauses that grow, as without', async () => {
    const page = await stage.open({ clock: true, random: 0.5 });
    (await stage.site.polls.next()).end(503, { 'Retry-After': '0' });
    await slept(page, 250);
    (await stage.site.polls.next()).end(503, { 'Retry-After': 'Thu, 01 Jan 1970 00:00:00 GMT' });
    await slept(page, 500);
  });

  for (const [event, target] of [['online', 'window'], ['visibilitychange', 'document'], ['resume', 'document']]) {
    test(`${event} ends a pause after a failure`, async () => {
      const page = await stage.open({ clock: true, random: 0.999 });
      (await stage.site.polls.next()).cut('{');
      await seen(page, { name: 'vault:state', state: 'backing off' });
      await page.evaluate(([event, target]) => globalThis[target].dispatchEvent(new Event(event)), [event, target]);
      assert.equal((await stage.site.polls.next()).seq, 0);
    });
  }

  test('after a sleep of the machine a poll that the server gave up is not waited for', async () => {
    const page = await stage.open({ clock: true });
    const old = await stage.site.polls.next();
    await page.clock.setSystemTime(10 * 60_000); // the wall clock went on, timers did not
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await old.closed;
    assert.equal((await stage.site.polls.next()).seq, 0);
  });

  test('an answer that breaks off leaves no trace and is asked for again', async () => {
    const page = await stage.open({ random: 0 });
    (await stage.site.polls.next()).cut('{"seq":1,"updates":[{"method":"/m","type":"text/html","body":"');
    const again = await stage.site.polls.next();
    assert.equal(again.seq, 0);
    again.answer(2, html(stream('append', 'list', '<li>once</li>')));
    assert.equal((await stage.site.polls.next()).seq, 2);
    assert.equal((await inner(page, '#list')).split('once').length, 2);
  });

  test('what arrives for an aborted poll is ignored', async () => {
    const page = await stage.open();
    const poll = await stage.site.polls.next();
    await poll.trickle(1, html(stream('update', 'list', 'too late')));
    await page.evaluate(() => window.vault.stop());
    await poll.closed;
    await page.evaluate(() => window.vault.start());
    assert.equal((await stage.site.polls.next()).seq, 0);
    assert.equal(await inner(page, '#list'), '<li id="a">a</li><li id="b">b</li>');
  });

  test('an answer that comes twice is shown once', async () => {
    const page = await stage.open({ random: 0 });
    (await stage.site.polls.next()).answer(7, html(stream('append', 'list', '<li>once</li>')));
    (await stage.site.polls.next()).answer(7, html(stream('append', 'list', '<li>once</li>')));
    assert.equal((await stage.site.polls.next()).seq, 7);
    assert.equal((await inner(page, '#list')).split('once').length, 2);
  });

  for (const [what, body] of [
    ['a login page', '<!doctype html><title>Log in</title>'],
    ['no seq', '{"updates":[]}'],
    ['a seq that is no number', '{"seq":"1","updates":[]}'],
    ['no updates', '{"seq":1}'],
    ['null', 'null'],
  ]) {
    test(`200 with ${what}: reported, nothing is acknowledged, asked again`, async () => {
      const page = await stage.open({ random: 0 });
      (await stage.site.polls.next()).end(200, { 'Content-Type': 'application/json' }, body);
      assert.equal((await stage.site.polls.next()).seq, 0);
      await seen(page, { name: 'vault:error' });
    });
  }

  test('403 of the server: said, and not asked again before the page is visible again; of a proxy in between: tried again', async () => {
    const page = await stage.open({ clock: true, random: 0 });
    (await stage.site.polls.next()).end(403, { 'Content-Type': 'text/html' }, '<title>Forbidden</title>');
    await seen(page, { name: 'timer', ms: 0 });
    await page.clock.runFor(1);
    (await stage.site.polls.next()).end(403, { 'Content-Type': 'application/json' }, '{"error":"the page belongs to another user"}');
    const error = await seen(page, { name: 'vault:error' });
    assert.deepEqual([error.error, error.status], ['the page belongs to another user', 403]);
    assert.equal(await page.evaluate(() => window.vault.state), 'stopped');
    await page.clock.runFor(60_000);
    await page.evaluate(() => window.dispatchEvent(new Event('online')));
    assert.equal(stage.site.polls.unread, 0);
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    assert.deepEqual((await stage.site.polls.next()).page, 'id-1');
    assert.equal((await all(page, 'vault:error')).length, 1);
    assert.equal(stage.site.acks.count, 0);
  });

  const REFUSED = { method: '/members', status: 401, error: 'its status is 401' };

  test('a method that is refused: said once, with its status; the other updates are shown, and the page goes on', async () => {
    const page = await stage.open();
    const updates = [{ method: '/m', type: 'text/html', body: stream('append', 'list', '<li>shown</li>') }];
    (await stage.site.polls.next()).end(200, { 'Content-Type': 'application/json' }, JSON.stringify({ seq: 3, updates, refused: [REFUSED] }));
    const poll = await stage.site.polls.next();
    assert.equal(poll.seq, 3, 'it is acknowledged as any answer');
    await page.getByText('shown').waitFor();
    const [{ name, ...said }, ...more] = await all(page, 'vault:error');
    assert.deepEqual([said, more], [REFUSED, []]);
    assert.match(page.problems.join(), /members.*its status is 401/, 'on the console');
    poll.answer(4, html(stream('append', 'list', '<li>later</li>')));
    await page.getByText('later').waitFor();
    assert.equal((await all(page, 'vault:error')).length, 1);
    assert.equal(await page.evaluate(() => window.vault.state), 'waiting');
  });

  test('a refusal that comes twice is said once', async () => {
    const page = await stage.open({ random: 0 });
    const body = JSON.stringify({ seq: 7, updates: [], refused: [REFUSED] });
    for (let i = 0; i < 2; i++) (await stage.site.polls.next()).end(200, { 'Content-Type': 'application/json' }, body);
    assert.equal((await stage.site.polls.next()).seq, 7);
    assert.equal((await all(page, 'vault:error')).length, 1);
  });

  test('by a stream, it is said once and acknowledged, and what comes after it is shown', async () => {
    const page = await stage.open();
    const poll = await stage.site.polls.next();
    poll.begin().say({ page: 'id-1', seq: 1, updates: [], refused: [REFUSED] });
    assert.equal((await seen(page, { name: 'vault:error' })).status, 401);
    assert.equal((await stage.site.acks.next()).seq, 1);
    poll.event('id-1', 2, html(stream('append', 'list', '<li>on</li>')));
    await page.getByText('on', { exact: true }).waitFor();
    assert.equal((await all(page, 'vault:error')).length, 1);
  });

  const HTML = { 'Content-Type': 'text/html' };
  for (const [what, answer] of [
    ['404', (poll) => poll.end(404, HTML, '<title>Not found</title>')],
    ['a page', (poll) => poll.end(200, HTML, '<title>Welcome</title>')],
    ['a redirect to a login', (poll) => poll.end(302, { Location: '/login' })],
  ]) {
    test(`${what}, again and again, is not mod_vault: said, and not asked again before the visitor looks`, async () => {
      stage.site.file('/login', '<title>Log in</title>');
      const page = await stage.open({ clock: true, random: 0.6 });
      for (const pause of [300, 600, 1200, 2400]) {
        answer(await stage.site.polls.next());
        await slept(page, pause);
      }
      answer(await stage.site.polls.next());
      await seen(page, { name: 'vault:state', state: 'stopped' });
      const error = await seen(page, { name: 'vault:error' });
      assert.match(error.error, /\/(vault\/poll|login) was answered by something else than mod_vault \(status (404|200), text\/html/);
      assert.match(page.problems.join(), /something else than mod_vault/, 'on the console');
      await page.clock.runFor(600_000);
      assert.equal(stage.site.polls.unread, 0);
      await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
      (await stage.site.polls.next()).answer(1, html(stream('append', 'list', '<li>back</li>')));
      await page.getByText('back').waitFor();
    });
  }

  test('404 a few times, as of a server that is restarted, then mod_vault: the page goes on', async () => {
    const page = await stage.open({ random: 0 });
    for (let i = 0; i < 4; i++) (await stage.site.polls.next()).end(404, HTML, '');
    (await stage.site.polls.next()).answer(1, html(stream('append', 'list', '<li>back</li>')));
    for (let i = 0; i < 4; i++) (await stage.site.polls.next()).end(404, HTML, '');
    (await stage.site.polls.next()).answer(2, html(stream('append', 'list', '<li>again</li>')));
    await page.getByText('again').waitFor();
    assert.deepEqual(await all(page, 'vault:error'), []);
  });

  test('403, and the visitor logs in again in another window: the page that was visible all the time is live when it is come back to', async () => {
    const page = await stage.open();
    const other = await stage.context.newPage();
    for (const each of [page, other]) { // without it Playwright has each believe that it is looked at
      await (await stage.context.newCDPSession(each)).send('Emulation.setFocusEmulationEnabled', { enabled: false });
    }
    const focused = (each, focus) => each.waitForFunction((focus) => document.hasFocus() === focus, focus);
    await other.bringToFront();
    await Promise.all([focused(other, true), focused(page, false)]);
    (await stage.site.polls.next()).end(403, { 'Content-Type': 'application/json' }, '{"error":"the page belongs to another user"}');
    await seen(page, { name: 'vault:state', state: 'stopped' });
    await page.evaluate(() => {
      window.looks = 0;
      document.addEventListener('visibilitychange', () => { window.looks++; });
    });
    await page.bringToFront();
    (await stage.site.polls.next()).answer(1, html(stream('append', 'list', '<li>live</li>')));
    await page.getByText('live').waitFor();
    assert.equal(await page.evaluate(() => window.looks), 0);
    await stage.site.polls.next();
    await other.bringToFront();
    await focused(page, false);
    await page.bringToFront();
    await focused(page, true);
    assert.equal(stage.site.polls.unread, 0, 'a page that is live is not asked for again');
  });

  test('the state is told: connecting, waiting, backing off, stopped', async () => {
    const page = await stage.open({ clock: true, random: 0.5 });
    const held = await stage.site.polls.next();
    await page.clock.runFor(500);
    await seen(page, { name: 'vault:state', state: 'waiting' }); // held for half a second
    held.end(500);
    await slept(page, 250);
    (await stage.site.polls.next()).end(204);
    await stage.site.polls.next();
    await page.evaluate(() => window.vault.stop());
    assert.deepEqual((await all(page, 'vault:state')).map((each) => each.state),
      ['connecting', 'waiting', 'backing off', 'connecting', 'waiting', 'stopped']);
    assert.equal(await page.evaluate(() => window.vault.state), 'stopped');
  });
});
