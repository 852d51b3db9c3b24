/* SPDX-License-Identifier: Apache-2.0 */
/* A page with the real htmx on a real server: the demo's, with the files of site/ in it. A feed's tag says format="htmx". */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { ask, limit, skip, unique, visitors } from './demo.mjs';

const library = (path) => readFile(new URL(`node_modules/${path}`, import.meta.url), 'utf8');

for (const [version, path, swapped] of [
  [2, 'htmx.org-2/dist/htmx.min.js', 'htmx:oobAfterSwap'],
  [4, 'htmx.org/dist/htmx.min.js', 'htmx:after:swap'],
]) {
  describe(`htmx ${version} and the live log`, { skip }, () => {
    /** The page has this htmx, and a script that counts. */
    async function prepare(page) {
      const script = (body) => ({ contentType: 'text/javascript', body });
      await page.route('**/htmx/htmx.js', async (route) => route.fulfill(script(await library(path))));
      await page.route('**/htmx/count.js', (route) => route.fulfill(script(
        `window.swaps = 0; document.addEventListener('${swapped}', () => { window.swaps++; });`)));
      page.polls = page.waitForRequest(/\/vault\/poll\?/);
    }

    async function ready(page) {
      assert.equal(page.response.status(), 200, 'the files of t/browser/site are in the demo');
      await page.polls;
    }

    const visitor = visitors({ prepare, ready });
    const visit = () => visitor('/htmx/');

    const row = (page, text) => page.locator('#rows > tr', { hasText: text });

    test('a row that the server has is swapped in by htmx, once, in two browsers', limit, async () => {
      const two = [await visit(), await visit()];
      const [first, second] = [unique(), unique()];
      await ask(`/?hello=${first}`);
      for (const page of two) {
        await row(page, first).waitFor();
        assert.equal(await row(page, first).locator('td').first().innerText(), '200');
      }
      await ask(`/?hello=${second}`);
      for (const page of two) {
        await row(page, second).waitFor();
        assert.equal(await row(page, first).count(), 1);
        assert.equal(await row(page, second).count(), 1);
        assert.ok(await page.evaluate(() => window.swaps) >= 2, 'by htmx');
        assert.equal(await page.locator('turbo-stream').count(), 0);
      }
    });

    test('what a row says is text', limit, async () => {
      const page = await visit();
      const mark = unique();
      await ask(`/?${mark}=%3Cimg%20src=x%3E&b=<b>`);
      await row(page, mark).waitFor();
      assert.equal(await page.locator('#rows img, #rows b').count(), 0);
    });
  });
}
