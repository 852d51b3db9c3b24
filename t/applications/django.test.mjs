/* SPDX-License-Identifier: Apache-2.0 */
/* Real Django and real PostgreSQL: what one writes, a second browser shows without a reload. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { after, afterEach, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { launch } from '../browser/browser.mjs';
import { DjangoSite, PACKAGE, PASSWORD, PYTHON, missing } from './django.mjs';

const limit = { timeout: 120_000 };
const why = missing();
if (why && process.env.VAULT_ALL_APPLICATIONS) throw new Error(`${why}, and VAULT_ALL_APPLICATIONS says that they should be there`);

describe('Django', { skip: why }, () => {
  let site;
  let browsers;
  let pages = [];

  before(async () => {
    [site, ...browsers] = await Promise.all([DjangoSite.start(), launch(), launch()]);
    await site.db.does("INSERT INTO blog_post(title) VALUES ('First post'), ('Second post')");
  }, { timeout: 120_000 });

  after(async () => {
    await Promise.all(browsers?.map((browser) => browser.close()) ?? []);
    assert.deepEqual(await site?.stop(), [], 'the error log');
  });

  afterEach(async () => {
    const problems = pages.flatMap((page) => page.problems);
    await Promise.all(pages.map((page) => page.context().close()));
    pages = [];
    assert.deepEqual(problems, []);
  });

  /** A visitor of their own in the first or the second browser. */
  async function visit(path, browser = 0) {
    const page = await (await browsers[browser].newContext()).newPage();
    pages.push(page);
    page.problems = [];
    page.on('console', (message) => { if (message.type() === 'error') page.problems.push(`${message.text()} ${message.location().url}`); });
    page.on('pageerror', (error) => page.problems.push(String(error)));
    await page.addInitScript(() => addEventListener('DOMContentLoaded', () => {
      for (const item of document.querySelectorAll('li')) item.isOfThePage = true;
    }));
    await page.goto(site.at(path));
    return page;
  }

  /** A live page in the second browser, of a visitor who only reads. */
  async function look(path) {
    const page = await visit(path, 1);
    await page.waitForFunction(() => window.vault?.state === 'waiting');
    await page.evaluate(() => { window.sameDocument = true; });
    return page;
  }

  const comment = (page, text) => page.locator('#comments > li', { hasText: text });

  async function signIn(path = '/admin/') {
    const page = await visit(`/admin/login/?next=${encodeURIComponent(path)}`);
    await page.fill('[name=username]', 'admin');
    await page.fill('[name=password]', PASSWORD);
    await Promise.all([page.waitForURL(site.at(path)), page.click('[type=submit]')]);
    return page;
  }

  async function isSameDocument(page) {
    assert.equal(await page.evaluate(() => window.sameDocument), true, 'the page was not loaded again');
  }

  test('a comment that one browser sends appears in the other, and is shown as text', limit, async () => {
    const reader = await look('/posts/1/');
    const writer = await visit('/posts/1/');
    await writer.fill('[name=text]', 'Hello <b>you</b>');
    await writer.click('button');
    await comment(reader, 'Hello <b>you</b>').waitFor();
    await writer.locator('.message', { hasText: 'Thank you' }).waitFor();
    assert.equal(await reader.locator('.message').count(), 0);
    await isSameDocument(reader);
  });

  test('what is saved and deleted in the administration', limit, async () => {
    const reader = await look('/posts/1/');
    const other = await look('/posts/2/');
    const admin = await signIn('/admin/blog/post/1/change/');
    await admin.fill('[name=title]', 'A better title');
    await admin.click('[name=_save]');
    await reader.locator('#title', { hasText: 'A better title' }).waitFor();
    await admin.goto(site.at('/admin/blog/comment/add/'));
    await admin.fill('[name=text]', 'from the administration');
    await admin.selectOption('[name=post]', '1');
    await admin.click('[name=_save]');
    await comment(reader, 'from the administration').waitFor();
    assert.equal(await comment(reader, 'from the administration').locator('a').count(), 0, 'a visitor does not see what the staff sees');
    await admin.goto(site.at('/admin/blog/comment/'));
    await admin.locator('tr', { hasText: 'from the administration' }).locator('input').check();
    await admin.selectOption('[name=action]', 'delete_selected');
    await admin.click('button[name=index]');
    await admin.click('#content [type=submit]');
    await comment(reader, 'from the administration').waitFor({ state: 'detached' });
    assert.deepEqual([await other.locator('#title').innerText(), await other.locator('#comments > li').count()], ['Second post', 0]);
    await isSameDocument(reader);
  });

  test('each visitor sees what is rendered for them', limit, async () => {
    const [visitor, admin] = [await look('/posts/2/'), await signIn('/posts/2/')];
    await admin.fill('[name=text]', 'for all');
    await admin.click('button');
    await comment(visitor, 'for all').waitFor();
    await admin.waitForFunction(() => window.vault?.state === 'waiting');
    await site.manage('import_comments', '2', 'for the staff');
    await comment(admin, 'for the staff').locator('a', { hasText: 'edit' }).waitFor();
    await comment(visitor, 'for the staff').waitFor();
    assert.equal(await visitor.locator('#comments a').count(), 0);
  });

  test('a visitor who has signed out is told, and sees nothing more', limit, async () => {
    const page = await signIn('/members/');
    await page.waitForFunction(() => window.vault?.state === 'waiting');
    await page.evaluate(() => document.addEventListener('vault:error', ({ detail }) => { window.refused = detail; }));
    await site.manage('import_comments', '2', 'for members');
    await comment(page, 'for members').waitFor();
    const other = await page.context().newPage();
    await other.goto(site.at('/admin/logout/'));
    await site.manage('import_comments', '2', 'for members who are there');
    await page.waitForFunction(() => window.refused);
    assert.deepEqual(await page.evaluate(() => [window.refused.method, window.refused.status]), ['/members/', 302]);
    assert.equal(await comment(page, 'who are there').count(), 0);
    assert.match(page.problems.pop(), /refused|302/);
  });

  test('vaultctl doctor finds nothing to change', limit, async () => {
    assert.match(await site.doctor('/posts/1/'), /there is nothing to change\.\n$/);
  });

  test('what a management command writes and notifies', limit, async () => {
    const reader = await look('/posts/1/');
    await site.manage('import_comments', '1', 'imported one', 'imported two');
    await comment(reader, 'imported one').waitFor();
    await comment(reader, 'imported two').waitFor();
    await isSameDocument(reader);
  });

  test('what a program saves without a request is told by signals', limit, async () => {
    const reader = await look('/posts/1/');
    await site.manage('shell', '-c', "from blog.models import Post; Post.objects.get(pk=1).comment_set.create(text='by a task')");
    await comment(reader, 'by a task').waitFor();
  });

  test('what psql writes into tables that are watched', limit, async () => {
    await site.watch('blog_comment', 'blog_post');
    const reader = await look('/posts/1/');
    await site.db.does("INSERT INTO blog_comment(post_id, text) VALUES (1, 'by psql')");
    await comment(reader, 'by psql').waitFor();
    await site.db.does("UPDATE blog_comment SET text = 'changed by psql' WHERE text = 'by psql'; UPDATE blog_post SET title = 'By psql' WHERE id = 1");
    await comment(reader, 'changed by psql').waitFor();
    await reader.locator('#title', { hasText: 'By psql' }).waitFor();
    await site.db.does("DELETE FROM blog_comment WHERE text = 'changed by psql'");
    await comment(reader, 'by psql').waitFor({ state: 'detached' });
    await isSameDocument(reader);
  });

  test('rows of a feed: a page has the last ones, and each update those that are new', limit, async () => {
    const texts = (page) => page.locator('#log > li').allInnerTexts();
    await site.db.does("INSERT INTO blog_comment(post_id, text) VALUES (2, 'row 1'), (2, 'row 2'), (2, 'row 3')");
    const reader = await look('/log/');
    assert.deepEqual(await texts(reader), ['row 2', 'row 3']);
    await site.manage('import_comments', '2', '<b>row 4</b>');
    await site.db.does("INSERT INTO blog_comment(post_id, text) VALUES (2, 'row 5')");
    await reader.locator('#log > li', { hasText: 'row 5' }).waitFor();
    assert.deepEqual(await texts(reader), ['row 2', 'row 3', '<b>row 4</b>', 'row 5']);
    assert.deepEqual(await reader.locator('#log > li').evaluateAll((all) => all.map((item) => Boolean(item.isOfThePage))), [true, true, false, false],
      'the first poll repeats nothing');
    await isSameDocument(reader);
  });
});

test('the package by itself', { ...limit, skip: why }, async () => {
  const run = promisify(execFile);
  const { stderr } = await run(PYTHON, ['-B', '-m', 'django', 'test', '--settings', 'tests.settings'], { cwd: PACKAGE });
  assert.match(stderr, /^Ran \d{2,} tests in .*\n\nOK$/m);
});
