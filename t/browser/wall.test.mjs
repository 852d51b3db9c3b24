/* SPDX-License-Identifier: Apache-2.0 */
/* The wall of the demo: a status and posts, written in one browser and seen in the other. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { elsewhere, limit, live, photograph, send, showsItsCode, skip, unique, url, visitors } from './demo.mjs';

test('the page shows its own code as it is', limit, () =>
  showsItsCode('wall/index.shtml', 'index.shtml', 'status.shtml', 'posts.shtml', 'conf/demo-model.json'));

describe('the wall', { skip }, () => {
  const visit = visitors();
  const post = (profile, text, author = 'Mina') => send('/wall/post.lua', { profile, author, text });
  const posts = (page, text) => page.locator('#posts > li', { hasText: text });

  test('a status that is changed in one browser changes in the other', limit, async () => {
    const [ann, bob] = [await visit('/wall/?1'), await visit('/wall/', { colorScheme: 'dark', viewport: { width: 390, height: 844 } })];
    const status = `${unique()} <b>& 'more'`;
    await ann.fill('[name="status"]', status);
    await ann.click('form[action="status.lua"] button');
    await Promise.all([ann, bob].map((page) => page.locator('#status p', { hasText: status }).waitFor()));
    assert.equal(await bob.locator('#status p').count(), 1);
    assert.equal(await ann.inputValue('[name="status"]'), '', 'the field is ready for the next one');
    await photograph(bob, 'wall-dark-narrow');
  });

  test('a post is in the collection of its profile, and of no other', limit, async () => {
    const [ann, bob, other] = [await visit('/wall/?2'), await visit('/wall/?2'), await visit('/wall/?3')];
    const text = `${unique()} <script>alert(1)</script>`;
    await ann.fill('[name="text"]', text);
    await ann.selectOption('[name="author"]', 'Jonas');
    await ann.click('form[action="post.lua"] button');
    await Promise.all([ann, bob].map((page) => posts(page, text).waitFor()));
    assert.match(await posts(bob, text).innerText(), /Jonas/);
    const last = unique();
    await post(3, last); // whatever would come of the first comes before this
    await posts(other, last).waitFor();
    assert.equal(await posts(other, text).count(), 0);
    const boxes = await bob.locator('#posts > li').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().top));
    assert.equal(Math.min(...boxes), boxes.at(-1), 'the newest is on top');
    await photograph(ann, 'wall-light');
    await bob.reload();
    await live(bob);
    assert.equal(await posts(bob, text).count(), 1);
  });

  test('a post that is removed in one browser goes in the other', limit, async () => {
    const text = unique();
    await post(4, text);
    const [ann, bob] = [await visit('/wall/?4'), await visit('/wall/?4')];
    await posts(ann, text).locator('button').click();
    await Promise.all([ann, bob].map((page) => posts(page, text).waitFor({ state: 'detached' })));
    assert.equal(new URL(ann.url()).pathname, '/wall/');
  });

  test('what another program writes is seen, and a post that it moves goes here and comes there', {
    ...limit, skip: process.env.VAULT_DEMO_DATABASE ? false : 'VAULT_DEMO_DATABASE is not set',
  }, async () => {
    const [ida, otto] = [await visit('/wall/?1'), await visit('/wall/?2')];
    const [status, text] = [unique(), unique()];
    await elsewhere(`UPDATE profiles SET status = '${status}' WHERE id = 1`);
    await ida.locator('#status p', { hasText: status }).waitFor();
    await elsewhere(`INSERT INTO posts (profile, author, text) VALUES (1, 'Mina', '${text}')`);
    await posts(ida, text).waitFor();
    assert.equal(await posts(otto, text).count(), 0);
    await elsewhere(`UPDATE posts SET profile = 2 WHERE text = '${text}'`);
    await Promise.all([posts(ida, text).waitFor({ state: 'detached' }), posts(otto, text).waitFor()]);
  });

  test('the wall keeps the twenty newest posts', limit, async () => {
    const page = await visit('/wall/?4');
    const mark = unique();
    for (let i = 1; i <= 23; i++) await post(4, `${mark} ${i}.`);
    await posts(page, `${mark} 23.`).waitFor();
    await posts(page, `${mark} 3.`).filter({ hasText: /\b3\.$/m }).waitFor({ state: 'detached' });
    assert.deepEqual(await page.locator('#posts > li > p').allInnerTexts(), Array.from({ length: 20 }, (_, i) => `${mark} ${i + 4}.`));
  });

  test('what cannot be posted is refused with a sentence', limit, async () => {
    const length = 'A post has 1 to 200 characters.';
    for (const [fields, sentence] of [
      [{ profile: 1, author: 'Ida', text: '' }, length],
      [{ profile: 1, author: 'Ida', text: '   ' }, length],
      [{ profile: 1, author: 'Ida', text: 'é'.repeat(201) }, length],
      [{ profile: 1, author: 'Ida' }, length],
      [{ profile: 77, author: 'Ida', text: 'x' }, 'There is no such wall or author.'],
      [{ profile: 1, author: 'Nobody', text: 'x' }, 'There is no such wall or author.'],
    ]) {
      assert.deepEqual(await send('/wall/post.lua', fields).then(({ status, text }) => [status, text]), [400, sentence]);
    }
    assert.equal((await send('/wall/status.lua', { profile: 1, status: 'x'.repeat(81) })).text, 'A status has 1 to 80 characters.');
    assert.equal((await send('/wall/status.lua', { profile: 77, status: 'x' })).text, 'There is no such profile.');
    assert.equal((await send('/wall/remove.lua', { post: 123456789 })).status, 404);
    assert.equal((await post(1, 'é'.repeat(200))).status, 200);
    for (const script of ['post', 'status', 'remove']) assert.equal((await fetch(url(`/wall/${script}.lua`))).status, 405);
  });

  test('without JavaScript the forms are forms', limit, async () => {
    const page = await visit('/wall/?3', { javaScriptEnabled: false });
    const text = unique();
    await page.fill('[name="text"]', text);
    await page.click('form[action="post.lua"] button');
    await page.waitForURL(url('/wall/?3'));
    assert.equal(await posts(page, text).count(), 1);
  });

  test('a profile that does not exist', limit, async () => {
    const page = await visit('/wall/?99');
    assert.match(await page.locator('.profile').innerText(), /Nobody lives here/);
  });
});
