/* SPDX-License-Identifier: Apache-2.0 */
/* The auction of the demo: what one visitor bids, another sees; and what is no bid is told so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { limit, live, photograph, send, showsItsCode, skip, url, visitors } from './demo.mjs';

const CHAIR = '/auction/item.shtml?5';

test('the pages show their own code as it is', limit, async () => {
  await showsItsCode('auction/index.shtml', 'index.shtml', 'lots.shtml', 'lots-changed.html', 'conf/demo-model.json');
  await showsItsCode('auction/item.shtml', 'item.shtml', 'price.shtml', 'bids.shtml', 'bid.lua', 'conf/demo.sql');
});

describe('the auction', { skip }, () => {
  const visit = visitors();
  const bid = (item, amount, bidder = 'Grey Wolf') => send('/auction/bid.lua', { item, amount, bidder });

  const price = async (page) => Number(await page.locator('#price data').getAttribute('value'));
  const shows = (page, amount) => page.locator(`#price data[value="${amount}"]`).waitFor();
  /** Wait until these are the bids, from the newest on: price and bids come each in its own time. */
  const hasBids = (page, ...amounts) => page.waitForFunction((wanted) => wanted
    === [...document.querySelectorAll('#bids data')].map((each) => each.value).join(), amounts.join());
  const said = (page) => page.locator('form output:not(:empty)').innerText();

  /** Sold: the lot is as new. */
  const sell = async (item) => assert.equal((await bid(item, 5000)).status, 200);

  test('a bid in one browser is the price and the newest bid in the other, without leaving the page', limit, async () => {
    await sell(5);
    const [ann, bob] = [await visit(CHAIR), await visit(CHAIR, { colorScheme: 'dark', viewport: { width: 390, height: 844 } })];
    await hasBids(bob);
    assert.match(await bob.locator('#bids').evaluate((list) => getComputedStyle(list, '::after').content), /No bids yet/);
    await ann.selectOption('[name="bidder"]', 'Blue Heron');
    await ann.fill('[name="amount"]', '40');
    await ann.click('.button');
    await Promise.all([ann, bob].map((page) => shows(page, 40)));
    assert.equal(await said(ann), 'Your bid of €40 leads.');
    assert.match(await bob.locator('#price').innerText(), /Blue Heron/);
    await bob.locator('#bids li', { hasText: 'Blue Heron' }).waitFor();
    assert.equal(await bob.inputValue('[name="amount"]'), '42', 'the next bid is suggested');
    await photograph(bob, 'auction-dark-narrow');
    await bob.click('.button');
    await Promise.all([ann, bob].map((page) => shows(page, 42)));
    await ann.locator('form output', { hasText: 'You were outbid: the price is €42.' }).waitFor();
    assert.equal(await said(bob), 'Your bid of €42 leads.');
    await Promise.all([ann, bob].map((page) => hasBids(page, 42, 40)));
    assert.equal(new URL(ann.url()).pathname, '/auction/item.shtml');
    await photograph(ann, 'auction-light');
    await ann.reload();
    await live(ann);
    await hasBids(ann, 42, 40);
    await sell(5);
    await bob.locator('form output', { hasText: 'It was sold to somebody else.' }).waitFor();
  });

  test('the list of lots has the new price, its leader, and the bid among the latest', limit, async () => {
    await sell(2);
    const page = await visit('/auction/');
    const order = () => page.locator('#lots > li').evaluateAll((all) => all.map((each) => each.id));
    const before = await order();
    await bid(2, 77, 'Coral Crab');
    await page.locator('#lot-2 data[value="77"]').waitFor();
    assert.match(await page.locator('#lot-2').innerText(), /Coral Crab leads/);
    assert.deepEqual(await order(), before, 'at its place');
    await page.locator('#latest li:first-child data[value="77"]').waitFor();
    assert.match(await page.locator('#latest li').first().innerText(), /Coral Crab on Reading lamp/);
    assert.ok(await page.locator('#latest li').count() <= 8);
    const times = await page.locator('#latest time').evaluateAll((all) => all.map((each) => each.dateTime));
    assert.deepEqual(times, [...times].sort().reverse(), 'from the newest on, also those that the demo begins with');
    await page.click('#lot-2 a');
    await page.waitForURL(url('/auction/item.shtml?2'));
    assert.equal(await price(page), 77);
  });

  test('of two bids at the same moment one wins, and the other is told the price', limit, async () => {
    await sell(6);
    const answers = await Promise.all(['Amber Fox', 'Teal Otter', 'Grey Wolf', 'Coral Crab'].map((bidder) => bid(6, 99, bidder)));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 409, 409, 409]);
    for (const { status, text } of answers) {
      assert.equal(text, status === 200 ? 'Your bid of €99 leads.' : 'The price is €99 already. Bid more.');
    }
    const page = await visit('/auction/item.shtml?6');
    await hasBids(page, 99);
  });

  test('who is outbid while writing is told, and keeps what was written', limit, async () => {
    await sell(4);
    const page = await visit('/auction/item.shtml?4');
    await page.fill('[name="amount"]', '120');
    await bid(4, 300);
    await shows(page, 300);
    assert.equal(await page.inputValue('[name="amount"]'), '120');
    await page.evaluate(() => { document.querySelector('[name="amount"]').form.noValidate = true; });
    page.bears = /status of 409/;
    await page.click('.button');
    await page.locator('output[data-good="false"]').waitFor();
    assert.equal(await said(page), 'The price is €300 already. Bid more.');
  });

  test('what is no bid is refused with a sentence', limit, async () => {
    const number = 'A bid is a whole number of euros, at most 5000.';
    const nobody = 'There is no such lot or bidder.';
    for (const [fields, sentence] of [
      [{ item: 1, bidder: 'Grey Wolf', amount: '' }, number],
      [{ item: 1, bidder: 'Grey Wolf', amount: '-5' }, number],
      [{ item: 1, bidder: 'Grey Wolf', amount: '1e3' }, number],
      [{ item: 1, bidder: 'Grey Wolf', amount: '300.5' }, number],
      [{ item: 1, bidder: 'Grey Wolf', amount: '5001' }, number],
      [{ item: 1, bidder: 'Grey Wolf', amount: '0' }, number],
      [{ item: 1, amount: '4000' }, nobody],
      [{ item: 1, bidder: 'Nobody', amount: '4000' }, nobody],
      [{ item: 77, bidder: 'Grey Wolf', amount: '4000' }, nobody],
      [{ item: "1' OR 1=1 --", bidder: 'Grey Wolf', amount: '4000' }, nobody],
      [{ bidder: 'Grey Wolf', amount: '4000' }, nobody],
    ]) {
      assert.deepEqual([(await send('/auction/bid.lua', fields)).text, JSON.stringify(fields)], [sentence, JSON.stringify(fields)]);
    }
    assert.equal((await send('/auction/bid.lua', { item: 1, bidder: 'Grey Wolf', amount: 4000 },
      { Accept: 'text/plain', 'Sec-Fetch-Site': 'cross-site' })).status, 403, 'from another site');
    assert.equal((await fetch(url('/auction/bid.lua'))).status, 405);
  });

  test('a lot keeps its twenty newest bids, and is as new when it is sold', limit, async () => {
    await sell(3);
    const page = await visit('/auction/item.shtml?3');
    for (let amount = 201; amount <= 223; amount++) await bid(3, amount);
    await shows(page, 223);
    await hasBids(page, ...Array.from({ length: 20 }, (_, i) => 223 - i));
    await sell(3);
    await shows(page, 180);
    await hasBids(page);
  });

  test('without JavaScript the form is a form', limit, async () => {
    await sell(1);
    const page = await visit('/auction/item.shtml?1', { javaScriptEnabled: false });
    await page.selectOption('[name="bidder"]', 'Violet Moth');
    await page.fill('[name="amount"]', '444');
    await page.click('.button');
    await page.waitForURL(url('/auction/item.shtml?1'));
    assert.match(await page.locator('#price').innerText(), /€444/);
    page.bears = /status of 409/;
    await page.fill('[name="amount"]', '443');
    await page.click('.button');
    assert.match(await page.locator('main').innerText(), /The price is €444 already/);
    await page.click('text=Back');
    await page.waitForURL(url('/auction/item.shtml?1'));
  });

  test('a lot that there is not', limit, async () => {
    const page = await visit('/auction/item.shtml?99');
    assert.match(await page.locator('.lot').innerText(), /There is no such lot/);
  });
});
