/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- feeds: what a document subscribes to by itself ---- */

  function locate(name) {
    if (!/^[\w-]+\/[\w-]+$/.test(name)) throw new TypeError(`vault: "${name}" is not FEED/METHOD`);
    return new URL(`feed/${name}`, script.src);
  }

  /** {where: {status: 404}} -> where.status=404 */
  function flatten(args, params = new URLSearchParams(), prefix = '') {
    for (const [key, given] of Object.entries(args)) {
      const value = given?.toJSON ? given.toJSON() : given; // a Date is a text
      if (value === null) throw new TypeError(`vault: the argument ${prefix}${key} is null, which a URL cannot say`);
      if (typeof value === 'object') flatten(value, params, `${prefix}${key}.`);
      else if (value !== undefined) params.append(prefix + key, value);
    }
    return params;
  }

  /** The same call twice is two methods, so that each subscriber gets a first view. */
  function nameMethod(name, args) {
    const first = `${locate(name).pathname}?${flatten(args)}`;
    let method = first;
    for (let n = 2; feeds.has(method) || left.has(method); n++) method = `${first}&=${n}`;
    return method;
  }

  function follow(name, args, fn) {
    const feed = { method: nameMethod(name, args), first: true, joined: false };
    const ready = new Promise((resolve, reject) => Object.assign(feed, { resolve, reject }));
    ready.catch(() => {}); // who does not look at it hears vault:error
    feed.unlisten = listen(feed.method, ({ data, format }) => {
      if (window.vault !== me) return; // a page that took over (Turbo Drive) has the same feed
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

  /** A page for all the subscriptions: their first views come with it. @return a pause, or nothing */
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

  /** What the server says of these methods, which now are the page's, or never will be. */
  function applyReply({ updates = [], refused = [], error, status }, add) {
    for (const method of add) {
      if (feeds.has(method)) feeds.get(method).joined = true;
      else left.add(method); // it went meanwhile
    }
    updates.forEach(apply);
    if (error) add.forEach((method) => refuse({ method, error, status }));
    refused.forEach(refuse);
    tell();
  }

  /** One that is wrong (4xx) ends; another one (503) waits for a poll to bring its first rows. */
  function refuse({ method, error, status }) {
    const feed = feeds.get(method);
    const reason = Object.assign(new Error(error), { status });
    if (feed && status < 500) {
      unfollow(feed);
      feed.reject(reason);
    }
    if (status < 500) left.delete(method); // it never was the page's
    if (feed) report(reason, method);
  }

  /** What an answer says, its status, and if that is no success an error. */
  function read({ ok, status }, body) {
    const error = ok ? undefined : `status ${status}`;
    try {
      return { error, ...JSON.parse(body), status };
    } catch {
      return { error, status: ok ? 502 : status }; // no JSON: somebody in between has answered
    }
  }

  /** Tell the server who came and who went since the page was made; in one request what happens in one task. */
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

  /** @return nothing, or that it is to be said again: {}, or {ms} as the server asked for */
  async function amend(change) {
    const response = await request(...pageRequest(change));
    const answer = read(response, await response.text());
    if (isPassing(answer.status)) return retryAfter(response) ?? {};
    if (page !== change.page) return undefined;
    change.remove.forEach((method) => left.delete(method));
    applyReply(answer.status === 410 ? {} : answer, change.add); // the poll hears 410, too, and begins anew
    return undefined;
  }

  function clear() {
    page = undefined;
    seq = known = 0;
    left.clear();
    for (const feed of feeds.values()) Object.assign(feed, { first: true, joined: false });
  }

  /** 410 for a page that was made here: another one takes its place, and all views begin anew. */
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

