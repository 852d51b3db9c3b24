/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- the page's life ---- */

  /** The network came back, the page is looked at again, the machine woke up: do not sit out what is no longer true. */
  function hurry() {
    backoff.hurry();
    membership?.hurry();
  }

  const comeBack = () => { if (wanted && begun) go(); };

  addEventListener('pagehide', halt);
  addEventListener('pageshow', (event) => { if (event.persisted) comeBack(); });
  addEventListener('online', hurry);
  addEventListener('focus', () => { if (turnedAway) comeBack(); }); // it may have been visible all the time, beside the window of the login
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    if (turnedAway) comeBack();
    else hurry();
  });
  document.addEventListener('freeze', halt); // others must not wait for a leader that sleeps
  document.addEventListener('resume', () => { comeBack(); hurry(); });

  function listen(method, fn) {
    const listener = (event) => { if (event.detail.method === method) fn(event.detail, event); };
    document.addEventListener('vault:update', listener);
    return () => document.removeEventListener('vault:update', listener);
  }

  const me = window.vault = Object.freeze({
    tab,
    get page() { return page; },
    get seq() { return seq; },
    get state() { return state; },
    start() { wanted = true; go(); },
    stop() { wanted = false; halt(); },
    /** on('/url', fn): fn({method, type, body, data}, event) for each update of one method.
     * on('feed/method', args, fn): subscribe; fn(rows, {first}) for its rows. @return a function that ends it */
    on(name, ...rest) {
      const fn = rest.pop();
      return name.startsWith('/') ? listen(name, fn) : follow(name, rest[0] ?? {}, fn);
    },
    /** Call a feed's method once. @return a promise of its rows */
    call,
  });

  // After load, and not in its event: the browser would show the page as loading for as long as a poll is held.
  const begin = () => setTimeout(() => {
    begun = true;
    if (wanted) go();
  });
  if (document.readyState === 'complete') begin();
  else addEventListener('load', begin, { once: true });
})();
