/* SPDX-License-Identifier: Apache-2.0 */
/* The chat of the demo, as two visitors see it: Apache httpd, mod_vault, the messages feed, two real browsers. */
import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { launch } from './browser.mjs';
import { listen, live, photograph, showsItsCode, skip, unique as word, url } from './demo.mjs';

const limit = { timeout: 120_000 };

const unique = (what) => word(`${what} `);
const messages = (page, text) => page.locator('#messages > li', text ? { hasText: text } : {});
const texts = (page) => page.locator('#messages > li > p').allInnerTexts();

test('the page shows its own code as it is', limit, () =>
  showsItsCode('chat/room.shtml', 'room.shtml', 'new.shtml', 'message.html', 'room.shtml'));

describe('the chat', { skip }, () => {
  let browsers; // two: what one says, the other sees
  let pages;

  before(async () => { browsers = await Promise.all([launch(), launch()]); });
  after(() => Promise.all(browsers.map((browser) => browser.close())));
  beforeEach(() => { pages = []; });
  afterEach(() => Promise.all(pages.map((page) => page.context().close())));

  /** A visitor in a browser of their own, before the door. `polls`: streams do not come through to it. */
  async function visitor({ polls, ...options } = {}) {
    const page = await (await browsers[pages.length % 2].newContext(options)).newPage();
    pages.push(page);
    if (polls) await page.addInitScript(() => sessionStorage.setItem('vault-polls', '1'));
    listen(page);
    return page;
  }

  /** A visitor in a room. */
  async function enter(room, user, options) {
    const page = await visitor(options);
    await page.goto(url(`/chat/room.shtml?${new URLSearchParams({ room, user })}`));
    if (options?.javaScriptEnabled !== false) await live(page);
    return page;
  }

  async function say(page, text) {
    await page.fill('[name="text"]', text);
    await page.press('[name="text"]', 'Enter');
  }

  /** Said, and so it is there. */
  async function said(page, text) {
    await say(page, text);
    await messages(page, text).waitFor();
  }

  test('has a door: a name, a room, and the visitor is in', limit, async () => {
    const page = await visitor();
    const name = unique('Ann').slice(0, 24).trim();
    await page.goto(url('/chat/'));
    await page.fill('#user', name);
    await page.getByText('Garden', { exact: true }).click();
    await page.press('#user', 'Enter');
    await live(page);
    assert.equal(await page.locator('h1').innerText(), 'Garden');
    await page.locator('#people > .own', { hasText: name }).waitFor();
    assert.equal(await page.evaluate(() => document.activeElement.name), 'text', 'and may type at once');
    const response = await page.reload();
    assert.match(response.headers()['content-security-policy'], /default-src 'self'/);
    assert.match(response.headers()['cache-control'], /no-store/);
    assert.deepEqual(page.problems, []);
    await page.goto(url('/chat/'));
    await photograph(page, 'chat-door');
  });

  test('what one says appears in the other browser, once, in order', limit, async () => {
    const room = unique('room');
    const ann = await enter(room, 'Ann');
    await ann.locator('.empty').waitFor();
    await photograph(ann, 'chat-empty');
    const bob = await enter(room, 'Bob', { colorScheme: 'dark', viewport: { width: 390, height: 844 } });
    await ann.locator('#people > li', { hasText: 'Bob' }).waitFor();
    await said(ann, 'Good morning!');
    await messages(bob, 'Good morning!').waitFor();
    assert.equal(await ann.locator('[name="text"]').inputValue(), '', 'what was sent is out of the way');
    await said(bob, 'Hello Ann.');
    await messages(ann, 'Hello Ann.').waitFor();
    for (let i = 0; i < 10; i++) await said(i % 2 ? ann : bob, `number ${i}`);
    for (const page of [ann, bob]) {
      await messages(page, 'number 9').waitFor();
      assert.deepEqual(await texts(page), ['Good morning!', 'Hello Ann.', ...Array.from({ length: 10 }, (_, i) => `number ${i}`)]);
      assert.equal(await page.locator('.empty').isVisible(), false);
      assert.deepEqual(page.problems, []);
    }
    await photograph(ann, 'chat-light');
    await photograph(bob, 'chat-dark-narrow');
  });

  test('own words stand on the right, those of others on the left with a name', limit, async () => {
    const room = unique('room');
    const [ann, bob] = [await enter(room, 'Ann'), await enter(room, 'Bob')];
    await said(ann, 'mine');
    await messages(bob, 'mine').waitFor();
    const place = (page) => messages(page, 'mine').locator('p').evaluate((p) => {
      const [box, list] = [p.getBoundingClientRect(), p.closest('ol').getBoundingClientRect()];
      return { left: box.left - list.left, right: list.right - box.right };
    });
    const [own, others] = [await place(ann), await place(bob)];
    assert.ok(own.right < own.left, `own: ${JSON.stringify(own)}`);
    assert.ok(others.left < others.right, `others: ${JSON.stringify(others)}`);
    assert.equal(await messages(bob, 'mine').locator('b').innerText(), 'Ann');
    assert.equal(await messages(ann, 'mine').locator('b').isVisible(), false);
    assert.match(await messages(bob, 'mine').locator('time').innerText(), /\d\d:\d\d/);
  });

  test('HTML is text, long words wrap, lines stay lines', limit, async () => {
    const room = unique('room');
    const [ann, bob] = [await enter(room, 'Ann'), await enter(room, '<i>Bob</i> & "Co"', { viewport: { width: 360, height: 740 } })];
    const hostile = `<img src=x onerror="document.title='broken'"><script>document.title='broken'</script>&amp;`;
    await said(bob, hostile);
    await messages(ann, 'onerror').waitFor();
    for (const page of [ann, bob]) {
      assert.deepEqual(await texts(page), [hostile]);
      assert.equal(await page.locator('#messages :is(img, script, i)').count(), 0);
      assert.notEqual(await page.title(), 'broken');
    }
    assert.equal(await messages(ann, 'onerror').locator('b').innerText(), '<i>Bob</i> & "Co"');
    await said(ann, 'w'.repeat(500));
    await messages(bob, 'wwww').waitFor();
    const width = await bob.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.ok(width[0] <= width[1], `the page is wider than the screen: ${width}`);
    await ann.fill('[name="text"]', 'one');
    await ann.press('[name="text"]', 'Shift+Enter');
    await ann.locator('[name="text"]').pressSequentially('two');
    await ann.press('[name="text"]', 'Enter');
    await messages(bob, 'two').waitFor();
    assert.equal((await texts(bob)).at(-1), 'one\ntwo');
    assert.deepEqual([...ann.problems, ...bob.problems], []);
  });

  test('who comes later sees what was said before', limit, async () => {
    const room = unique('room');
    const ann = await enter(room, 'Ann');
    for (const text of ['first', 'second']) await said(ann, text);
    const bob = await enter(room, 'Bob');
    assert.deepEqual(await texts(bob), ['first', 'second']);
    await said(ann, 'third');
    await messages(bob, 'third').waitFor();
    await bob.reload();
    await live(bob);
    assert.deepEqual(await texts(bob), ['first', 'second', 'third'], 'also after a reload, each once');
  });

  test('a visitor without a connection loses nothing', limit, async () => {
    const room = unique('room');
    const [ann, bob] = [await enter(room, 'Ann'), await enter(room, 'Bob', { polls: true })];
    await bob.context().setOffline(true);
    await said(ann, 'zero'); // ends the poll that is under way; the next one finds no connection
    await bob.locator('#live[data-state="backing off"]').waitFor();
    for (const text of ['one', 'two', 'three']) await said(ann, text);
    await say(bob, 'still here');
    await bob.locator('#wrong', { hasText: 'cannot be reached' }).waitFor();
    assert.equal(await bob.locator('[name="text"]').inputValue(), 'still here', 'what could not be sent is not gone');
    await bob.context().setOffline(false);
    await messages(bob, 'three').waitFor();
    await bob.press('[name="text"]', 'Enter');
    await messages(ann, 'still here').waitFor();
    for (const page of [ann, bob]) assert.deepEqual(await texts(page), ['zero', 'one', 'two', 'three', 'still here']);
    assert.equal(await bob.locator('#wrong').innerText(), '');
  });

  test('answers that are lost cost nothing: neither of polls nor of posts', limit, async () => {
    const room = unique('room');
    const [ann, bob] = [await enter(room, 'Ann'), await enter(room, 'Bob', { polls: true })];
    let lost = 0;
    const lose = (path) => bob.route(path, async (route) => {
      const response = await route.fetch();
      if (response.status() === 200 && lost++ === 0) return route.abort();
      return route.fulfill({ response });
    });
    await lose('**/vault/feed/messages/post_message');
    await say(bob, 'once');
    await bob.locator('#wrong', { hasText: 'Not sent' }).waitFor();
    await bob.press('[name="text"]', 'Enter');
    await bob.locator('#wrong:empty').waitFor({ state: 'attached' });
    await bob.unrouteAll({ behavior: 'ignoreErrors' });
    assert.equal(lost, 2, 'it was sent twice');
    lost = 0;
    await lose('**/vault/poll?*');
    await said(ann, 'first');
    await said(ann, 'second');
    await messages(bob, 'second').waitFor();
    await said(ann, 'third');
    await messages(bob, 'third').waitFor();
    assert.ok(lost > 1, 'an answer to a poll was lost');
    for (const page of [ann, bob]) assert.deepEqual(await texts(page), ['once', 'first', 'second', 'third']);
    await bob.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('what the server refuses is said, and can be mended', limit, async () => {
    const ann = await enter(unique('room'), 'Ann');
    await ann.evaluate(() => { document.querySelector('[name="text"]').removeAttribute('maxlength'); });
    await say(ann, 'é'.repeat(2001));
    await ann.locator('#wrong', { hasText: 'a message has at most 4000' }).waitFor();
    assert.equal((await ann.locator('[name="text"]').inputValue()).length, 2001);
    await said(ann, 'shorter');
    assert.equal(await ann.locator('#wrong').innerText(), '');
    const page = await visitor();
    for (const query of ['', '?room=Garden', '?user=Ann', '?room=Garden&user=%20']) {
      await page.goto(url(`/chat/room.shtml${query}`));
      await page.getByText('A room and a name are needed.').waitFor();
    }
    assert.deepEqual(page.problems, []);
    await page.goto(url('/chat/room.shtml?room=Garden&user=a%E2%80%AEb'));
    await page.getByText('not under this name').first().waitFor();
  });

  test('the box stays at its end, and where the reader has scrolled to', limit, async () => {
    const room = unique('room');
    const [ann, bob] = [await enter(room, 'Ann'), await enter(room, 'Bob')];
    for (let i = 0; i < 12; i++) await said(ann, `line ${i}\n.\n.\n.`);
    await messages(bob, 'line 11').waitFor();
    const talk = bob.locator('.talk');
    const bottom = () => talk.evaluate((box) => box.lastElementChild && document.querySelector('#messages').getBoundingClientRect().bottom - box.getBoundingClientRect().bottom);
    assert.ok(Math.abs(await bottom()) < 4, `at the end: ${await bottom()}`);
    const top = (text) => messages(bob, text).evaluate((li) => li.getBoundingClientRect().top);
    await talk.evaluate((box) => { box.scrollTop = -600; });
    const before = await top('line 3\n');
    await said(ann, 'while you read');
    await bob.locator('#below').waitFor();
    assert.ok(Math.abs(await top('line 3\n') - before) < 4, 'what is read does not move');
    await photograph(bob, 'chat-scrolled');
    await bob.click('#below');
    await bob.locator('#below').waitFor({ state: 'hidden' });
    await bob.waitForFunction(() => document.querySelector('.talk').scrollTop === 0);
    assert.deepEqual(bob.problems, []);
  });

  test('works without a script as far as it can', limit, async () => {
    const room = unique('room');
    const ann = await enter(room, 'Ann', { javaScriptEnabled: false });
    await ann.fill('[name="text"]', 'no script');
    await ann.click('#post .button');
    await messages(ann, 'no script').waitFor();
    assert.equal(new URL(ann.url()).pathname, '/chat/room.shtml', 'the form comes back to the page');
    assert.equal(await messages(ann).count(), 1);
  });

  test('who leaves is gone', limit, async () => {
    const room = unique('room');
    const [ann, bob] = [await enter(room, 'Ann'), await enter(room, 'Bob')];
    await ann.locator('#people > li', { hasText: 'Bob' }).waitFor();
    await bob.click('#leave');
    await bob.waitForURL(url('/chat/'));
    await ann.locator('#people > li', { hasText: 'Bob' }).waitFor({ state: 'detached' });
    assert.deepEqual([...ann.problems, ...bob.problems], []);
  });
});
