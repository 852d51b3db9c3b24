/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- visibility: events of the browser, and the public interface ---- */

  /** The network is back, the page is visible again, or the machine woke up: end a pause whose reason may be gone. */
  function hurry() {
    backoff.hurry();
    membership?.hurry();
  }

  const comeBack = () => { if (wanted && begun) go(); };

  addEventListener('pagehide', halt);
  addEventListener('pageshow', (event) => { if (event.persisted) comeBack(); });
  addEventListener('online', hurry);
  addEventListener('focus', () => { if (turnedAway) comeBack(); }); // the page may have stayed visible beside the window of the login
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) return;
    if (turnedAway) comeBack();
    else hurry();
  });
  document.addEventListener('freeze', halt); // other tabs must not wait for a frozen leader
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
     * on('feed/method', args, fn): subscribe; fn(rows, {first}) for its rows. @return a function that ends the subscription */
    on(name, ...rest) {
      const fn = rest.pop();
      return name.startsWith('/') ? listen(name, fn) : follow(name, rest[0] ?? {}, fn);
    },
    /** Call a feed's method once. @return a promise of its rows */
    call,
  });

  // After the load event, not in it: otherwise the browser would show the page as loading while a poll is held.
  const begin = () => setTimeout(() => {
    begun = true;
    if (wanted) go();
  });
  if (document.readyState === 'complete') begin();
  else addEventListener('load', begin, { once: true });
})();
