/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- backoff: how long until the next request ---- */

  // "Full jitter": a random time up to the bound, so that clients that failed together do not retry together.
  const jitter = (n) => Math.random() * Math.min(BACKOFF_MAX, BACKOFF * 2 ** n);

  /** The pause that the server asked for, or up to a tenth longer, so that clients do not retry together. */
  const asTold = (ms) => Math.min(Math.max(ms, 0), PAUSE_MAX) * (1 + Math.random() / 10);

  /** @return the pause of the header Retry-After; undefined if there is none, or it is 0, since a server that has failed needs a pause */
  function retryAfter(response) {
    const value = response.headers.get('Retry-After')?.trim();
    if (!value) return undefined;
    const ms = /^\d+$/.test(value) ? value * 1000 : Date.parse(value) - Date.now();
    if (!(ms > 0)) return undefined;
    return { ms: asTold(ms), firm: true };
  }

  /** Pauses are {ms, firm, idle}. A firm pause was requested by the server and is kept. Others end early by hurry(), when a retry may
   * succeed. An idle pause follows no failure: there is nothing to do. */
  function makeBackoff(say) {
    let nap = null;   // {until, firm, idle, end} of the current pause
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

