/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- this document's page ---- */

  const backoff = makeBackoff((next, delay) => running && setState(next, delay));

  function go() {
    if (running || !(given || feeds.size)) return; // without a page and subscriptions there is nothing to ask for
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
    // The next poll would have said that the last answer arrived. There may be none: say it now.
    if (page && known !== seq) sayLast(address([{ page, seq, tab }], 'ack=1'));
    setState('stopped');
  }

  /** A beacon takes cookies along, to another origin as well. */
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

  /** Somebody asks for the page, this tab or another one, until it is put away or expires. @return a pause, or nothing */
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

  /** 403: the page is another user's, as the visitor has logged out, or in as another user. Other statuses: mod_vault is not there. The page is
   * not asked for again before the visitor looks at it: the right user may be logged in by then, and the server repaired. */
  function turnAway({ why, status }) {
    running = null;
    turnedAway = true;
    membership?.end();
    if (!given) clear(); // its subscriptions will be made anew, for whoever it is
    setState('stopped');
    report(Object.assign(new Error(why), { status }));
  }

  /** An answer that was made from something else than what this document shows would double or lose what is between. */
  function accept(answer) {
    if (answer.from !== seq) return;
    // Stored first: a handler that calls stop() in the middle must acknowledge this answer, not the one before.
    seq = answer.seq;
    answer.updates.forEach(apply);
    answer.refused?.forEach(({ method, status, error }) => report(Object.assign(new Error(error), { status }), method));
  }

  /** 410: the server no longer knows the state of this document. A fresh one is the only way on. */
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
    // A new id that dies at once, too, comes from a server in trouble, or from a page that is wrong: slow down.
    if (succeeded || !(Date.now() - time < RELOAD_PAUSE)) return reload(0);
    setTimeout(reload, Math.min(RELOAD_PAUSE * 2 ** early, RELOAD_MAX) * (1 + Math.random()), early + 1);
    return undefined;
  }

  function lastReload() {
    try {
      return JSON.parse(sessionStorage.getItem(RELOADED)) ?? {};
    } catch { // storage is forbidden: the kind of navigation has to do
      return performance.getEntriesByType('navigation')[0]?.type === 'reload' ? { page, time: Date.now() } : {};
    }
  }

  function reload(early) {
    try {
      sessionStorage.setItem(RELOADED, JSON.stringify({ page, time: Date.now(), early }));
    } catch { /* see lastReload */ }
    location.reload();
  }

