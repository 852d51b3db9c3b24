/* SPDX-License-Identifier: Apache-2.0 */
/* vault.js shows what comes: turbo-stream elements, JSON, and updates that fail. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { all } from './browser.mjs';
import { LIST, everywhere, html, inner, json, stage, stream, test } from './stage.mjs';

describe('updates', () => {
  const rows = [
    // action, content, the list afterwards
    ['append', '<li id="c">c</li>', '<li id="a">a</li><li id="b">b</li><li id="c">c</li>', 'at the end'],
    ['prepend', '<li id="c">c</li>', '<li id="c">c</li><li id="a">a</li><li id="b">b</li>', 'at the start'],
    ['append', '<li id="a">A</li><li>x</li>', '<li id="b">b</li><li id="a">A</li><li>x</li>', 'an old one goes'],
    ['prepend', '<li id="b">B</li>', '<li id="b">B</li><li id="a">a</li>', 'the same at the start'],
    ['append', '<li><i id="a">A</i></li>', '<li id="a">a</li><li id="b">b</li><li><i id="a">A</i></li>', 'no deeper'],
    ['update', '<li>u</li>', '<li>u</li>', 'the content'],
    ['update', '', '', 'an empty template empties'],
  ];
  for (const [action, content, expected, why] of rows) {
    test(`${action} ${content}: ${why}`, async () => {
      const page = await stage.open();
      (await stage.site.polls.next()).answer(1, html(stream(action, 'list', content)));
      await stage.site.polls.next();
      assert.equal(await inner(page, '#list'), expected);
    });
  }

  everywhere('replace, before, after and remove of elements; several streams in one body, in order', async () => {
    const page = await stage.open();
    (await stage.site.polls.next()).answer(1, html(
      'ignored <b>text</b>',
      stream('replace', 'a', '<li id="a">A</li>'),
      stream('before', 'a', '<li id="z">z</li>'),
      '<p>ignored</p>',
      stream('after', 'a', '<li id="c">c</li>'),
      '<turbo-stream action="remove" target="b"></turbo-stream>',
      '<turbo-stream action="remove" target="gone"></turbo-stream>',
      stream('append', 'c', '!'),
    ));
    await stage.site.polls.next();
    assert.equal(await inner(page, '#list'), '<li id="z">z</li><li id="a">A</li><li id="c">c!</li>');
    assert.deepEqual(page.problems, [], 'to remove what is gone is no error');
  });

  test('targets: every element that the selector finds', async () => {
    const page = await stage.open();
    (await stage.site.polls.next()).answer(1, html(
      '<turbo-stream action="append" targets="#list li"><template><i>!</i></template></turbo-stream>'));
    await stage.site.polls.next();
    assert.equal(await inner(page, '#list'), '<li id="a">a<i>!</i></li><li id="b">b<i>!</i></li>');
  });

  test('elements in the media type that the integrations of Turbo send', async () => {
    const page = await stage.open();
    (await stage.site.polls.next()).answer(1, ['/m', 'text/vnd.turbo-stream.html; charset=utf-8', stream('append', 'list', '<li>c</li>')]);
    await stage.site.polls.next();
    assert.equal(await inner(page, '#list'), '<li id="a">a</li><li id="b">b</li><li>c</li>');
  });

  test('table rows survive parsing', async () => {
    stage.site.page('/', 'id-1', '<table><tbody id="rows"><tr><td>1</td></tr></tbody></table>');
    const page = await stage.open();
    (await stage.site.polls.next()).answer(1, html(stream('append', 'rows', '\n<tr><td>2</td></tr>\n')));
    await stage.site.polls.next();
    assert.equal(await page.locator('#rows > tr > td').count(), 2);
  });

  test('scripts and inline handlers in a fragment do not run', async () => {
    stage.site.file('/evil.js', 'window.evil = true;', 'text/javascript');
    const page = await stage.open();
    (await stage.site.polls.next()).answer(1, html(stream('append', 'list',
      '<li id="s"><script src="/evil.js"></script><img src="/missing.png" alt="" onerror="window.evil = true"></li>')));
    await stage.site.polls.next();
    await page.waitForFunction(() => document.querySelector('#s img').complete);
    assert.equal(await page.evaluate(() => window.evil), undefined);
    assert.equal(stage.site.loads('/evil.js'), 0, 'not even fetched, though the CSP would allow it');
  });

  test('refresh loads the page again, and the answer is acknowledged before', async () => {
    await stage.open();
    (await stage.site.polls.next()).answer(1, html('<turbo-stream action="refresh"></turbo-stream>'));
    const told = stage.site.polls.next();
    assert.equal((await stage.site.acks.next()).seq, 1);
    const next = await told;
    if (next.seq === 1) await stage.site.polls.next(); // it got one out before it went
    assert.equal(stage.site.loads('/'), 2);
  });

  test('with Turbo on the page the elements are left to it', async () => {
    stage.site.file('/turbo.js', `window.streams = [];
      customElements.define('turbo-stream', class extends HTMLElement {
        connectedCallback() { window.streams.push([this.parentNode.localName, this.outerHTML]); this.remove(); }
      });`, 'text/javascript');
    stage.site.page('/', 'id-1', LIST, '', '<script src="/turbo.js" defer></script>');
    const page = await stage.open();
    const one = stream('append', 'list', '<li>x</li>');
    (await stage.site.polls.next()).answer(1, html(one, 'ignored'));
    await stage.site.polls.next();
    assert.deepEqual(await page.evaluate(() => window.streams), [['html', one]]);
    assert.equal(await inner(page, '#list'), '<li id="a">a</li><li id="b">b</li>', 'not applied twice');
  });

  test('JSON comes as an event; on() hears its own method only, until it is told to stop', async () => {
    const page = await stage.open();
    await page.evaluate(() => {
      window.heard = [];
      window.off = window.vault.on('/n', ({ data }) => window.heard.push(data));
    });
    (await stage.site.polls.next()).answer(1, json({ x: [1, 'é'] }, '/n'), json('other', '/m'));
    (await stage.site.polls.next()).answer(2, ['/n', 'application/vnd.x+json; charset=utf-8', '5']);
    const third = await stage.site.polls.next();
    await page.evaluate(() => window.off());
    third.answer(3, json('unheard', '/n'), ['/t', 'text/plain', 'as it is']);
    await stage.site.polls.next();
    assert.deepEqual(await page.evaluate(() => window.heard), [{ x: [1, 'é'] }, 5]);
    const updates = await all(page, 'vault:update');
    assert.deepEqual(updates.map(({ method, data }) => [method, data]),
      [['/n', { x: [1, 'é'] }], ['/m', 'other'], ['/n', 5], ['/n', 'unheard'], ['/t', undefined]]);
    assert.equal(updates[4].body, 'as it is');
  });

  test('vault:update can be cancelled: nothing is changed, and seq moves', async () => {
    const page = await stage.open();
    await page.evaluate(() => window.vault.on('/m', (update, event) => event.preventDefault()));
    (await stage.site.polls.next()).answer(1, html(stream('update', 'list', 'no')));
    assert.equal((await stage.site.polls.next()).seq, 1);
    assert.equal(await inner(page, '#list'), '<li id="a">a</li><li id="b">b</li>');
    assert.deepEqual(await all(page, 'vault:applied'), []);
  });

  const failing = [
    // update, what the error says, why it fails
    [html(stream('append', 'nowhere', '<li>x</li>')), /no element with the id "nowhere" to append/, 'no target'],
    [html(stream('morph', 'list', '<li>x</li>')), /unknown action "morph"/, 'an unknown action'],
    [html(stream('constructor', 'list', '<li>x</li>')), /unknown action "constructor"/, 'no action either'],
    [html('<turbo-stream action="update" target="list"></turbo-stream>'), /without a template/, 'no template'],
    [html('<turbo-stream action="remove" targets="li["></turbo-stream>'), /not a valid selector/, 'no selector'],
    [['/m', 'application/json', '{'], /JSON/, 'no JSON'],
    [['/m', undefined, 'x'], /./, 'no type'],
  ];
  for (const [update, message, why] of failing) {
    test(`a failing update (${why}) is reported; the others are applied and seq moves`, async () => {
      const page = await stage.open();
      (await stage.site.polls.next()).answer(9, update, html(stream('append', 'list', '<li id="c">c</li>')));
      assert.equal((await stage.site.polls.next()).seq, 9);
      const [error, ...more] = await all(page, 'vault:error');
      assert.equal(more.length, 0);
      assert.match(error.error, message);
      assert.equal(error.method, '/m');
      assert.equal(page.problems.length, 1, 'the console says so too');
      assert.equal(await page.locator('#c').count(), 1);
    });
  }

  test('a listener that throws harms nothing', async () => {
    const page = await stage.open();
    await page.evaluate(() => document.addEventListener('vault:update', () => { throw new Error('mine'); }));
    (await stage.site.polls.next()).answer(1, html(stream('append', 'list', '<li id="c">c</li>')));
    assert.equal((await stage.site.polls.next()).seq, 1);
    assert.equal(await page.locator('#c').count(), 1);
  });
});
