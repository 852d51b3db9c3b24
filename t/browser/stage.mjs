/* SPDX-License-Identifier: Apache-2.0 */
/* Where each test of vault.js plays: one browser for the file, a fresh site and a fresh user for the test. */
import * as runner from 'node:test';
import { BROWSER, launch, open, Site } from './browser.mjs';

export const LIST = '<ul id="list"><li id="a">a</li><li id="b">b</li></ul>';

export const stage = {
  browser: undefined, // const after before()
  site: undefined,    // with the live page / that shows LIST, its id is id-1
  context: undefined, // one user: pages of it are tabs
  another: undefined, // a second browser, set by a test that needs one

  open(options) {
    return open(stage.context, `${stage.site.url}/`, options);
  },
};

const limit = { timeout: 120_000 };

/** A test in each browser. */
export const everywhere = (name, body) => runner.test(BROWSER === 'chromium' ? name : `${name} (${BROWSER})`, limit, body);

/** A test in one browser. */
export const only = (browser, name, body) => { if (BROWSER === browser) everywhere(name, body); };

/** The same, in Chromium. */
export const test = (name, body) => only('chromium', name, body);

runner.before(async () => { stage.browser = await launch(); });
runner.after(() => stage.browser?.close());

runner.beforeEach(async () => {
  stage.site = await Site.start();
  stage.site.page('/', 'id-1', LIST);
  stage.context = await stage.browser.newContext({ ignoreHTTPSErrors: true });
});

runner.afterEach(async () => {
  await stage.another?.close();
  stage.another = undefined;
  await stage.context.close();
  await stage.site.stop();
});

/* Bodies of answers. */

export const stream = (action, target, content) =>
  `<turbo-stream action="${action}" target="${target}"><template>${content}</template></turbo-stream>`;

export const html = (...body) => ['/m', 'text/html', body.join('')];

export const json = (data, method = '/m') => [method, 'application/json', JSON.stringify(data)];

export const inner = (page, selector) => page.locator(selector).innerHTML();
