/* SPDX-License-Identifier: Apache-2.0 */
/* Debian's WordPress with the plug-in of integrations/wordpress: what one visitor, the administrator or another program writes appears in
 * the browser of another visitor, who does not load the page again. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, describe, test } from 'node:test';
import { launch } from '../browser/browser.mjs';
import { until } from './server.mjs';
import { Blog, PASSWORD, missing } from './wordpress.mjs';

const limit = { timeout: 120_000 };
const why = missing();
if (why && process.env.VAULT_ALL_APPLICATIONS) throw new Error(`${why}, and VAULT_ALL_APPLICATIONS says that it should be there`);

describe('WordPress', { skip: why }, () => {
  let blog;
  let browsers;
  let pages = [];
  let cookies; // of the administrator

  before(async () => {
    [blog, ...browsers] = await Promise.all([Blog.start(), launch(), launch()]);
  }, { timeout: 120_000 });

  after(async () => {
    await Promise.all(browsers?.map((browser) => browser.close()) ?? []);
    const log = await blog?.stop();
    assert.deepEqual(log?.filter((line) => !/VLT\d+: method .*vault-live=1.* status is 500/.test(line)), [], 'the error log'); // of the one that breaks off
  });

  afterEach(async () => {
    const problems = pages.flatMap((page) => page.problems);
    await Promise.all(pages.map((page) => page.context().close()));
    pages = [];
    assert.deepEqual(problems, []);
  });

  // -------------------------------------------------------------- who does what

  async function newPage(browser, options) {
    const page = await (await browsers[browser].newContext(options)).newPage();
    pages.push(page);
    page.problems = [];
    page.on('console', (message) => {
      if (/error|warning/.test(message.type()) && !/gravatar|ERR_INTERNET|ERR_NAME|ERR_CONN|Failed to load resource: net::/.test(message.text())) page.problems.push(message.text());
    });
    page.on('pageerror', (error) => page.problems.push(String(error)));
    await page.route(/^https?:\/\/(?!localhost)/, (route) => route.abort());
    return page;
  }

  /** A visitor in the first browser looks at this page, which is live. */
  async function look(path) {
    const page = await newPage(0);
    await page.addInitScript(() => {
      window.updates = 0;
      document.addEventListener('vault:update', () => { window.updates++; });
    });
    const answer = await page.goto(blog.at(path));
    assert.equal(answer.status(), 200);
    assert.match(answer.headers()['cache-control'], /private, no-store/);
    await page.waitForFunction(() => window.vault?.state === 'waiting');
    await page.evaluate(() => { window.sameDocument = true; });
    return page;
  }

  /** It has not been loaded again. */
  const same = async (page) => assert.ok(await page.evaluate(() => window.sameDocument), 'the same document');

  /** The administrator in the second browser, who logs in once. */
  async function admin(path) {
    const page = await newPage(1, { storageState: cookies });
    await page.goto(blog.at(path));
    if (!cookies) {
      await page.fill('#user_login', 'admin');
      await page.fill('#user_pass', PASSWORD);
      await Promise.all([page.waitForURL(blog.at(path)), page.click('#wp-submit')]);
      cookies = await page.context().storageState();
    }
    return page;
  }

  /** Do what wp-admin offers below an entry of a list when the mouse is on it. */
  async function act(entry, link) {
    await entry.hover();
    await entry.locator(link).click();
  }

  /** A visitor in the second browser sends the form below a post. */
  async function comment(path, author, text) {
    const page = await newPage(1);
    await page.goto(blog.at(path));
    await page.fill('#comment', text);
    await page.fill('#author', author);
    await page.fill('#email', `${author}@example.org`);
    await Promise.all([page.waitForURL(/comment-/), page.click('#submit')]);
    return page;
  }

  let number = 0;

  /** A post of this title. @return {id, path} */
  async function post(title, fields = '') {
    number++;
    const answer = await blog.php(`
$id = wp_insert_post(['post_title' => '${title}', 'post_name' => 'post-${number}', 'post_status' => 'publish', 'post_content' => 'Text', ${fields}]);
echo wp_json_encode(['id' => $id, 'path' => parse_url(get_permalink($id), PHP_URL_PATH)]);`);
    return JSON.parse(answer);
  }

  /** A page with a list of the latest posts that is live. */
  const latest = (content = '<!-- wp:vault/live --><!-- wp:latest-posts /--><!-- /wp:vault/live -->') =>
    post('News', `'post_type' => 'page', 'comment_status' => 'closed', 'post_content' => '${content}'`);

  /** As WP-CLI does it. @return its id */
  const insertComment = async ({ id }, text, approved = 1) => Number(await blog.php(`
echo wp_insert_comment(['comment_post_ID' => ${id}, 'comment_author' => 'program', 'comment_content' => '${text}', 'comment_approved' => '${approved}']);`));

  const shown = (page, text) => page.getByText(text, { exact: true });

  // -------------------------------------------------------------- comments

  test('a comment waits for its approval, and appears when it is given; edits and the trash show as well', limit, async () => {
    const { path, ...it } = await post('Moderated');
    const reader = await look(path);
    const writer = await comment(path, 'ann', 'first words');
    await writer.getByText('first words').waitFor(); // the author sees it
    const { Notifies } = await blog.place.status();
    await insertComment(it, 'buy now', 'spam');
    assert.equal((await blog.place.status()).Notifies, Notifies, 'what visitors do not see wakes no page');
    await insertComment(it, 'of another visitor');
    await shown(reader, 'of another visitor').waitFor();
    assert.equal(await shown(reader, 'first words').count(), 0);

    const desk = await admin('wp-admin/edit-comments.php?comment_status=moderated');
    await act(desk.locator('#the-comment-list tr', { hasText: 'first words' }), '.approve a');
    await shown(reader, 'first words').waitFor();

    await comment(path, 'ann', 'second words'); // an author who was approved before
    await shown(reader, 'second words').waitFor();
    const id = (await reader.locator('li.comment', { hasText: 'second words' }).getAttribute('id')).slice('comment-'.length);
    await desk.goto(blog.at(`wp-admin/comment.php?action=editcomment&c=${id}`));
    await desk.fill('#content', 'better words');
    await desk.click('#save');
    await shown(reader, 'better words').waitFor();
    assert.equal(await shown(reader, 'second words').count(), 0);

    await desk.goto(blog.at('wp-admin/edit-comments.php'));
    await act(desk.locator(`#comment-${id}`), '.trash a');
    await reader.locator(`#comment-${id}`).waitFor({ state: 'detached' });
    assert.equal(await shown(reader, 'first words').count(), 1);
    await same(reader);
  });

  test('what a visitor writes stays, below the comment that it answers, until that goes', limit, async () => {
    const it = await post('Replies');
    const [one, two] = [await insertComment(it, 'one'), await insertComment(it, 'two')];
    const reader = await look(it.path);
    await reader.locator(`#comment-${one} .comment-reply-link`).click();
    await reader.fill('#comment', 'half a sent');
    await reader.evaluate(() => { window.form = document.activeElement; });
    const below = () => reader.evaluate(() => document.getElementById('respond').closest('ol, ul') !== null);
    assert.ok(await below());
    await insertComment(it, 'three');
    await shown(reader, 'three').waitFor();
    assert.ok(await below());
    assert.equal(await reader.inputValue('#comment'), 'half a sent');
    assert.ok(await reader.evaluate(() => window.form === document.activeElement), 'the cursor is still there');
    assert.deepEqual(await reader.locator('li.comment').evaluateAll((all) => all.map((each) => each.id)), [`comment-${one}`, `comment-${two}`, `comment-${two + 1}`]);
    assert.equal(await reader.evaluate(() => window.updates), 1, 'nothing was sent before');

    await blog.php(`wp_delete_comment(${two}, true);`);
    await reader.locator(`#comment-${two}`).waitFor({ state: 'detached' });
    assert.ok(await below());
    await blog.php(`wp_delete_comment(${one}, true);`);
    await reader.locator(`#comment-${one}`).waitFor({ state: 'detached' });
    assert.ok(!await below());
    assert.equal(await reader.inputValue('#comment'), 'half a sent');
    assert.equal(await reader.inputValue('#comment_parent'), '0');
  });

  test('a post that is put away takes its comments along, and brings them back', limit, async () => {
    const it = await post('Gone');
    await insertComment(it, 'a comment');
    const reader = await look(it.path);
    const becomes = (fields) => blog.php(`wp_update_post(['ID' => ${it.id}, ${fields}]);`);
    for (const [away, back] of [["'post_password' => 'secret'", "'post_password' => ''"], ["'post_status' => 'private'", "'post_status' => 'publish'"]]) {
      assert.equal(await shown(reader, 'a comment').count(), 1);
      await becomes(away);
      await shown(reader, 'a comment').waitFor({ state: 'detached' });
      await becomes(back);
      await shown(reader, 'a comment').waitFor();
    }
    await blog.php(`wp_delete_post(${it.id}, true);`);
    await shown(reader, 'a comment').waitFor({ state: 'detached' });
    await same(reader);
  });

  test('the page of a user who has logged out is told so, and nothing else', limit, async () => {
    const it = await post('For users', "'post_status' => 'private'");
    const page = await admin(`?p=${it.id}`);
    await page.waitForFunction(() => window.vault?.state === 'waiting');
    await page.evaluate(() => {
      window.refused = new Promise((hear) => document.addEventListener('vault:error', ({ detail }) => hear(detail.status)));
    });
    await insertComment(it, 'seen');
    await shown(page, 'seen').waitFor();
    const tab = await page.context().newPage();
    await tab.goto(blog.at('wp-login.php?action=logout'));
    await Promise.all([tab.waitForURL(/loggedout/), tab.locator('a[href*="action=logout"]').click()]);
    cookies = undefined;
    await insertComment(it, 'unseen');
    assert.equal(await page.evaluate(() => window.refused), 403);
    assert.equal(await shown(page, 'unseen').count(), 0);
    assert.match(page.problems.splice(0).join(), /403/); // on the console as well
  });

  test('a rendering that breaks off takes nothing away', limit, async () => {
    const it = await post('Fragile');
    await insertComment(it, 'there');
    const reader = await look(it.path);
    const { Failures } = await blog.place.status();
    await blog.php("update_option('fragile', '1');");
    await insertComment(it, 'too early');
    await until(async () => (await blog.place.status()).Failures > Failures, 'the method fails');
    assert.equal(await shown(reader, 'there').count(), 1);
    await blog.php("delete_option('fragile');");
    await insertComment(it, 'in time');
    await shown(reader, 'in time').waitFor();
    assert.equal(await shown(reader, 'too early').count(), 1);
    await same(reader);
  });

  test('what is written when a page is rendered for its method wakes no page', limit, async () => {
    const it = await post('Counted');
    await blog.php("update_option('counting', '1');");
    const readers = [await look(it.path), await look(it.path)];
    const { Notifies } = await blog.place.status();
    await insertComment(it, 'the only change');
    for (const reader of readers) await shown(reader, 'the only change').waitFor();
    assert.equal((await blog.place.status()).Notifies, Notifies + 2, 'of comments, and of those of this post');
    await blog.php("delete_option('counting');");
  });

  test('a comment of HTML in what a visitor writes is no mark of ours', limit, async () => {
    const it = await post('Marks');
    await blog.php(`wp_insert_comment(['comment_post_ID' => ${it.id}, 'comment_author' => 'eve', 'comment_approved' => '1', 'comment_content' =>
      wp_unslash(wp_filter_kses('some <!--/vault-live comments-${it.id}--><!--vault-live comments-${it.id}--> words'))]);`);
    const reader = await look(it.path);
    await insertComment(it, 'later words');
    await shown(reader, 'later words').waitFor();
    await same(reader);
  });

  test('plug-ins for caching keep neither a live page nor what its method answers', limit, async () => {
    const it = await post('Kept');
    const reader = await look(it.path);
    await insertComment(it, 'words of a method');
    await shown(reader, 'words of a method').waitFor();
    await (await newPage(0)).goto(blog.at('?feed=rss2'));
    const kept = readFileSync(blog.place.path('site/wp-content/kept'), 'utf8').split('\n');
    assert.ok(kept.includes('/?feed=rss2'));
    assert.ok(!kept.includes(it.path));
  });

  test('without pretty permalinks', limit, async () => {
    const it = await post('Plain');
    await blog.php("update_option('permalink_structure', '');");
    const reader = await look(`?p=${it.id}`);
    await insertComment(it, 'plain words');
    await shown(reader, 'plain words').waitFor();
    await blog.php("update_option('permalink_structure', '/%year%/%monthnum%/%postname%/');");
  });

  test('with a theme of templates', limit, async () => {
    await blog.php("switch_theme('twentytwentyone');");
    const it = await post('Classic');
    const reader = await look(it.path);
    const [one] = [await insertComment(it, 'one')];
    await shown(reader, 'one').waitFor();
    await reader.locator(`#comment-${one} .comment-reply-link`).click();
    await reader.fill('#comment', 'half a sent');
    await insertComment(it, 'two');
    await shown(reader, 'two').waitFor();
    await shown(reader, '2 comments').waitFor();
    assert.equal(await reader.inputValue('#comment'), 'half a sent');
    assert.equal(await reader.inputValue('#comment_parent'), String(one));
    assert.equal(await reader.evaluate(() => window.updates), 2);
    await blog.php("switch_theme('twentytwentythree');");
    await same(reader);
  });

  // -------------------------------------------------------------- blocks

  test('a live block shows what the administrator saves', limit, async () => {
    const it = await post('A title');
    const reader = await look((await latest()).path);
    await shown(reader, 'A title').waitFor();
    const desk = await admin('wp-admin/edit.php');
    await act(desk.locator(`#post-${it.id}`), 'button.editinline');
    await desk.locator(`#edit-${it.id} input[name=post_title]`).fill('Another title');
    await desk.locator(`#edit-${it.id} button.save`).click();
    await shown(reader, 'Another title').waitFor();
    assert.equal(await shown(reader, 'A title').count(), 0);
    await blog.php(`wp_delete_post(${it.id}, true);`);
    await shown(reader, 'Another title').waitFor({ state: 'detached' });
    await same(reader);
  });

  test('a shortcode does the same, for names that the site notifies', limit, async () => {
    const reader = await look((await latest('Left: [vault_live on="shop-stock"]<b id="stock">[stock]</b>[/vault_live]')).path);
    assert.equal(await reader.textContent('#stock'), 'many');
    await blog.php("update_option('stock', 'few'); Vault\\Live\\notify('shop-stock');");
    await reader.locator('#stock', { hasText: 'few' }).waitFor();
    await same(reader);
  });

  test('a post that wp-cron publishes appears', limit, async () => {
    const reader = await look((await latest()).path);
    await blog.php(`
$id = wp_insert_post(['post_title' => 'From the future', 'post_status' => 'draft']);
$now = gmdate('Y-m-d H:i:s');
$wpdb->update($wpdb->posts, ['post_status' => 'future', 'post_date' => $now, 'post_date_gmt' => $now], ['ID' => $id]);
wp_schedule_single_event(time() - 1, 'publish_future_post', [$id]);`);
    assert.equal((await fetch(blog.at('wp-cron.php'))).status, 200);
    await shown(reader, 'From the future').waitFor();
  });

  test('the editor has the block', limit, async () => {
    const desk = await admin('wp-admin/post-new.php?post_type=page');
    await desk.waitForFunction(() => window.wp?.data?.select('core/block-editor') && window.wp.blocks.getBlockType('vault/live'));
    await desk.evaluate(async () => {
      const { blocks, data } = window.wp;
      const block = blocks.createBlock('vault/live', { on: 'comments' }, [blocks.createBlock('core/paragraph', { content: 'inside' })]);
      data.dispatch('core/block-editor').insertBlocks(block);
      data.dispatch('core/editor').editPost({ title: 'By the editor', status: 'publish' });
      await data.dispatch('core/editor').savePost();
    });
    const saved = await blog.php("echo get_page_by_title('By the editor')->post_content;");
    assert.match(saved, /<!-- wp:vault\/live \{"on":"comments"\} -->\s*<!-- wp:paragraph -->\s*<p>inside<\/p>/);
  });

  // -------------------------------------------------------------- other writers

  describe('with watched tables', () => {
    before(() => blog.watch());

    test('what the client mariadb writes appears', limit, async () => {
      const it = await post('By SQL');
      const [reader, list] = [await look(it.path), await look((await latest()).path)];
      const [id] = (await blog.db.does(`INSERT INTO wp_comments(comment_post_ID, comment_author, comment_content, comment_date, comment_date_gmt, comment_approved)
        VALUES (${it.id}, 'sql', 'inserted', now(), now(), '1'); SELECT last_insert_id();`)).split('\n');
      await shown(reader, 'inserted').waitFor();
      await blog.db.does(`UPDATE wp_comments SET comment_content = 'updated' WHERE comment_ID = ${id};`);
      await shown(reader, 'updated').waitFor();
      await blog.db.does(`DELETE FROM wp_comments WHERE comment_ID = ${id};`);
      await shown(reader, 'updated').waitFor({ state: 'detached' });
      await shown(list, 'By SQL').waitFor();
      await blog.db.does(`UPDATE wp_posts SET post_title = 'By a statement' WHERE ID = ${it.id};`);
      await shown(list, 'By a statement').waitFor();
      await same(reader);
      await same(list);
    });
  });
});
