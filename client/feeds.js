/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- feeds: subscriptions by scripts ---- */

  function locate(name) {
    if (!/^[\w-]+\/[\w-]+$/.test(name)) throw new TypeError(`vault: "${name}" is not FEED/METHOD`);
    return new URL(`feed/${name}`, script.src);
  }

  /** {where: {status: 404}} -> where.status=404 */
  function flatten(args, params = new URLSearchParams(), prefix = '') {
    for (const [key, given] of Object.entries(args)) {
      const value = given?.toJSON ? given.toJSON() : given; // a Date becomes a string
      if (value === null) throw new TypeError(`vault: the argument ${prefix}${key} is null, which a URL cannot say`);
      if (typeof value === 'object') flatten(value, params, `${prefix}${key}.`);
      else if (value !== undefined) params.append(prefix + key, value);
    }
    return params;
  }

  /** Two subscriptions to the same call are two methods, so that each gets a first view. */
  function nameMethod(name, args) {
    const first = `${locate(name).pathname}?${flatten(args)}`;
    let method = first;
    for (let n = 2; feeds.has(method) || left.has(method); n++) method = `${first}&=${n}`;
    return method;
  }

  function follow(name, args, fn) {
    const feed = { method: nameMethod(name, args), first: true, joined: false };
    const ready = new Promise((resolve, reject) => Object.assign(feed, { resolve, reject }));
    ready.catch(() => {}); // code that does not use the promise can listen to vault:error
    feed.unlisten = listen(feed.method, ({ data, format }) => {
      if (window.vault !== me) return; // a new page in the same heap (Turbo Drive) may have the same feed
      const first = feed.first || format === 'first';
      feed.first = false;
      feed.resolve(data);
      fn(data, { first });
    });
    feeds.set(feed.method, feed);
    if (running) tell();
    else if (begun && wanted) go();
    return Object.assign(() => unfollow(feed), { ready });
  }

  function unfollow(feed) {
    if (feeds.get(feed.method) !== feed) return;
    feed.unlisten();
    feeds.delete(feed.method);
    if (feed.joined) left.add(feed.method);
    if (given || feeds.size) tell();
    else halt();
  }

  const pageRequest = (body) => [new URL('page', script.src),
    { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }];

  const isPassing = (status) => status === 408 || status === 429 || status >= 500;

  /** Request a page for all subscriptions; the answer has their first views. @return a pause, or undefined */
  async function enter(token) {
    const add = [...feeds.keys()];
    const abort = asking = new AbortController();
    const [url, options] = pageRequest({ add });
    const timer = setTimeout(() => abort.abort(), timeout);
    if (state !== 'waiting') setState('connecting');
    try {
      const response = await request(url, { ...options, signal: abort.signal });
      const body = await response.text();
      return abort.signal.aborted || token !== running ? undefined : entered(response, body, add);
    } catch (error) {
      return token === running ? backoff.fail() : undefined;
    } finally {
      clearTimeout(timer);
      if (asking === abort) asking = null;
    }
  }

  function entered(response, body, add) {
    const answer = read(response, body);
    if (isPassing(answer.status)) return backoff.fail(retryAfter(response));
    page = answer.page;
    seq = known = 0;
    succeeded = false;
    applyReply(answer, add);
    if (!page) return backoff.fail();
    backoff.succeed();
    return undefined;
  }

  /** Apply the server's reply about these methods, which the page has now, or which were refused. */
  function applyReply({ updates = [], refused = [], error, status }, add) {
    for (const method of add) {
      if (feeds.has(method)) feeds.get(method).joined = true;
      else left.add(method); // it was unsubscribed meanwhile
    }
    updates.forEach(apply);
    if (error) add.forEach((method) => refuse({ method, error, status }));
    refused.forEach(refuse);
    tell();
  }

  /** A method that is wrong (4xx) ends; for another one (503), a poll brings its first rows. */
  function refuse({ method, error, status }) {
    const feed = feeds.get(method);
    const reason = Object.assign(new Error(error), { status });
    if (feed && status < 500) {
      unfollow(feed);
      feed.reject(reason);
    }
    if (status < 500) left.delete(method); // the page does not have it
    if (feed) report(reason, method);
  }

  /** The body of an answer, its status, and an error if it is not a success. */
  function read({ ok, status }, body) {
    const error = ok ? undefined : `status ${status}`;
    try {
      return { error, ...JSON.parse(body), status };
    } catch {
      return { error, status: ok ? 502 : status }; // no JSON: a proxy has answered
    }
  }

  /** Tell the server which methods were added and removed since the page was created. All changes of one task are one request. */
  async function tell() {
    if (telling) return;
    telling = true;
    await undefined;
    for (let failed = 0; running && page;) {
      const add = [...feeds.values()].filter((feed) => !feed.joined).map((feed) => feed.method);
      if (!add.length && !left.size) break;
      const again = await amend({ page, add, remove: [...left] }).catch(() => ({}));
      if (again) await new Promise((wake) => setTimeout(wake, again.ms ?? jitter(failed++)));
    }
    telling = false;
  }

  /** @return undefined; or {} if it has to be repeated, {ms} after the pause that the server asked for */
  async function amend(change) {
    const response = await request(...pageRequest(change));
    const answer = read(response, await response.text());
    if (isPassing(answer.status)) return retryAfter(response) ?? {};
    if (page !== change.page) return undefined;
    change.remove.forEach((method) => left.delete(method));
    applyReply(answer.status === 410 ? {} : answer, change.add); // the poll gets 410, too, and begins again
    return undefined;
  }

  function clear() {
    page = undefined;
    seq = known = 0;
    left.clear();
    for (const feed of feeds.values()) Object.assign(feed, { first: true, joined: false });
  }

  /** 410 for a page of subscriptions: create another one, with first views for all. */
  function forget() {
    const last = page;
    clear();
    if (dispatch('vault:expired', { page: last, again: false }, true)) return succeeded ? undefined : backoff.fail();
    wanted = false;
    return halt();
  }

  async function call(name, args = {}) {
    const response = await request(locate(name), { method: 'POST', body: flatten(args) });
    const body = await response.text();
    if (response.ok) return JSON.parse(body);
    const { status, error } = read(response, body);
    const pause = retryAfter(response);
    throw Object.assign(new Error(error), { status }, pause && { retryAfter: Math.ceil(pause.ms) });
  }

