/* SPDX-License-Identifier: Apache-2.0 */
/* Several tabs of one browser: one of them asks for all, and each shows what is its own, once, whoever of them goes. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { launch, open } from './browser.mjs';
import { html, LIST, stage, stream, test } from './stage.mjs';

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

async function tabsOf(...ids) {
  const tabs = [];
  for (let i = 0; i < ids.length; i++) {
    tabs.push(await tab(ids[i]));
    if (i + 1 < ids.length) await pollOf(...ids.slice(0, i + 1));
  }
  return { tabs, poll: await pollOf(...ids) };
}

describe('tabs share', () => {
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

  test('one stream, and one acknowledgement', async () => {
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
    }, { sender: leader, to: follower, page, message: { answer: { from: seq - 1, ...part(page, seq, text) } } });
    await say('before', 1, 'for the page before');
    await say('b', 1, 'for b');
    await two.getByText('for b').waitFor();
    assert.equal(await shown(two), 'for b');
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

  test('not when the page says so', async () => {
    await tab('a');
    await stage.site.polls.next();
    await tab('b', { more: 'data-vault-share="off"' });
    assert.deepEqual(pages(await stage.site.polls.next()), ['b']);
  });
});

describe('the tab that asks for all', () => {
  test('is closed: another one goes on at once, and nothing is lost or doubled', async () => {
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

  test('crashes: likewise', async () => {
    const { tabs: [one, two], poll } = await tabsOf('a', 'b');
    poll.begin();
    const crashed = new Promise((resolve) => { one.once('crash', resolve); });
    one.goto('chrome://crash').catch(() => {});
    await crashed;
    const next = await pollOf('b');
    next.begin().say(part('b', 1, 'alive'));
    await two.getByText('alive').waitFor();
  });

  test('goes to another page: likewise, and a member that goes is asked for no more', async () => {
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
