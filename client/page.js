/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- this document's page ---- */

  const backoff = makeBackoff((next, delay) => running && setState(next, delay));

  function go() {
    if (running || !(given || feeds.size)) return; // without a page and without subscriptions there is nothing to poll for
    turnedAway = false;
    setState('connecting');
    run(running = {});
    tell();
  }

  function halt() {
    if (!running) return;
    running = null;
    asking?.abort();
    backoff.end();
    membership?.end();
    // The next poll would acknowledge the last answer, but there may be none: acknowledge it now.
    if (page && known !== seq) sayLast(address([{ page, seq, tab }], 'ack=1'));
    setState('stopped');
  }

  /** A beacon has cookies, even to another origin. */
  function sayLast(url) {
    if (credentials === 'include' || url.origin === location.origin) navigator.sendBeacon(url);
    else request(url, { method: 'POST', keepalive: true }).catch(() => {});
  }

  async function run(token) {
    while (token === running) {
      const pause = await (page ? live() : enter(token));
      if (pause && token === running) await backoff.sleep(pause);
    }
  }

  /** Have the page polled for, by this tab or another one, until it stops or expires. @return a pause, or undefined */
  function live() {
    return new Promise((over) => {
      const share = openShare(page);
      const mine = membership = {
        hurry: share.hurry,
        end(pause) {
          if (membership === mine) membership = null;
          share.leave();
          over(pause);
        },
      };
      share.join({ page, seq, tab, post: (message) => { if (membership === mine) receive(message, share); } });
    });
  }

  function receive({ answer, expired, refused, known: got, state: next, delay, answered }, share) {
    if (got !== undefined) known = got;
    if (answered) succeeded = true;
    if (next) setState(next, delay);
    if (answer) {
      accept(answer);
      share.confirm(answer.seq, seq);
    }
    if (expired) expire();
    if (refused) turnAway(refused);
  }

  /** 403: the page belongs to another user, since the visitor has logged out, or has logged in as another user. Other statuses: the server is
   * not mod_vault. The page is not polled for again before the visitor returns to it. By then the right user may have logged in, or the
   * server may have been repaired. */
  function turnAway({ why, status }) {
    running = null;
    turnedAway = true;
    membership?.end();
    if (!given) clear(); // its subscriptions will be made again, for the user of that time
    setState('stopped');
    report(Object.assign(new Error(why), { status }));
  }

  /** Apply an answer that was made from the state which this document shows. Any other would repeat or lose updates. */
  function accept(answer) {
    if (answer.from !== seq) return;
    // Stored first: if a handler calls stop() meanwhile, that must acknowledge this answer, not the one before.
    seq = answer.seq;
    answer.updates.forEach(apply);
    answer.refused?.forEach(({ method, status, error }) => report(Object.assign(new Error(error), { status }), method));
  }

  /** 410: the server no longer knows the state of this document, so it has to be reloaded. */
  function expire() {
    if (!given) return membership?.end(forget());
    wanted = false;
    running = null;
    membership?.end();
    setState('stopped');
    const { page: last, time, early = 0 } = lastReload();
    const again = !succeeded && last === page;
    if (!dispatch('vault:expired', { page, again }, true)) return undefined;
    if (again) return report(new Error('expired, and reloading brought the same page id: the HTML comes from a cache'));
    // If the new id expires at once, too, the server is in trouble, or the page is wrong: slow down.
    if (succeeded || !(Date.now() - time < RELOAD_PAUSE)) return reload(0);
    setTimeout(reload, Math.min(RELOAD_PAUSE * 2 ** early, RELOAD_MAX) * (1 + Math.random()), early + 1);
    return undefined;
  }

  function lastReload() {
    try {
      return JSON.parse(sessionStorage.getItem(RELOADED)) ?? {};
    } catch { // storage is forbidden: use the type of the navigation
      return performance.getEntriesByType('navigation')[0]?.type === 'reload' ? { page, time: Date.now() } : {};
    }
  }

  function reload(early) {
    try {
      sessionStorage.setItem(RELOADED, JSON.stringify({ page, time: Date.now(), early }));
    } catch { /* see lastReload */ }
    location.reload();
  }

