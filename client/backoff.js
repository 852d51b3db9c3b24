/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- backoff: how long until the next request ---- */

  // "Full jitter": anywhere between nothing and the bound, so that those who failed together do not return together.
  const jitter = (n) => Math.random() * Math.min(BACKOFF_MAX, BACKOFF * 2 ** n);

  /** Up to a tenth longer than the server asked for, for the same reason. */
  const asTold = (ms) => Math.min(Math.max(ms, 0), PAUSE_MAX) * (1 + Math.random() / 10);

  /** @return the pause that the server asked for, or undefined: "at once" is no pause, and a server that has failed needs one */
  function retryAfter(response) {
    const value = response.headers.get('Retry-After')?.trim();
    if (!value) return undefined;
    const ms = /^\d+$/.test(value) ? value * 1000 : Date.parse(value) - Date.now();
    if (!(ms > 0)) return undefined;
    return { ms: asTold(ms), firm: true };
  }

  /** Pauses {ms, firm, idle}: a firm one is what the server asked for and is kept, others end early when there is hope;
   * an idle one is no failure, only nothing to do. */
  function makeBackoff(say) {
    let nap = null;   // {until, firm, idle, end} of the pause we are in
    let failures = 0; // in a row
    return {
      succeed() { failures = 0; },
      fail(pause = { ms: jitter(failures++) }) {
        say('backing off', pause.ms);
        return pause;
      },
      sleep({ ms, firm, idle }) {
        return new Promise((wake) => {
          const end = () => {
            clearTimeout(timer);
            nap = null;
            wake();
          };
          const timer = setTimeout(end, ms);
          nap = { until: Date.now() + ms, firm, idle, end };
        });
      },
      hurry() { if (nap && (!nap.firm || Date.now() >= nap.until)) nap.end(); },
      stir() { if (nap?.idle) nap.end(); },
      end() { nap?.end(); },
    };
  }

