/* SPDX-License-Identifier: Apache-2.0 */
/* A document that is a plain file subscribes to feeds: one page, one poll, whatever comes and goes. */
import assert from 'node:assert/strict';
import { beforeEach, describe } from 'node:test';
import { all, forget, seen } from './browser.mjs';
import { LIST, stage, test } from './stage.mjs';

const url = (name, query) => `/vault/feed/${name}?${query}`;
const [LOGS, NOTES] = [url('database/get_new_instances', 'table=logs'), url('database/get_new_instances', 'table=notes')];
const rows = (method, data) => [method, 'application/json', JSON.stringify(data)];

/* Writes down in window.heard what each subscription hears; window.follow(name, args) is one more. */
const SCRIPT = `window.heard = []; window.ends = {};
window.follow = (name, args, label = name) => {
  const end = window.vault.on(name, args, (rows, { first }) => window.heard.push([label, rows, first]));
  end.ready.then((rows) => window.heard.push([label, 'ready', rows]), (error) => window.heard.push([label, error.message, error.status]));
  window.ends[label] = end;
};`;

const heard = (page) => page.evaluate(() => window.heard.splice(0));

/** A page, an answer for which is still to be given. `script` runs before load. */
function plain(script) {
  stage.site.file('/app.js', `${SCRIPT}\n${script}`, 'text/javascript');
  stage.site.file('/', `<!doctype html><html lang="en"><head><title>plain</title></head><body>${LIST}
<script src="/vault/vault.js" defer></script><script src="/app.js" defer></script></body></html>`);
}

const TWO = `follow('database/get_new_instances', { table: 'logs' }, 'logs');
follow('database/get_new_instances', { table: 'notes' }, 'notes');`;

describe('subscriptions of a plain file', () => {
  beforeEach(() => plain(TWO));

  test('are one page and one poll', async () => {
    const page = await stage.open();
    const change = await stage.site.changes.next();
    assert.equal(change.request.method, 'POST');
    assert.equal(change.request.headers['content-type'], 'application/json');
    assert.deepEqual(change.add, [LOGS, NOTES]);
    assert.equal(change.page, undefined);
    change.grant('p1', [[LOGS, [{ id: 1 }]], [NOTES, []]]);
    const poll = await stage.site.polls.next();
    assert.equal(poll.page, 'p1');
    assert.equal(poll.seq, 0);
    assert.deepEqual((await heard(page)).filter(([, what]) => what !== 'ready'), [['logs', [{ id: 1 }], true], ['notes', [], true]]);
    poll.answer(7, rows(NOTES, [{ id: 5 }]), rows(LOGS, [{ id: 2 }]));
    assert.equal((await stage.site.polls.next()).seq, 7);
    assert.deepEqual(await heard(page), [['notes', [{ id: 5 }], false], ['logs', [{ id: 2 }], false]]);
    assert.equal(await page.evaluate(() => window.vault.page), 'p1');
    assert.equal(stage.site.polls.count, 2, 'two polls in all, one after the other');
    assert.equal(stage.site.changes.count, 1);
    assert.deepEqual(page.problems, []);
    assert.deepEqual(await all(page, 'csp'), []);
  });

  test('that come later join the page; two at once are one request', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant('p1', [[LOGS, []], [NOTES, []]]);
    const poll = await stage.site.polls.next();
    await heard(page);
    await page.evaluate(() => {
      window.follow('messages/get_new', { user: 'ä b', where: { status: 404, deep: { er: true } }, since: new Date(0) }, 'one');
      window.follow('messages/all', {}, 'two');
    });
    const change = await stage.site.changes.next();
    const one = url('messages/get_new', 'user=%C3%A4+b&where.status=404&where.deep.er=true&since=1970-01-01T00%3A00%3A00.000Z');
    const two = url('messages/all', '');
    assert.deepEqual([change.page, change.add, change.remove], ['p1', [one, two], []]);
    change.grant('p1', []);
    poll.answer(1, rows(one, [1]), rows(two, [2]));
    await stage.site.polls.next();
    assert.deepEqual((await heard(page)).filter(([, what]) => what !== 'ready'), [['one', [1], true], ['two', [2], true]]);
    assert.equal(stage.site.changes.count, 2);
  });

  test('that come while the page is being made join it afterwards', async () => {
    const page = await stage.open();
    const making = await stage.site.changes.next();
    await page.evaluate(() => {
      window.follow('a/b', {}, 'late');
      window.ends.notes();
    });
    making.grant('p1', [[LOGS, []], [NOTES, []]]);
    const change = await stage.site.changes.next();
    assert.deepEqual([change.page, change.add, change.remove], ['p1', [url('a/b', '')], [NOTES]]);
    assert.deepEqual((await heard(page)).map(([label]) => label), ['logs', 'logs'], 'who has gone hears nothing');
  });

  test('may end: the server is told, and nothing is heard any more', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant('p1', [[LOGS, []], [NOTES, []]]);
    const poll = await stage.site.polls.next();
    await heard(page);
    await page.evaluate(() => { window.ends.logs(); window.ends.logs(); });
    const change = await stage.site.changes.next();
    assert.deepEqual([change.page, change.add, change.remove], ['p1', [], [LOGS]]);
    change.grant('p1', []);
    poll.answer(1, rows(LOGS, [1]), rows(NOTES, [2]));
    await stage.site.polls.next();
    assert.deepEqual(await heard(page), [['notes', [2], false]]);
    assert.equal(stage.site.changes.count, 2, 'once');
  });

  test('when the last one ends the poll ends, and a new one goes on with the page', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant('p1', [[LOGS, []], [NOTES, []]]);
    const poll = await stage.site.polls.next();
    await page.evaluate(() => { window.ends.logs(); window.ends.notes(); });
    await poll.closed;
    assert.equal(await page.evaluate(() => window.vault.state), 'stopped');
    await page.evaluate(() => window.follow('a/b', {}));
    const change = await stage.site.changes.next();
    assert.deepEqual([change.page, change.add, change.remove], ['p1', [url('a/b', '')], [LOGS, NOTES]]);
    assert.equal((await stage.site.polls.next()).page, 'p1');
  });

  test('the same call twice is two methods', async () => {
    plain(`${TWO} follow('database/get_new_instances', { table: 'logs' }, 'again');`);
    const page = await stage.open();
    const change = await stage.site.changes.next();
    assert.deepEqual(change.add, [LOGS, NOTES, `${LOGS}&=2`]);
    change.grant('p1', [[LOGS, [1]], [NOTES, []], [`${LOGS}&=2`, [1]]]);
    const poll = await stage.site.polls.next();
    await heard(page);
    poll.answer(1, rows(`${LOGS}&=2`, [3]));
    await stage.site.polls.next();
    assert.deepEqual(await heard(page), [['again', [3], false]]);
  });

  test('410: all views begin anew, without a reload', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant('p1', [[LOGS, [1]], [NOTES, []]]);
    (await stage.site.polls.next()).answer(4, rows(LOGS, [2]));
    const poll = await stage.site.polls.next();
    await heard(page);
    poll.end(410);
    const change = await stage.site.changes.next();
    assert.deepEqual([change.page, change.add], [undefined, [LOGS, NOTES]]);
    change.grant('p2', [[LOGS, [1, 2]], [NOTES, [9]]]);
    const next = await stage.site.polls.next();
    assert.deepEqual([next.page, next.seq], ['p2', 0]);
    assert.deepEqual(await heard(page), [['logs', [1, 2], true], ['notes', [9], true]]);
    assert.deepEqual(await seen(page, { name: 'vault:expired' }), { name: 'vault:expired', page: 'p1', again: false });
    assert.equal(stage.site.loads('/'), 1);
    assert.equal(stage.site.acks.count, 0);
    assert.deepEqual(page.problems.filter((text) => !text.includes('410')), []);
  });

  test('a first view that comes again, in a poll, says so', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant('p1', [[LOGS, [1]], [NOTES, []]]);
    const poll = await stage.site.polls.next();
    await heard(page);
    poll.answer(1, [...rows(LOGS, [5]), 'first'], rows(NOTES, [2]));
    await stage.site.polls.next();
    assert.deepEqual(await heard(page), [['logs', [5], true], ['notes', [2], false]]);
  });

  test('410 of a page that never lived: after a pause; and it can be cancelled', async () => {
    const page = await stage.open({ clock: true, random: 0.5 });
    (await stage.site.changes.next()).grant('p1', [[LOGS, [1]], [NOTES, []]]);
    (await stage.site.polls.next()).end(410);
    await seen(page, { name: 'vault:state', state: 'backing off', delay: 250 });
    assert.equal(stage.site.changes.count, 1);
    await page.clock.runFor(250);
    (await stage.site.changes.next()).grant('p2', [[LOGS, [1]], [NOTES, []]]);
    const poll = await stage.site.polls.next();
    await page.evaluate(() => document.addEventListener('vault:expired', (event) => event.preventDefault(), { once: true }));
    await forget(page);
    poll.end(410);
    await seen(page, { name: 'vault:state', state: 'stopped' });
    assert.equal(stage.site.changes.count, 2);
    await page.evaluate(() => window.vault.start());
    assert.deepEqual((await stage.site.changes.next()).add, [LOGS, NOTES], 'until it is started again');
  });

  test('403: said, and made anew when a script starts it again', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant('p1', [[LOGS, [1]], [NOTES, []]]);
    (await stage.site.polls.next()).end(403, {}, '{"error":"the page belongs to another user"}');
    assert.equal((await seen(page, { name: 'vault:error' })).status, 403);
    assert.deepEqual(await page.evaluate(() => [window.vault.state, window.vault.page]), ['stopped', undefined]);
    await heard(page);
    await page.evaluate(() => window.vault.start());
    (await stage.site.changes.next()).grant('p2', [[LOGS, [2]], [NOTES, []]]);
    assert.equal((await stage.site.polls.next()).page, 'p2');
    assert.deepEqual(await heard(page), [['logs', [2], true], ['notes', [], true]]);
  });

  test('410 to who joins: left to the poll', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant('p1', [[LOGS, []], [NOTES, []]]);
    const poll = await stage.site.polls.next();
    await page.evaluate(() => window.follow('a/b', {}));
    (await stage.site.changes.next()).end(410);
    poll.end(410);
    await stage.site.changes.next().then(({ add }) => assert.deepEqual(add, [LOGS, NOTES, url('a/b', '')]));
    assert.equal(stage.site.changes.count, 3);
  });

  test('one that is refused ends with the reason, the others live', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant('p1', [[LOGS, []]], [[NOTES, 404, 'not here']]);
    const poll = await stage.site.polls.next();
    assert.deepEqual((await heard(page)).filter(([label]) => label === 'notes'), [['notes', 'not here', 404]]);
    const error = await seen(page, { name: 'vault:error' });
    assert.deepEqual([error.error, error.method], ['not here', NOTES]);
    await page.evaluate(() => window.follow('a/b', {}, 'wrong'));
    (await stage.site.changes.next()).grant('p1', [], [[url('a/b', ''), 400, 'nor this']]);
    await seen(page, { name: 'vault:error', error: 'nor this' });
    assert.deepEqual(await heard(page), [['wrong', 'nor this', 400]]);
    poll.end(204);
    await stage.site.polls.next();
    assert.equal(stage.site.changes.count, 2, 'what was refused is not asked for again');
  });

  test('one that the server cannot answer yet gets its first rows from a poll', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant('p1', [[LOGS, []]], [[NOTES, 503, 'not now']]);
    const poll = await stage.site.polls.next();
    await seen(page, { name: 'vault:error', error: 'not now' });
    await heard(page);
    poll.answer(1, rows(NOTES, [1]));
    await stage.site.polls.next();
    assert.deepEqual(await heard(page), [['notes', [1], true], ['notes', 'ready', [1]]]);
  });

  test('when all are refused nothing is polled', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant(undefined, [], [[LOGS, 404, 'no'], [NOTES, 403, 'no']]);
    await seen(page, { name: 'vault:state', state: 'stopped' });
    assert.deepEqual((await heard(page)).map(([label, , status]) => [label, status]), [['logs', 404], ['notes', 403]]);
    assert.equal(stage.site.polls.count, 0);
  });

  for (const status of [400, 403, 404, 405]) {
    test(`${status} for the page itself: every subscription hears why`, async () => {
      const page = await stage.open();
      (await stage.site.changes.next()).end(status, {}, status === 404 ? '<h1>Not Found</h1>' : '{"error":"because"}');
      await seen(page, { name: 'vault:state', state: 'stopped' });
      const why = status === 404 ? 'status 404' : 'because';
      assert.deepEqual(await heard(page), [['logs', why, status], ['notes', why, status]]);
      assert.equal(stage.site.changes.count, 1);
    });
  }

  test('no answer, 503 or no JSON: asked for again, after a pause', async () => {
    const page = await stage.open({ clock: true, random: 0 });
    (await stage.site.changes.next()).cut('{');
    await seen(page, { name: 'timer', ms: 0 });
    await page.clock.runFor(1);
    (await stage.site.changes.next()).end(503, { 'Retry-After': '5' }, '{"error":"full"}');
    await seen(page, { name: 'timer', ms: 5_000 });
    await page.clock.runFor(4_999);
    assert.equal(stage.site.changes.count, 2);
    await forget(page);
    await page.clock.runFor(1);
    (await stage.site.changes.next()).end(200, {}, '<h1>Log in to this network</h1>');
    await seen(page, { name: 'timer', ms: 0 });
    await page.clock.runFor(1);
    (await stage.site.changes.next()).grant('p1', [[LOGS, []], [NOTES, []]]);
    assert.equal((await stage.site.polls.next()).page, 'p1');
    assert.equal((await heard(page)).filter(([, what]) => what === 'ready').length, 2);
  });

  test('a change that gets lost is told again', async () => {
    const page = await stage.open({ clock: true, random: 0 });
    (await stage.site.changes.next()).grant('p1', [[LOGS, []], [NOTES, []]]);
    await stage.site.polls.next();
    await page.evaluate(() => window.ends.logs());
    const lost = await stage.site.changes.next();
    await page.evaluate(() => window.follow('a/b', {}));
    await forget(page);
    lost.end(500);
    await seen(page, { name: 'timer', ms: 0 });
    await page.clock.runFor(1);
    const change = await stage.site.changes.next();
    assert.deepEqual([change.add, change.remove], [[url('a/b', '')], [LOGS]]);
  });

  test('a change that the server has no room for is told again when it said', async () => {
    const page = await stage.open({ clock: true, random: 0 });
    (await stage.site.changes.next()).grant('p1', [[LOGS, []], [NOTES, []]]);
    await stage.site.polls.next();
    await page.evaluate(() => window.ends.logs());
    (await stage.site.changes.next()).end(503, { 'Retry-After': '7' }, '{"error":"full"}');
    await seen(page, { name: 'timer', ms: 7_000 });
    await page.clock.runFor(6_999);
    assert.equal(stage.site.changes.unread, 0);
    await page.clock.runFor(1);
    assert.deepEqual((await stage.site.changes.next()).remove, [LOGS]);
  });

  test('wrong calls say so at once', async () => {
    const page = await stage.open();
    assert.match(await page.evaluate(() => {
      try { window.vault.on('database', {}, () => {}); } catch (error) { return error.message; }
      return undefined;
    }), /"database" is not FEED\/METHOD/);
    assert.match(await page.evaluate(() => {
      try { window.vault.on('a/b', { where: { x: null } }, () => {}); } catch (error) { return error.message; }
      return undefined;
    }), /the argument where\.x is null/);
  });

  test('leaving and coming back: stop and start', async () => {
    const page = await stage.open();
    (await stage.site.changes.next()).grant('p1', [[LOGS, []], [NOTES, []]]);
    const poll = await stage.site.polls.next();
    await page.evaluate(() => window.vault.stop());
    await poll.closed;
    await page.evaluate(() => window.follow('a/b', {}));
    await page.evaluate(() => window.vault.start());
    assert.equal((await stage.site.polls.next()).page, 'p1');
    assert.deepEqual((await stage.site.changes.next()).add, [url('a/b', '')]);
  });
});

describe('feeds on other pages', () => {
  test('a page that the server made takes subscriptions, too', async () => {
    const page = await stage.open();
    const poll = await stage.site.polls.next();
    await page.evaluate(() => {
      window.heard = [];
      window.end = window.vault.on('a/b', (data, { first }) => window.heard.push([data, first]));
    });
    const change = await stage.site.changes.next();
    assert.deepEqual([change.page, change.add], ['id-1', [url('a/b', '')]]);
    change.grant('id-1', []);
    poll.answer(1, rows(url('a/b', ''), [1]));
    await stage.site.polls.next();
    assert.deepEqual(await heard(page), [[[1], true]]);
    await page.evaluate(() => window.end());
    assert.deepEqual((await stage.site.changes.next()).remove, [url('a/b', '')]);
    assert.equal(await page.evaluate(() => window.vault.state !== 'stopped'), true, 'its own methods go on');
  });

  test('call() posts the arguments, and answers rows or says why not', async () => {
    const asked = [];
    stage.site.file('/vault/feed/a/save', async (response, request) => {
      let text = '';
      for await (const part of request) text += part;
      asked.push([request.method, request.headers['content-type'], text]);
      if (text.includes('bad')) response.writeHead(400).end('{"error":"bad it is"}');
      else if (text.includes('many')) response.writeHead(429, { 'Retry-After': '7' }).end('{"error":"too many"}');
      else response.writeHead(200).end('[{"id":3}]');
    });
    const page = await stage.open();
    assert.deepEqual(await page.evaluate(() => window.vault.call('a/save', { table: 't', values: { line: 'ä&b' } })), [{ id: 3 }]);
    assert.deepEqual(asked, [['POST', 'application/x-www-form-urlencoded;charset=UTF-8', 'table=t&values.line=%C3%A4%26b']]);
    const refused = (x) => page.evaluate((x) => window.vault.call('a/save', { x })
      .catch(({ message, status, retryAfter }) => [message, status, retryAfter]), x);
    assert.deepEqual(await refused('bad'), ['bad it is', 400, undefined]);
    const [message, status, pause] = await refused('many');
    assert.deepEqual([message, status], ['too many', 429]);
    assert.ok(pause >= 7000 && pause <= 7700, `${pause} ms, up to a tenth more than the server asked for`);
  });
});
