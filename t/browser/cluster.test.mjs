/* SPDX-License-Identifier: Apache-2.0 */
/* scripts/demo cluster: three servers behind a balancer. Notes and calls of one server reach the pages of the others; a server is killed, and its
 * page continues on another one; Ctrl-C ends all. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import net from 'node:net';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { BUILD, TOP } from '../applications/server.mjs';
import { launch } from './browser.mjs';

const skip = BUILD ? false : 'VAULT_BUILD is not set: no mod_vault to start';
const limit = { timeout: 240_000 };

const isFree = (port) => new Promise((done) => {
  const server = net.createServer();
  server.once('error', () => done(false));
  server.listen(port, '127.0.0.1', () => server.close(() => done(true)));
});

const ports = (first) => Array.from({ length: 8 }, (_, i) => first + i);

/** Eight free ports in a row: above those that connections get, and those that t/httpd-tests.sh gives to other tests. */
async function freePorts() {
  for (;;) {
    const first = 61_000 + 8 * Math.floor(Math.random() * 500);
    const free = await Promise.all(ports(first).map(isFree));
    if (free.every(Boolean)) return first;
  }
}

describe('scripts/demo cluster', { skip, ...limit }, () => {
  let demo;
  let said = '';
  const news = new EventEmitter();
  let port;
  let browser;

  const says = async (pattern) => {
    for (;;) {
      const found = said.match(pattern);
      if (found) return found;
      assert.equal(demo.exitCode, null, said);
      await once(news, 'said');
    }
  };

  before(async () => {
    port = await freePorts();
    demo = spawn('sh', [`${TOP}/scripts/demo`, 'cluster'], { env: { ...process.env, CFLAGS: '-O0', PORT: port, BUILD: dirname(BUILD) }, detached: true });
    for (const output of [demo.stdout, demo.stderr]) output.on('data', (data) => { said += data; news.emit('said'); });
    demo.on('exit', () => news.emit('said'));
    browser = await launch();
    await says(/Ctrl-C stops it/);
  }, limit);

  after(async () => {
    await browser?.close();
    if (demo?.exitCode === null) process.kill(demo.pid, 'SIGTERM');
  });

  /** A page of one visitor, live. */
  async function visit() {
    const page = await (await browser.newContext()).newPage();
    await page.goto(`http://localhost:${port}/`);
    await live(page);
    return page;
  }

  const live = (page) => page.locator('#live', { hasText: /^live$/ }).waitFor();
  const serverOf = (page) => page.locator('#server').innerText();

  async function write(page, text) {
    await page.locator('input[name="values.text"]').fill(text);
    await page.locator('button', { hasText: 'Write' }).click();
  }

  const shows = async (page, list, text) => {
    const item = page.locator(`${list} > li`, { hasText: text });
    await item.first().waitFor();
    assert.equal(await item.count(), 1, text);
  };

  test('what one server takes, the pages of another one show; when it is killed, its pages continue elsewhere', limit, async () => {
    const one = await visit();
    const server = await serverOf(one);
    let other = await visit();
    while (await serverOf(other) === server) other = await visit();
    await write(one, 'a note');
    await one.locator('button', { hasText: 'Call' }).click();
    for (const page of [one, other]) {
      await shows(page, '#notes', `a note server ${server}`);
      await shows(page, '#calls', `call 1 server ${server}`);
    }
    const [, pid] = await says(new RegExp(`    ${server} +port \\d+ +kill -KILL -- -(\\d+)`));
    process.kill(-Number(pid), 'SIGKILL');
    await write(other, 'after its end');
    await shows(one, '#notes', 'after its end');
    assert.notEqual(await serverOf(one), server);
    await says(new RegExp(`${server} runs again`));
  });

  test('Ctrl-C ends all that it has started, and removes what it has written', limit, async () => {
    const [, folder] = await says(/Logs: (.*)\/logs/);
    assert.ok(existsSync(folder));
    process.kill(demo.pid, 'SIGTERM');
    const [code] = await once(demo, 'exit');
    assert.equal(code, 0, said);
    assert.ok(!existsSync(folder));
    const free = await Promise.all(ports(port).map(isFree));
    assert.deepEqual(ports(port).filter((_, i) => !free[i]), [], 'the ports are free');
  });
});
