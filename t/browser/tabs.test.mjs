/* SPDX-License-Identifier: Apache-2.0 */
/* Several tabs of one browser: one of them polls for all, and each shows its own updates, once, whichever of them is closed. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { all, forget, launch, open, seen } from './browser.mjs';
import { LIST, everywhere, html, stage, stream, test } from './stage.mjs';

const row = (text) => html(stream('append', 'list', `<li>${text}</li>`));
const shown = (page) => page.locator('#list').innerText().then((text) => text.split('\n').slice(2).join(' '));
const update = ([method, type, body]) => ({ method, type, body });
const part = (page, seq, text) => ({ page, seq, updates: [update(row(text))] });
const pages = (poll) => poll.asked.map(([page]) => page).sort();

/** Open the page of that id in a tab of its own. */
async function tab(id, { context = stage.context, more = '', ...options } = {}) {
  stage.site.page(`/${id}`, id, LIST, more);
  return open(context, `${stage.site.url}/${id}`, options);
}

/** The next poll that asks for just these pages; others are taken as they come, and were given up by the browser. */
async function pollOf(...ids) {
  const wanted = ids.sort().join();
  for (;;) {
    const poll = await stage.site.polls.next();
    if (pages(poll).join() === wanted) return poll;
  }
}

/** Two tabs whose clock stands still. */
async function stillTabs(options) {
  const one = await tab('a', { clock: true, ...options });
  await pollOf('a');
  const two = await tab('b', { clock: true, ...options });
  return { one, two, poll: await gathered(one, 'a', 'b') };
}

/** The poll of these pages, for which the tab that asks waits a moment. */
async function gathered(leader, ...ids) {
  await seen(leader, { name: 'timer', ms: 20 });
  await leader.clock.runFor(20);
  return pollOf(...ids);
}

/** A server in small: pages have rows, and a poll waits until there are some that its page does not show. A newer poll ends an older one. */
class Rows {
  #rows = new Map(); // page -> texts; their count is the number of the answer
  #held = [];
  #looks = [];

  constructor(site) {
    this.#serve(site);
  }

  add(page, text) {
    this.#rows.set(page, [...this.#of(page), text]);
    this.#held.filter((poll) => this.#news(poll).length).forEach((poll) => this.#answer(poll, this.#news(poll)));
  }

  /** Until the polls that wait ask for so many pages each. */
  async waiting(...sizes) {
    while (this.#held.map((poll) => poll.asked.length).sort().join() !== sizes.sort().join()) {
      await new Promise((look) => this.#looks.push(look));
    }
  }

  async #serve(site) {
    for (;;) this.#take(await site.polls.next());
  }

  #take(poll) {
    for (const older of this.#held.filter((each) => pages(each).some((page) => pages(poll).includes(page)))) {
      this.#answer(older, pages(older).filter((page) => pages(poll).includes(page)).map((page) => ({ page, status: 204, superseded: true })));
    }
    this.#held.push(poll);
    poll.closed.then(() => this.#forget(poll));
    if (this.#news(poll).length) this.#answer(poll, this.#news(poll));
    this.#looks.splice(0).forEach((look) => look());
  }

  #answer(poll, parts) {
    this.#forget(poll);
    if (poll.asked.length > 1) poll.answerSome(...parts);
    else if (parts[0].superseded) poll.end(204, { 'Vault-Superseded': '1' });
    else poll.end(200, { 'Content-Type': 'application/json' }, JSON.stringify(parts[0]));
  }

  #forget(poll) {
    this.#held = this.#held.filter((each) => each !== poll);
    this.#looks.splice(0).forEach((look) => look());
  }

  #of(page) {
    return this.#rows.get(page) ?? [];
  }

  #news(poll) {
    return pages(poll).map((page) => ({ page, seq: this.#of(page).length, updates: this.#of(page).slice(poll.seqOf(page)) }))
      .filter(({ updates }) => updates.length).map(({ page, seq, updates }) => ({ page, seq, updates: updates.map((text) => update(row(text))) }));
  }
}

/* In a page before vault.js: it looks after the leader when the test says so, not by a timer; what other tabs say, and that the lock
 * was stolen, reaches it when the test lets it. */
const SLOW = `{
  const held = { messages: false, thefts: false };
  const late = { messages: [], thefts: [] };
  const hear = (kind, fn) => { if (held[kind]) late[kind].push(fn); else fn(); };
  window.heard = []; // messages, as vault.js got them
  window.hold = (...kinds) => { for (const kind of kinds) held[kind] = true; };
  window.let = (kind) => { held[kind] = false; for (const fn of late[kind].splice(0)) fn(); };
  window.setInterval = (fn) => { window.look = fn; return 1; };
  window.clearInterval = () => { window.look = undefined; };
  const { set } = Object.getOwnPropertyDescriptor(BroadcastChannel.prototype, 'onmessage');
  Object.defineProperty(BroadcastChannel.prototype, 'onmessage', { set(fn) {
    set.call(this, (event) => hear('messages', () => { window.heard.push(event.data); fn(event); }));
  } });
  const { request } = LockManager.prototype;
  LockManager.prototype.request = function (name, how, fn) {
    if (how.steal && window.refusals-- > 0) return Promise.reject(new DOMException('not now', 'InvalidStateError'));
    return request.call(this, name, how, fn).catch((error) => new Promise((_, reject) => hear('thefts', () => reject(error))));
  };
}`;

/** Tabs of these ids, which are slow. The first has the lock. */
async function slowTabs(...ids) {
  stage.site.file('/slow.js', SLOW, 'text/javascript');
  const tabs = [];
  for (const id of ids) {
    stage.site.page(`/${id}`, id, LIST, '', '<script src="/slow.js"></script>');
    tabs.push(await open(stage.context, `${stage.site.url}/${id}`));
    await pollOf(...ids.slice(0, tabs.length));
  }
  return tabs;
}

/** The tab asks the leader whether it is there, and when it looks again there was no answer. */
async function rob(page) {
  await page.waitForFunction(() => window.look);
  await page.evaluate(() => { window.look(); window.look(); });
}

async function tabsOf(...ids) {
  const tabs = [];
  for (let i = 0; i < ids.length; i++) {
    tabs.push(await tab(ids[i]));
    if (i + 1 < ids.length) await pollOf(...ids.slice(0, i + 1));
  }
  return { tabs, poll: await pollOf(...ids) };
}

describe('tabs share', () => {
  test('a stream: many answers at once are acknowledged, when the tab that shows them has them', async () => {
    const { tabs: [, two], poll } = await tabsOf('a', 'b');
    const rows = [1, 2, 3, 4, 5, 6, 7, 8];
    poll.begin().response.write(rows.map((seq) => `id: ${seq}\ndata: ${JSON.stringify(part('b', seq, `row ${seq}`))}\n\n`).join(''));
    await two.getByText('row 8').waitFor();
    let ack;
    do ack = await stage.site.acks.next(); while (ack.seqOf('b') < 8);
    assert.equal(await shown(two), rows.map((seq) => `row ${seq}`).join(' '));
  });

  test('one poll, each with its own answers and numbers', async () => {
    const { tabs: [one, two], poll } = await tabsOf('a', 'b');
    assert.notEqual(poll.asked[0][2], poll.asked[1][2], 'each has its nonce');
    poll.answerSome(part('b', 5, 'for b'));
    await two.getByText('for b').waitFor();
    const next = await pollOf('a', 'b');
    assert.deepEqual([next.seqOf('a'), next.seqOf('b')], [0, 5], 'acknowledged for who has applied it');
    next.answerSome(part('a', 1, 'for a'), part('b', 6, 'more'));
    await Promise.all([one.getByText('for a').waitFor(), two.getByText('more').waitFor()]);
    const last = await pollOf('a', 'b');
    assert.deepEqual([last.seqOf('a'), last.seqOf('b')], [1, 6]);
    assert.deepEqual([await shown(one), await shown(two)], ['for a', 'for b more']);
  });

  everywhere('one stream, and one acknowledgement', async () => {
    const { tabs: [one, two], poll } = await tabsOf('a', 'b');
    poll.begin().say(part('a', 1, 'one')).say(part('b', 1, 'two'));
    await Promise.all([one.getByText('one').waitFor(), two.getByText('two').waitFor()]);
    const ack = await stage.site.acks.next();
    assert.deepEqual(pages(ack), ['a', 'b']);
    assert.equal(ack.seqOf('b'), 1);
    assert.equal(await two.evaluate(() => window.vault.state), 'waiting');
    poll.say(part('b', 2, 'three'));
    await two.getByText('three').waitFor();
    assert.equal(await shown(two), 'two three');
  });

  test('a method of one of them is refused: that one is told, the other is not', async () => {
    const { tabs: [one, two], poll } = await tabsOf('a', 'b');
    poll.answerSome({ page: 'b', seq: 1, updates: [], refused: [{ method: '/members', status: 302, error: 'its status is 302' }] });
    const { method, status } = await seen(two, { name: 'vault:error' });
    assert.deepEqual([method, status], ['/members', 302]);
    const next = await pollOf('a', 'b');
    assert.equal(next.seqOf('b'), 1);
    next.answerSome(part('a', 1, 'for a'));
    await one.getByText('for a').waitFor();
    assert.deepEqual(await all(one, 'vault:error'), []);
  });

  test('ten of them: all live, one connection that waits', async () => {
    const ids = Array.from({ length: 10 }, (_, i) => `t${i}`);
    const { tabs, poll } = await tabsOf(...ids);
    poll.begin();
    await Promise.all(tabs.map((each) => each.waitForFunction(() => window.vault.state === 'waiting')));
    const plain = await (await fetch(`${stage.site.url}/t0`)).text(); // the site is free for other requests
    assert.match(plain, /data-vault-page="t0"/);
    ids.forEach((id) => poll.say(part(id, 1, `for ${id}`)));
    await Promise.all(tabs.map((each, i) => each.getByText(`for t${i}`).waitFor()));
    assert.equal(stage.site.polls.unread, 0);
    assert.equal(stage.site.polling().length, 1, 'of ten tabs one connection waits');
  });

  test('what is wrong with one is its own affair', async () => {
    const { tabs: [one, two], poll } = await tabsOf('a', 'b');
    const loaded = two.waitForEvent('load');
    poll.answerSome({ page: 'b', status: 410 });
    await loaded;
    const next = await pollOf('a', 'b');
    next.answerSome({ page: 'a', status: 204, superseded: true });
    const without = await pollOf('b');
    assert.ok(without);
    assert.equal((await pollOf('a', 'b')).seqOf('a'), 0, 'it is back after a while');
    assert.equal(stage.site.loads('/a'), 1);
    assert.equal(await one.evaluate(() => window.vault.seq), 0);
  });

  test('what was still said of the page that a tab showed before is not for the one that it shows now', async () => {
    const { tabs: [one, two], poll } = await tabsOf('a', 'b');
    poll.begin();
    await two.waitForFunction(() => window.vault.state === 'waiting');
    const [[, , leader], [, , follower]] = poll.asked;
    const say = (page, seq, text) => one.evaluate((said) => {
      new BroadcastChannel(`vault same-origin ${new URL('/vault/poll', location)}`).postMessage(said);
    }, { sender: leader, term: Number.MAX_SAFE_INTEGER, to: follower, page, message: { answer: { from: seq - 1, ...part(page, seq, text) } } });
    await say('before', 1, 'for the page before');
    await say('b', 1, 'for b');
    await two.getByText('for b').waitFor();
    assert.equal(await shown(two), 'for b');
  });

  test('forty of them, in tabs and frames: two connections, and each shows what is its own', async () => {
    const rows = new Rows(stage.site);
    const ids = Array.from({ length: 40 }, (_, i) => `f${i}`);
    ids.forEach((id) => stage.site.page(`/${id}`, id, LIST, 'data-vault-timeout="50"'));
    const tabs = [];
    for (let i = 0; i < 4; i++) {
      const frames = ids.slice(10 * i, 10 * (i + 1)).map((id) => `<iframe name="${id}" src="/${id}"></iframe>`);
      stage.site.file(`/tab${i}`, `<!doctype html><title>${i}</title>${frames.join('')}`);
      tabs.push(await open(stage.context, `${stage.site.url}/tab${i}`));
    }
    const frame = (id) => tabs.map((each) => each.frame({ name: id })).find(Boolean);
    await rows.waiting(32, 8);
    ids.forEach((id) => rows.add(id, `one-${id}`));
    await Promise.all(ids.map((id) => frame(id).getByText(`one-${id}`).waitFor()));
    ids.forEach((id) => rows.add(id, `two-${id}`));
    await Promise.all(ids.map((id) => frame(id).getByText(`two-${id}`).waitFor()));
    for (const id of ids) assert.equal(await shown(frame(id)), `one-${id} two-${id}`);
    await rows.waiting(32, 8);
    await tabs[0].close(); // all of them are in one process, and the one that asked for all
    await rows.waiting(30);
    ids.slice(10).forEach((id) => rows.add(id, `three-${id}`));
    await Promise.all(ids.slice(10).map((id) => frame(id).getByText(`three-${id}`).waitFor()));
    for (const id of ids.slice(10)) assert.equal(await shown(frame(id)), `one-${id} two-${id} three-${id}`);
  });

  test('one of them pauses as long as the server says of it, but not for ever', async () => {
    const { one, poll } = await stillTabs({ random: 0 });
    await forget(one);
    poll.answerSome({ page: 'b', status: 503, error: 'full', retry: 4_000_000 }); // in ms more than a timer can count
    assert.ok(await pollOf('a'));
    await seen(one, { name: 'timer', ms: 3_600_000 });
  });

  test('403 ends the updates of one of them until it is visible again; the others go on', async () => {
    const { one, two, poll } = await stillTabs();
    poll.answerSome({ page: 'b', status: 403, error: 'the page belongs to another user' });
    const error = await seen(two, { name: 'vault:error' });
    assert.deepEqual([error.error, error.status], ['the page belongs to another user', 403]);
    assert.equal(await two.evaluate(() => window.vault.state), 'stopped');
    const alone = await pollOf('a');
    alone.begin();
    await seen(one, { name: 'vault:state', state: 'waiting' });
    await one.clock.runFor(31_000); // longer than any pause after a failure
    await one.evaluate(() => navigator.locks.query()); // what either of them had to say has been said
    assert.equal(stage.site.polls.unread, 0);
    await forget(one);
    await two.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    const again = await gathered(one, 'a', 'b');
    again.answerSome(part('a', 1, 'for a'), part('b', 1, 'for b'));
    await Promise.all([one.getByText('for a').waitFor(), two.getByText('for b').waitFor()]);
  });

  test('a duplicated tab asks for itself, and is told', async () => {
    await tab('a');
    const first = await pollOf('a');
    const two = await tab('a');
    const second = await pollOf('a');
    assert.notEqual(first.tab, second.tab);
    stage.site.page('/a', 'b', LIST);
    second.end(410);
    await pollOf('a', 'b');
    assert.equal(await two.evaluate(() => window.vault.page), 'b');
  });

  test('not where there are no locks: plain HTTP, other than on this machine', async () => {
    await stage.context.addInitScript(() => { Object.defineProperty(navigator, 'locks', { value: undefined }); });
    await tab('a');
    assert.deepEqual(pages(await stage.site.polls.next()), ['a']);
    await tab('b');
    assert.deepEqual(pages(await stage.site.polls.next()), ['b']);
  });

  test('not where locks are refused: a frame without an origin', async () => {
    stage.site.file('/frame', `<!doctype html><title>frame</title>${LIST}<script src="/vault/vault.js" data-vault-page="a" defer></script>`);
    stage.site.file('/', '<!doctype html><title>x</title><iframe name="frame" sandbox="allow-scripts" src="/frame"></iframe>');
    const page = await open(stage.context, `${stage.site.url}/`);
    const poll = await stage.site.polls.next();
    assert.deepEqual(pages(poll), ['a']);
    poll.end(200, { 'Content-Type': 'application/json', 'Access-Control-Allow-Origin': '*' }, JSON.stringify(part('a', 1, 'for a')));
    await page.frame({ name: 'frame' }).getByText('for a').waitFor();
  });

  test('not where channels are refused: Firefox, when the visitor forbids the site to store anything', async () => {
    await stage.context.addInitScript(() => {
      window.BroadcastChannel = class { constructor() { throw new DOMException('The operation is insecure.', 'SecurityError'); } };
    });
    for (const id of ['a', 'b']) {
      await tab(id);
      assert.deepEqual(pages(await stage.site.polls.next()), [id]);
    }
  });

  test('not when the page says so', async () => {
    await tab('a');
    await stage.site.polls.next();
    await tab('b', { more: 'data-vault-share="off"' });
    assert.deepEqual(pages(await stage.site.polls.next()), ['b']);
  });
});

describe('the tab that asks for all', () => {
  everywhere('is closed: another one goes on at once, and nothing is lost or doubled', async () => {
    const { tabs: [one, two, three], poll } = await tabsOf('a', 'b', 'c');
    poll.begin().say(part('b', 3, 'b3')).say(part('c', 4, 'c4'));
    await Promise.all([two.getByText('b3').waitFor(), three.getByText('c4').waitFor()]);
    poll.say(part('c', 5, 'lost')); // on its way when the tab goes, or not
    await one.close();
    await poll.closed;
    const next = await pollOf('b', 'c');
    assert.equal(next.seqOf('b'), 3);
    const late = next.seqOf('c') === 5; // then it came through
    next.begin().say(part('b', 6, 'b6')).say(part('c', 7, late ? 'c7' : 'lost c7'));
    await Promise.all([two.getByText('b6').waitFor(), three.getByText('c7').waitFor()]);
    assert.equal(await shown(two), 'b3 b6');
    assert.equal((await shown(three)).split(' ').join(' '), 'c4 lost c7');
  });

  test('hangs: another one takes its place, nothing is lost or doubled, and it is one of them again when it wakes', async () => {
    const rows = new Rows(stage.site);
    let wake;
    const hangs = new Promise((asked) => {
      stage.site.file('/hang', (response) => { wake = () => response.end(); asked(); });
    });
    // It may hear that another one leads before it hears that it leads no more: here it does.
    stage.site.file('/late.js', `const { request } = LockManager.prototype;
      window.robbed = new Promise((tell) => {
        LockManager.prototype.request = function (...args) {
          return request.apply(this, args).catch((error) => new Promise((_, reject) => tell(() => reject(error))));
        };
      });
      window.heard = new Promise((tell) => {
        new BroadcastChannel(\`vault same-origin \${new URL('/vault/poll', location)}\`).onmessage = ({ data }) => { if (data.leads && data.sender !== window.vault.tab) tell(); };
      });`, 'text/javascript');
    stage.site.page('/a', 'a', LIST, '', '<script src="/late.js"></script>');
    const one = await open(stage.context, `${stage.site.url}/a`);
    await rows.waiting(1);
    const two = await tab('b', { more: 'data-vault-timeout="2"' });
    await rows.waiting(2);
    const three = await tab('c');
    await rows.waiting(3);
    await one.evaluate(() => {
      setTimeout(() => {
        const request = new XMLHttpRequest();
        request.open('GET', '/hang', false); // nothing else happens in this tab until it is answered
        request.send();
      });
    });
    await hangs;
    for (const id of ['a', 'b', 'c']) rows.add(id, `${id}1`); // the answer reaches a tab that cannot read it
    await Promise.all([two.getByText('b1').waitFor(), three.getByText('c1').waitFor()]);
    rows.add('b', 'b2');
    await two.getByText('b2').waitFor();
    wake();
    await one.evaluate(() => window.heard.then(() => window.robbed).then((hear) => hear()));
    await one.getByText('a1').waitFor();
    await rows.waiting(3);
    for (const id of ['a', 'b', 'c']) rows.add(id, `${id}3`);
    await Promise.all([one.getByText('a3').waitFor(), two.getByText('b3').waitFor(), three.getByText('c3').waitFor()]);
    assert.deepEqual([await shown(one), await shown(two), await shown(three)], ['a1 a3', 'b1 b2 b3', 'c1 c3']);
  });

  test('is robbed, and so is the robber, who goes before it knows: they listen to the last one', async () => {
    const [one, two, three] = await slowTabs('a', 'b', 'c');
    const robber = await two.evaluate(() => window.vault.tab);
    await one.evaluate(() => window.hold('messages', 'thefts'));
    await two.evaluate(() => window.hold('thefts'));
    await rob(two);
    await pollOf('b', 'c');
    await two.evaluate(() => window.hold('messages'));
    await rob(three);
    await pollOf('c');
    await three.evaluate(() => window.hold('messages'));
    await one.evaluate(() => { window.let('messages'); window.heard.length = 0; window.let('thefts'); });
    await two.evaluate(() => window.let('messages'));
    await one.waitForFunction((robber) => window.heard.some(({ sender, message }) => sender === robber && message), robber);
    await two.close();
    await three.evaluate(() => window.let('messages'));
    const rows = new Rows(stage.site);
    for (const id of ['a', 'c']) rows.add(id, `for ${id}`);
    await Promise.all([one.getByText('for a').waitFor(), three.getByText('for c').waitFor()]);
  });

  test('hangs, and the lock is refused to who would take it: that one stays a tab that waits, and tries again', async () => {
    const [one, two] = await slowTabs('a', 'b');
    await one.evaluate(() => window.hold('messages', 'thefts'));
    await two.evaluate(() => { window.refusals = 1; });
    await rob(two);
    await rob(two);
    const poll = await pollOf('b');
    poll.answer(1, row('for b'));
    await two.getByText('for b').waitFor();
  });

  test('hangs, and the lock is refused to who would take it: that one is next when it goes', async () => {
    const [one, two] = await slowTabs('a', 'b');
    await one.evaluate(() => window.hold('messages', 'thefts'));
    await two.evaluate(() => { window.refusals = 1; });
    await rob(two);
    await two.waitForFunction(() => window.look);
    await one.close();
    await pollOf('b');
  });

  test('is silent for long, as the server asked for that: it stays the one', async () => {
    const { one, two, poll } = await stillTabs({ random: 0 });
    const lock = `vault same-origin ${stage.site.url}/vault/poll`;
    const leader = () => two.evaluate(async (lock) => (await navigator.locks.query()).held.find(({ name }) => name === lock).clientId, lock);
    const before = await leader();
    await two.evaluate((lock) => {
      window.told = 0;
      const { page, tab } = window.vault;
      new BroadcastChannel(lock).onmessage = ({ data }) => { if (data.to === tab && data.page === page) window.told++; };
    }, lock);
    const told = () => two.evaluate(() => window.told);
    poll.end(503, { 'Retry-After': '3000' });
    await seen(two, { name: 'vault:state', state: 'backing off', delay: 3_000_000 });
    for (let i = 0; i < 4; i++) {
      const n = await told();
      await one.clock.runFor(90_000);
      await two.waitForFunction((n) => window.told > n, n);
    }
    assert.equal(await leader(), before);
    assert.equal(stage.site.polls.unread, 0);
  });

  test('crashes: the same', async () => {
    const { tabs: [one, two], poll } = await tabsOf('a', 'b');
    poll.begin();
    const crashed = new Promise((resolve) => { one.once('crash', resolve); });
    one.goto('chrome://crash').catch(() => {});
    await crashed;
    const next = await pollOf('b');
    next.begin().say(part('b', 1, 'alive'));
    await two.getByText('alive').waitFor();
  });

  everywhere('goes to another page: the same, and a member that goes is asked for no more', async () => {
    const { tabs: [one, two], poll } = await tabsOf('a', 'b');
    stage.site.file('/away', '<!doctype html><title>away</title>');
    await one.goto(`${stage.site.url}/away`);
    await poll.closed;
    const next = await pollOf('b');
    await tab('c');
    const both = await pollOf('b', 'c');
    await next.closed;
    both.begin();
    await (await stage.context.pages()).at(-1).close();
    both.response.end();
    await pollOf('b');
    assert.equal(await two.evaluate(() => window.vault.state !== 'stopped'), true);
  });

  test('is put into the back/forward cache and comes back', async () => {
    stage.another = await launch({ backForwardCache: true });
    const context = await stage.another.newContext();
    stage.site.file('/away', '<!doctype html><title>away</title><script src="/back.js"></script>');
    stage.site.file('/back.js', "addEventListener('load', () => fetch('/go').then(() => history.back()));", 'text/javascript');
    stage.site.file('/tell.js', `addEventListener('pageshow', (event) => {
        if (!event.persisted) return;
        const text = () => document.getElementById('list').textContent;
        document.addEventListener('vault:applied', () => fetch('/shown?' + text()));
      });`, 'text/javascript');
    let go;
    const away = new Promise((resolve) => { stage.site.file('/go', (response) => { go = () => response.end(); resolve(); }); });
    const told = new Promise((resolve) => { stage.site.file('/shown', (response, request) => { response.end(); resolve(request.url); }); });
    stage.site.page('/a', 'a', LIST, '', '<script src="/tell.js" defer></script>');
    const one = await context.newPage();
    await one.goto(`${stage.site.url}/a`);
    await pollOf('a');
    const two = await tab('b', { context });
    const poll = await pollOf('a', 'b');
    poll.begin().say(part('a', 1, 'one'));
    await one.getByText('one').waitFor();
    await one.evaluate(() => { setTimeout(() => { location.href = '/away'; }); });
    await away;
    const alone = await pollOf('b');
    alone.begin().say(part('b', 1, 'meanwhile'));
    await two.getByText('meanwhile').waitFor();
    go();
    const again = await pollOf('a', 'b');
    assert.equal(again.seqOf('a'), 1);
    again.begin().say(part('a', 2, 'back'));
    assert.equal(await told, '/shown?aboneback');
    assert.equal(stage.site.loads('/a'), 1, 'not loaded again');
  });
});
