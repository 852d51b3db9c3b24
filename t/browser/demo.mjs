/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the demos share: visitors, and a look at the code that a page shows of itself.
 *
 * The demo runs at $VAULT_DEMO_URL, with its database at $VAULT_DEMO_DATABASE; where they are not set, tests that need them are skipped.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { after, afterEach, before, beforeEach } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { launch } from './browser.mjs';

const DEMO = process.env.VAULT_DEMO_URL;
const TOP = process.env.VAULT_DEMO_SOURCES ?? fileURLToPath(new URL('../..', import.meta.url));

export const skip = DEMO ? false : 'VAULT_DEMO_URL is not set: no demo server to look at';
export const limit = { timeout: 120_000 };
export const url = (path) => new URL(path, DEMO).href;

/** A word that no other test says. */
export const unique = (begins = 'q') => `${begins}${randomUUID().slice(0, 13)}`;

/** A request that the live log shows. */
export const ask = async (path) => { await (await fetch(url(path))).arrayBuffer(); };

/** Write into the demo's database as another program does. */
export const elsewhere = (sql) => promisify(execFile)('sqlite3', ['-cmd', '.timeout 10000', process.env.VAULT_DEMO_DATABASE, sql]);

/** Send a form as the script of a page does. @return {status, text} */
export async function send(path, fields, headers = { Accept: 'text/plain' }) {
  const response = await fetch(url(path), { method: 'POST', headers, body: new URLSearchParams(fields), redirect: 'manual' });
  return { status: response.status, text: (await response.text()).trim(), headers: response.headers };
}

/** From here on page.problems are what its console complains of, but for what the page `bears`. */
export function listen(page) {
  page.problems = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !page.bears?.test(message.text())) page.problems.push(message.text());
  });
  page.on('pageerror', (error) => page.problems.push(String(error)));
}

/** Within a describe(): a browser for it, and visitors whose consoles must stay silent.
 * prepare(page) comes before the page is loaded, ready(page) says when it is live.
 * @return visit(path, options); options are those of a context, and prepared(page), which comes after prepare(page); page.response is what the path answered
 */
export function visitors({ prepare = () => {}, ready = live } = {}) {
  let browser;
  let pages;
  before(async () => { browser = await launch(); });
  after(() => browser?.close());
  beforeEach(() => { pages = []; });
  afterEach(async () => {
    const problems = pages.flatMap((page) => page.problems);
    await Promise.all(pages.map((page) => page.context().close()));
    assert.deepEqual(problems, []);
  });

  /** A visitor of their own, with the page before them and live. */
  return async (path, options = {}) => {
    const { prepared, ...context } = options;
    const page = await (await browser.newContext(context)).newPage();
    pages.push(page);
    listen(page);
    await prepare(page);
    await prepared?.(page);
    page.response = await page.goto(url(path));
    if (options.javaScriptEnabled !== false) await ready(page);
    return page;
  };
}

export const live = (page) => page.locator('#live[data-state="waiting"]').waitFor();

/** Many requests, one after the other: the rows of a log have each once, in the order of the rows. A request is logged after its answer
 * went out, so requests in a row need not be rows in that order. */
export async function showsBurst(page, rows) {
  const burst = unique();
  const expected = [];
  const lines = page.locator(rows, { hasText: burst });
  for (let i = 0; i < 40; i++) {
    expected.push(`GET /?${burst}=${i} HTTP/1.1`);
    await ask(`/?${burst}=${i}`);
  }
  await lines.nth(39).waitFor();
  const shown = await lines.locator('td:nth-child(3)').allInnerTexts();
  assert.deepEqual(shown.sort(), expected.sort());
  const ids = await page.locator(rows).evaluateAll((all) => all.map((row) => Number(row.id.slice(4))));
  assert.ok(ids.every((id, i) => i === 0 || id > ids[i - 1]), `not in order: ${ids}`);
}

/** The boxes of code in a page of the demo say what is in the files that they name. */
export async function showsItsCode(page, ...expected) {
  const folder = `htdocs/demo/${page.slice(0, page.lastIndexOf('/'))}`;
  const boxes = [...(await source(`htdocs/demo/${page}`)).matchAll(/<code data-file="([^"]+)">(.*?)<\/code>/gs)];
  assert.deepEqual(boxes.map(([, file]) => file), expected);
  for (const [, file, box] of boxes) {
    const shown = box.replace(/<[^>]+>/g, '').replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
    const flat = (text) => text.replace(/\s+/g, file.endsWith('.json') ? '' : ' ');
    const text = flat((await source(file.includes('/') ? file : `${folder}/${file}`)).replace(/<aside.*<\/aside>/s, ''));
    for (const piece of shown.split('…').map((each) => flat(each).replace(/^>/, '').trim()).filter(Boolean)) {
      assert.ok(text.includes(piece), `${file} has no ${piece}`);
    }
  }
}

/** The text of a file of the source. */
export const source = (file) => readFile(`${TOP}/${file}`, 'utf8');

export async function photograph(page, name) {
  const folder = process.env.VAULT_ARTIFACTS;
  if (!folder) return;
  await mkdir(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png` });
}
