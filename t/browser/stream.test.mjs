/* SPDX-License-Identifier: Apache-2.0 */
/* vault.js and streams: what it does with events, when it does without, and what it tells the server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { describe } from 'node:test';
import { all, begun, forget, open, seen } from './browser.mjs';
import { LIST, everywhere, html, inner, json, stage, stream, test } from './stage.mjs';

const row = (text) => html(stream('append', 'list', `<li>${text}</li>`));
const shown = (page) => page.locator('#list').innerText().then((text) => text.split('\n').slice(2).join(' '));

/** Chromium says of each resource by which protocol it came. */
const throughHttp2 = (page) => page.addInitScript(() => {
  Object.defineProperty(PerformanceResourceTiming.prototype, 'nextHopProtocol', { get: () => 'h2' });
});

/** What stands in front of the site and keeps each answer until it is complete. */
async function bufferingProxy() {
  const { port } = stage.site.server.address();
  const proxy = http.createServer((request, response) => {
    const onward = http.request({ port, host: '127.0.0.1', path: request.url, method: request.method, headers: request.headers }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('error', () => response.destroy());
      answer.on('end', () => {
        response.writeHead(answer.statusCode, answer.headers);
        response.end(Buffer.concat(parts));
      });
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  proxy.unref(); // a test that fails leaves it behind
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return proxy;
}

describe('streams', () => {
  everywhere('are asked for, and events are applied as they come, on one connection', async () => {
    const page = await stage.open();
    const poll = await stage.site.polls.next();
    assert.ok(poll.streams, 'it accepts a stream');
    poll.begin().event('id-1', 1, row('one'));
    await page.getByText('one').waitFor();
    poll.event('id-1', 2, row('two')).beat();
    await page.getByText('two').waitFor();
    assert.equal(await page.evaluate(() => window.vault.seq), 2);
    assert.equal(await page.evaluate(() => window.vault.state), 'waiting');
    assert.equal(stage.site.polls.count, 1);
    assert.deepEqual(page.problems, []);
    assert.deepEqual(await all(page, 'csp'), []);
  });

  test('what came is acknowledged beside it: after a second without an event, or after four', async () => {
    const page = await stage.open({ clock: true });
    const poll = await stage.site.polls.next();
    poll.begin();
    for (let seq = 1; seq <= 3; seq++) poll.event('id-1', seq, row(seq));
    await page.getByText('3').waitFor();
    await page.clock.runFor(999);
    assert.equal(stage.site.acks.count, 0);
    await page.clock.runFor(1);
    const ack = await stage.site.acks.next();
    assert.deepEqual([ack.page, ack.seq, ack.request.method], ['id-1', 3, 'POST']);
    for (let seq = 4; seq <= 7; seq++) poll.event('id-1', seq, row(seq));
    assert.equal((await stage.site.acks.next()).seq >= 4, true, 'no clock moved');
    assert.equal(stage.site.polls.count, 1, 'the stream goes on');
  });

  test('four that come while an acknowledgement is on its way are acknowledged after it', async () => {
    stage.site.holdsAcks = true;
    const page = await stage.open({ clock: true });
    const poll = await stage.site.polls.next();
    poll.begin().event('id-1', 1, row('1'));
    await page.getByText('1').waitFor();
    await page.clock.runFor(1_000);
    const ack = await stage.site.acks.next();
    for (let seq = 2; seq <= 5; seq++) poll.event('id-1', seq, row(seq));
    await page.getByText('5').waitFor();
    assert.equal(stage.site.acks.unread, 0, 'one at a time');
    ack.end(204);
    assert.equal((await stage.site.acks.next()).seq, 5, 'no clock moved');
  });

  test('an acknowledgement that is not answered is sent again', async () => {
    stage.site.holdsAcks = true;
    const page = await stage.open({ clock: true });
    (await stage.site.polls.next()).begin().event('id-1', 1, row('1'));
    await page.getByText('1').waitFor();
    await page.clock.runFor(1_000);
    const lost = await stage.site.acks.next();
    await forget(page);
    await page.clock.runFor(10_000);
    await lost.closed;
    await seen(page, { name: 'timer', ms: 5_000 });
    await page.clock.runFor(5_000);
    assert.equal((await stage.site.acks.next()).seq, 1);
    assert.equal(stage.site.polls.count, 1, 'the stream goes on');
  });

  test('one that ends is asked for again at once, with what was applied', async () => {
    await stage.open({ clock: true });
    const first = await stage.site.polls.next();
    first.begin().event('id-1', 5, json(1));
    first.response.end();
    assert.equal((await stage.site.polls.next()).seq, 5);
  });

  everywhere('one that breaks off in an event leaves no trace of that', async () => {
    const page = await stage.open({ random: 0 });
    const first = await stage.site.polls.next();
    first.begin().event('id-1', 1, row('one'));
    await page.getByText('one').waitFor();
    first.response.write(`id: 2\ndata: ${JSON.stringify({ page: 'id-1', seq: 2, updates: [] })}\n`, () => first.request.socket.destroy());
    const second = await stage.site.polls.next();
    assert.equal(second.seq, 1);
    second.begin().event('id-1', 3, row('two'));
    await page.getByText('two').waitFor();
    assert.equal(await shown(page), 'one two');
  });

  test('an event that is none: reported, and asked for again', async () => {
    const page = await stage.open({ random: 0 });
    (await stage.site.polls.next()).begin().response.write('id: 1\ndata: {"page":"id-1"}\n\n');
    assert.equal((await stage.site.polls.next()).seq, 0);
    assert.match((await seen(page, { name: 'vault:error' })).error, /not an event/);
  });

  test('one that is silent for too long is given up; heart-beats keep it', async () => {
    stage.site.page('/', 'id-1', LIST, 'data-vault-timeout="40"');
    const page = await stage.open({ clock: true });
    const first = await stage.site.polls.next();
    first.begin();
    await seen(page, { name: 'vault:state', state: 'waiting' });
    for (let i = 0; i < 3; i++) {
      await page.clock.runFor(39_000);
      await page.evaluate(() => { window.seen.length = 0; });
      first.beat();
      await seen(page, { name: 'timer', ms: 40_000 });
    }
    assert.equal(stage.site.polls.count, 1);
    await page.clock.runFor(40_000);
    await first.closed;
    assert.equal((await stage.site.polls.next()).seq, 0);
  });

  test('a server that answers once is polled from then on', async () => {
    await stage.open();
    (await stage.site.polls.next()).answer(1, json(1));
    assert.equal((await stage.site.polls.next()).streams, false);
  });

  test('410 in a stream loads the page again', async () => {
    const page = await stage.open();
    const loaded = page.waitForEvent('load');
    (await stage.site.polls.next()).begin().say({ page: 'id-1', status: 410 });
    await loaded;
    assert.equal(stage.site.loads('/'), 2);
  });

  test('superseded: asked for again after a second', async () => {
    const page = await stage.open({ clock: true });
    const first = await stage.site.polls.next();
    first.begin().say({ page: 'id-1', status: 204, superseded: true });
    first.response.end();
    await seen(page, { name: 'timer', ms: 1_000 });
    assert.equal(stage.site.polls.unread, 0);
    await page.clock.runFor(1_000);
    assert.equal((await stage.site.polls.next()).seq, 0);
  });

  test('stop() acknowledges what came', async () => {
    const page = await stage.open();
    const poll = await stage.site.polls.next();
    poll.begin().event('id-1', 7, row('seven'));
    await page.getByText('seven').waitFor();
    await page.evaluate(() => window.vault.stop());
    await poll.closed;
    assert.equal((await stage.site.acks.next()).seq, 7);
  });
});

describe('no streams', () => {
  test('where a proxy keeps answers until they are complete, remembered for the session', async () => {
    const proxy = await bufferingProxy();
    try {
      const page = await open(stage.context, `http://127.0.0.1:${proxy.address().port}/`, { clock: true });
      const first = await stage.site.polls.next();
      assert.ok(first.streams);
      first.begin();
      await page.clock.runFor(4_999);
      assert.equal(stage.site.polls.unread, 0);
      await page.clock.runFor(1);
      await first.closed;
      const plain = await stage.site.acks.next();
      assert.deepEqual([plain.page, plain.seq], ['id-1', 0], 'does anything come through?');
      const second = await stage.site.polls.next();
      assert.ok(second.streams, 'a plain answer did');
      second.begin();
      await page.clock.runFor(5_000);
      await second.closed;
      const third = await stage.site.polls.next();
      assert.equal(third.streams, false);
      third.answer(1, row('one'));
      await page.getByText('one').waitFor();
      await stage.site.polls.next();
      await page.goto(page.url());
      await begun(page);
      assert.equal((await stage.site.polls.next()).streams, false, 'the next page of this session does not try');
    } finally {
      proxy.closeAllConnections();
      proxy.close();
    }
  });

  test('not for a network that is dead for the first seconds: nothing is remembered', async () => {
    stage.site.holdsAcks = true;
    const page = await stage.open({ clock: true, random: 0.5 });
    const lost = [await stage.site.polls.next()];
    for (let i = 0; i < 2; i++) {
      await forget(page);
      await page.clock.runFor(5_000);
      await lost.at(-1).closed;
      const ack = await stage.site.acks.next();
      await seen(page, { name: 'timer', ms: 10_000 });
      await page.clock.runFor(10_000);
      await ack.closed;
      const { delay } = await seen(page, { name: 'vault:state', state: 'backing off' });
      assert.equal(delay, 250 * 2 ** i);
      await page.clock.runFor(delay);
      lost.push(await stage.site.polls.next());
    }
    const poll = lost.at(-1);
    assert.ok(poll.streams, 'it is there again, and so are streams');
    poll.begin().event('id-1', 1, row('one'));
    await page.getByText('one').waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.getItem('vault-polls')), null);
  });

  test('one that is late once, and later another one: nothing is remembered', async () => {
    const page = await stage.open({ clock: true });
    for (let i = 0; i < 2; i++) {
      const late = await stage.site.polls.next();
      await page.clock.runFor(5_000);
      await late.closed;
      await stage.site.acks.next();
      const poll = await stage.site.polls.next();
      assert.ok(poll.streams);
      poll.begin().event('id-1', i + 1, row(`row ${i}`));
      await page.getByText(`row ${i}`).waitFor();
      poll.response.end();
    }
    assert.ok((await stage.site.polls.next()).streams);
    assert.equal(await page.evaluate(() => sessionStorage.getItem('vault-polls')), null);
  });

  test('where they break as soon as they have begun, six times in a row; the pauses grow', async () => {
    const page = await stage.open({ clock: true, random: 0.5 });
    for (let i = 0; i < 6; i++) {
      await forget(page);
      const poll = await stage.site.polls.next();
      assert.ok(poll.streams);
      poll.begin();
      await seen(page, { name: 'vault:state', state: 'waiting' });
      poll.request.socket.destroy();
      const { delay } = await seen(page, { name: 'vault:state', state: 'backing off' });
      assert.equal(delay, 250 * 2 ** i);
      await page.clock.runFor(delay);
    }
    const poll = await stage.site.polls.next();
    assert.equal(poll.streams, false);
    poll.answer(1, row('one'));
    await page.getByText('one').waitFor();
  });

  test('over HTTP/2', async () => {
    const page = await stage.context.newPage();
    await throughHttp2(page);
    await page.goto(`${stage.site.url}/`);
    assert.equal((await stage.site.polls.next()).streams, false);
  });

  test('when the page says so', async () => {
    stage.site.page('/', 'id-1', LIST, 'data-vault-stream="off"');
    await stage.open();
    assert.equal((await stage.site.polls.next()).streams, false);
    assert.equal(await inner((await stage.context.pages())[0], 'title'), '/');
  });
});
