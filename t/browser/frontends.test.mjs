/* SPDX-License-Identifier: Apache-2.0 */
/* Updates on pages that have Hotwire's Turbo or htmx, the real ones: each is applied once, by the library that it is meant for. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { beforeEach, describe } from 'node:test';
import { all, seen } from './browser.mjs';
import { html, inner, LIST, stage, stream, test } from './stage.mjs';

const library = (path) => readFile(new URL(`node_modules/${path}`, import.meta.url));
const VAULT = '<script src="/vault/vault.js" data-vault-page="id-1" defer></script>';
const tag = (src) => `<script src="${src}" defer></script>`;

/** A page with these script elements, which run in this order. */
function scripts(head, body = LIST) {
  stage.site.file('/', `<!doctype html><html lang="en"><head><title>x</title>${head}</head><body>${body}</body></html>`);
}

/** All but the style element of Turbo's progress bar, which a strict CSP stops. */
const problems = (page) => page.problems.filter((text) => !text.includes('inline style'));

/** Wait until the text of an element is this. */
const becomes = (page, selector, text) => page.waitForFunction(
  ([selector, text]) => document.querySelector(selector)?.textContent === text, [selector, text]);

describe('Turbo', () => {
  beforeEach(async () => {
    stage.site.file('/turbo.js', await library('@hotwired/turbo/dist/turbo.es2017-umd.js'), 'text/javascript');
    // How often Turbo has rendered a stream.
    stage.site.file('/count.js', `window.renders = [];
      document.addEventListener('turbo:before-stream-render', ({ target }) => window.renders.push(target.action));`, 'text/javascript');
  });

  const orders = [
    // the scripts in order, why
    [tag('/turbo.js') + VAULT, 'before vault.js'],
    [VAULT + tag('/turbo.js'), 'after vault.js'],
  ];
  for (const [order, why] of orders) {
    test(`loaded ${why} it applies the elements, once`, async () => {
      scripts(tag('/count.js') + order);
      const page = await stage.open();
      (await stage.site.polls.next()).answer(1, html(stream('append', 'list', '<li id="c">c</li>'), stream('update', 'a', 'A'),
        '<turbo-stream action="remove" target="b"></turbo-stream>'));
      await becomes(page, '#list', 'Ac');
      (await stage.site.polls.next()).answer(2, html(stream('append', 'list', '<li>d</li>'), stream('before', 'a', '<li>z</li>')));
      await becomes(page, '#list', 'zAcd');
      assert.equal(await inner(page, '#list'), '<li>z</li><li id="a">A</li><li id="c">c</li><li>d</li>');
      assert.deepEqual(await page.evaluate(() => window.renders), ['append', 'update', 'remove', 'append', 'before']);
      assert.equal(await page.locator('turbo-stream').count(), 0, 'they are gone when they are done');
      assert.equal((await stage.site.polls.next()).seq, 2);
      assert.deepEqual(problems(page), []);
    });
  }

  test('that comes between two updates applies the second, and not the first again', async () => {
    scripts(tag('/count.js') + VAULT);
    const page = await stage.open();
    (await stage.site.polls.next()).answer(1, html(stream('append', 'list', '<li>one</li>')));
    const poll = await stage.site.polls.next();
    assert.equal(await page.locator('#list').textContent(), 'abone');
    await page.evaluate(() => new Promise((loaded) => {
      document.head.append(Object.assign(document.createElement('script'), { src: '/turbo.js', onload: loaded }));
    }));
    poll.answer(2, html(stream('append', 'list', '<li>two</li>')));
    await becomes(page, '#list', 'abonetwo');
    assert.deepEqual(await page.evaluate(() => window.renders), ['append']);
    assert.deepEqual(problems(page), []);
  });

  /* Turbo Drive without the meta element of the manual: each visit evaluates the scripts that are new, in the heap of the page before. */

  /** A live page at a path, or a plain file where there is no id, with a link to another. `at` is where vault.js is. */
  function visited(path, id, link, at, body = '') {
    const vault = `<script src="/vault/vault.js" ${id ? `data-vault-page="${id}"` : ''} defer></script>`;
    const [head, end] = at === 'head' ? [vault, ''] : ['', vault];
    stage.site.file(path, `<!doctype html><html lang="en"><head><title>${path}</title>${tag('/turbo.js')}${tag('/once.js')}${head}</head>`
      + `<body data-path="${path}">${LIST}<a id="go" href="${link}">go</a>${end}${body}</body></html>`);
  }

  /** Go to the other page. Resolved when it is shown. */
  async function visit(page, path) {
    await page.click('#go');
    await page.waitForFunction((path) => document.body.dataset.path === path, path);
  }

  const FEED = '/vault/feed/database/rows?';
  const rows = (...all) => [FEED, 'application/json', JSON.stringify(all)];

  for (const at of ['head', 'body']) {
    test(`Drive goes to another live page, vault.js in the ${at}: that one is polled alone, and its updates are applied once`, async () => {
      stage.site.file('/once.js', `window.heard = [];
        document.addEventListener('vault:update', ({ detail }) => window.heard.push(detail.body.length));`, 'text/javascript');
      visited('/', 'id-1', '/two', at);
      visited('/two', 'id-2', '/', at);
      const page = await stage.open();
      const first = await stage.site.polls.next();
      await visit(page, '/two');
      await first.closed;
      const second = await stage.site.polls.next();
      assert.deepEqual([second.page, second.seq, second.tab], ['id-2', 0, first.tab]);
      const one = stream('append', 'list', '<li>c</li>');
      second.answer(1, html(one));
      await becomes(page, '#list', 'abc');
      assert.deepEqual([(await stage.site.polls.next()).page, stage.site.polling().length], ['id-2', 1]);
      await page.evaluate(() => { document.dispatchEvent(new Event('visibilitychange')); window.dispatchEvent(new Event('focus')); });
      assert.deepEqual(await page.evaluate(() => window.heard), [one.length]);
      assert.deepEqual([await page.evaluate(() => window.vault.page), stage.site.polls.unread], ['id-2', 0]);
      assert.deepEqual(problems(page), []);
    });

    test(`Drive goes to another plain file, vault.js in the ${at}: the one client goes on, with what is subscribed to`, async () => {
      stage.site.file('/once.js', `addEventListener('DOMContentLoaded', () => {
          window.first = window.vault;
          window.vault.on('database/rows', {}, (rows) => document.getElementById('list').append(...rows));
        });`, 'text/javascript');
      visited('/', undefined, '/two', at);
      visited('/two', undefined, '/', at);
      const page = await stage.open();
      (await stage.site.changes.next()).grant('p-1', [[FEED, ['c']]]);
      const poll = await stage.site.polls.next();
      await visit(page, '/two');
      poll.answer(1, rows('d'));
      await becomes(page, '#list', 'abd');
      assert.equal((await stage.site.polls.next()).seq, 1);
      assert.deepEqual([await page.evaluate(() => window.vault === window.first), stage.site.polling().length], [true, 1]);
      assert.deepEqual([stage.site.polls.unread, stage.site.changes.unread], [0, 0]);
    });
  }

  test('Drive goes to another live page that subscribes to the same feed: it hears its own rows once', async () => {
    stage.site.file('/once.js', 'window.heard = [];', 'text/javascript');
    stage.site.file('/notes.js', `{
        const { page } = window.vault;
        window.vault.on('database/rows', {}, (rows) => window.heard.push([page, ...rows]));
      }`, 'text/javascript');
    visited('/', 'id-1', '/two', 'body', tag('/notes.js'));
    visited('/two', 'id-2', '/', 'body', tag('/notes.js'));
    const page = await stage.open();
    const granted = async () => {
      const { add, page } = await stage.site.changes.next().then((change) => { change.grant(change.page, []); return change; });
      assert.deepEqual(add, [FEED]);
      return page;
    };
    assert.equal(await granted(), 'id-1');
    (await stage.site.polls.next()).answer(1, rows('one'));
    const first = await stage.site.polls.next();
    await visit(page, '/two');
    await first.closed;
    assert.equal(await granted(), 'id-2');
    (await stage.site.polls.next()).answer(1, rows('two'));
    await stage.site.polls.next();
    assert.deepEqual(await page.evaluate(() => window.heard), [['id-1', 'one'], ['id-2', 'two']]);
  });

  test('morphs, which vault.js does not', async () => {
    scripts(tag('/turbo.js') + VAULT);
    const page = await stage.open();
    await page.evaluate(() => { document.getElementById('a').kept = true; });
    (await stage.site.polls.next()).answer(1, html('<turbo-stream action="update" method="morph" target="list"><template>'
      + '<li id="a">A</li></template></turbo-stream>'));
    await becomes(page, '#list', 'A');
    assert.equal(await page.evaluate(() => document.getElementById('a').kept), true, 'the same element, changed');
  });

  test('does not run scripts of an update, either', async () => {
    stage.site.file('/evil.js', 'window.evil = true;', 'text/javascript');
    scripts(tag('/turbo.js') + VAULT);
    const page = await stage.open();
    (await stage.site.polls.next()).answer(1, html(stream('append', 'list', '<li id="c"><script src="/evil.js"></script>c</li>')));
    await becomes(page, '#list', 'abc');
    assert.equal(stage.site.loads('/evil.js'), 0);
  });
});

const htmx = (body) => ['/m', 'text/html', body, 'htmx'];
const config = { // inline styles are not for a strict CSP
  2: '<meta name="htmx-config" content=\'{"includeIndicatorStyles":false}\'>',
  4: '<meta name="htmx-config" content=\'{"includeIndicatorCSS":false}\'>',
};
const swapped = { 2: 'htmx:oobAfterSwap', 4: 'htmx:after:swap' };

for (const [version, path] of [[2, 'htmx.org-2/dist/htmx.min.js'], [4, 'htmx.org/dist/htmx.min.js']]) {
  describe(`htmx ${version}`, () => {
    beforeEach(async () => {
      stage.site.file('/htmx.js', await library(path), 'text/javascript');
      stage.site.file('/count.js', `window.swaps = 0; document.addEventListener('${swapped[version]}', () => { window.swaps++; });`,
        'text/javascript');
      stage.site.file('/asked', '<i>answered</i>');
      scripts(config[version] + tag('/count.js') + VAULT + tag('/htmx.js'),
        `${LIST}<table><tbody id="rows"><tr><td>1</td></tr></tbody></table>`);
    });

    test('swaps out of band, with its events, and its attributes in what is new', async () => {
      const page = await stage.open();
      (await stage.site.polls.next()).answer(1, htmx('<div hx-swap-oob="beforeend:#list"><li id="c" hx-get="/asked" hx-trigger="click">c</li></div>'));
      await becomes(page, '#list', 'abc');
      assert.equal((await stage.site.polls.next()).seq, 1);
      await page.waitForFunction(() => window.swaps === 1);
      await page.click('#c');
      await becomes(page, '#c', 'answered');
      assert.equal(stage.site.loads('/asked'), 1);
      assert.equal(await inner(page, '#a'), 'a', 'the rest stays as it is');
      assert.equal(await page.locator('#list > li').count(), 3);
      assert.deepEqual(page.problems, []);
    });

    const rows = [
      // body, selector, text afterwards, why
      ['<li id="a" hx-swap-oob="true">A</li>', '#list', 'Ab', 'an element takes the place of the one with its id'],
      ['<div hx-swap-oob="innerHTML:#list"><li>x</li></div>', '#list', 'x', 'the content'],
      ['<div hx-swap-oob="afterbegin:#list"><li>x</li></div>', '#list', 'xab', 'at the start'],
      ['<div hx-swap-oob="beforebegin:#b"><li>x</li></div>', '#list', 'axb', 'before'],
      ['<div hx-swap-oob="afterend:#a"><li>x</li></div>', '#list', 'axb', 'after'],
      ['<div hx-swap-oob="beforeend:#list"><li>x</li></div><div hx-swap-oob="innerHTML:#a">A</div>', '#list', 'Abx', 'several'],
      ['<tbody hx-swap-oob="beforeend:#rows"><tr><td>2</td></tr></tbody>', '#rows', '12', 'rows of a table'],
      ['ignored <b>text</b><div hx-swap-oob="beforeend:#list"><li>x</li></div>', '#list', 'abx', 'what says no place'],
    ];
    for (const [body, selector, text, why] of rows) {
      test(`${why}: ${body}`, async () => {
        const page = await stage.open();
        (await stage.site.polls.next()).answer(1, htmx(body));
        await becomes(page, selector, text);
        assert.deepEqual(await page.locator('b').count(), 0);
        assert.deepEqual(page.problems, []);
      });
    }

    test('leaves turbo-stream elements to vault.js', async () => {
      const page = await stage.open();
      (await stage.site.polls.next()).answer(1, html(stream('append', 'list', '<li>c</li>')), htmx('<div hx-swap-oob="beforeend:#list"><li>d</li></div>'));
      await becomes(page, '#list', 'abcd');
    });

    test('vault:update can be cancelled', async () => {
      const page = await stage.open();
      await page.evaluate(() => window.vault.on('/m', (update, event) => { window.format = update.format; event.preventDefault(); }));
      (await stage.site.polls.next()).answer(1, htmx('<div hx-swap-oob="innerHTML:#list">no</div>'));
      await stage.site.polls.next();
      assert.equal(await page.evaluate(() => window.format), 'htmx');
      assert.equal(await page.locator('#list').textContent(), 'ab');
      assert.deepEqual(await all(page, 'vault:applied'), []);
    });
  });
}

describe('without htmx', () => {
  test('an update for it is reported; the others are applied', async () => {
    const page = await stage.open();
    (await stage.site.polls.next()).answer(1, htmx('<div hx-swap-oob="innerHTML:#list">no</div>'), html(stream('append', 'list', '<li>c</li>')));
    const error = await seen(page, { name: 'vault:error' });
    assert.match(error.error, /an update for htmx, which is not on this page/);
    await stage.site.polls.next();
    assert.equal(await page.locator('#list').textContent(), 'abc');
  });
});
