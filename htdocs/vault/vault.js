/* SPDX-License-Identifier: Apache-2.0 */
/* The browser side of mod_vault: asks the server what is new for this page, and puts what comes back into the document.
 *
 *   <script src="/vault/vault.js" data-vault-page="ID" defer></script>
 *
 * or without an id, where the HTML is a plain file: the server gives one when there is something to subscribe to.
 * docs/client.md is the manual, docs/protocol.md the protocol. The promise kept here: an answer is applied and its seq
 * stored in one task, and an answer is applied only to the state that it was made from. So the document always is the
 * state that `seq` names, and the server, which is told `seq`, knows what this page has seen.
 * No dependencies and no eval; works under `Content-Security-Policy: default-src 'self'`.
 *
 * In parts: patience (pauses between requests), lines (a connection that asks for several pages), sharing (the tabs of
 * one browser choose one that has the line), this document's page, feeds, updates, the page's life.
 */
(() => {
  'use strict';

  const POLL_TIMEOUT = 90_000; // ms; give up a poll that the server forgot; data-vault-timeout (seconds) sets another
  const SETTLED = 500;         // ms; a poll that is out for so long is being held: the page is live
  const HELLO = 5_000;         // ms; a stream that has not begun by then is kept back by somebody in between
  const SUPERSEDED = 1_000;    // ms; pause after another poll took this page's place
  const GATHER = 20;           // ms; tabs that come together are asked for together
  const CONFIRMED = 200;       // ms; so long a poll waits for tabs that have not said yet that they have their answer
  const ACK_AFTER = 1_000;     // ms without an event, and what came is acknowledged; ...
  const ACK_EACH = 4;          // ... or so many answers of one page. The server sends at most eight
  const ACK_AGAIN = 5_000;     // ms; until an acknowledgement that failed is sent again
  const ACK_LATE = 10_000;     // ms; one that has not been answered by then got lost
  const BACKOFF = 500;         // ms; bound of the first pause after a failure, doubled by each further failure ...
  const BACKOFF_MAX = 30_000;  // ms; ... up to this
  const PAUSE_MAX = 3_600_000; // ms; the longest Retry-After that is believed
  const EMPTY_MAX = 5;         // answers "no news" within a second, in a row, before the page slows down by itself
  const PAGES_MAX = 32;        // pages that one poll may ask for
  const RELOAD_PAUSE = 5_000;  // ms; before a page that expired straight after a reload is loaded yet again
  const RELOADED = 'vault-reloaded'; // sessionStorage: the id this tab reloaded from, and when
  const POLLS = 'vault-polls';       // sessionStorage: streams do not come through here

  const script = document.currentScript ?? document.querySelector('script[data-vault-page], script[src$="/vault.js"]');
  if (!script) return console.error('vault: there is no script element that says where the server is');
  const given = script.dataset.vaultPage; // undefined: the HTML is a plain file
  if (window.vault && (!given || window.vault.page === given)) return; // two tags on one page
  window.vault?.stop?.();                                              // a new page in the same heap (Turbo Drive)

  const timeout = script.dataset.vaultTimeout > 0 ? script.dataset.vaultTimeout * 1000 : POLL_TIMEOUT;

  // Of another origin the server gets the visitor's cookies and login only where the page says so, and VaultLongPollOrigin there allows it.
  const credentials = script.dataset.vaultCredentials === 'include' ? 'include' : 'same-origin';

  // One nonce a JavaScript heap. A page back from the back/forward cache keeps it; a duplicated or restored tab has the
  // same HTML but another heap, and by the nonce the server tells them apart: two documents must not share one seq.
  const tab = window.vault?.tab ?? Array.from(crypto.getRandomValues(new Uint8Array(16)),
    (byte) => byte.toString(16).padStart(2, '0')).join('');

  let page = given;     // undefined: none yet, or it has expired
  let seq = 0;          // the answer this document shows; 0 is the HTML itself
  let known = 0;        // the seq of which we know that the server got it
  let state = 'stopped';
  let wanted = true;    // what the author wants; a page that is put away stops without changing it
  let running = null;   // a token for the loop that runs; a loop that finds another one there ends
  let seat = null;      // {leave(), hurry(), end(pause)}: somebody asks for this page
  let asking = null;    // aborts the request for a page
  let succeeded = false; // did this id ever get an answer?
  let begun = false;     // after load
  let turnedAway = false; // by a 403

  let telling = false;   // tell() runs
  const feeds = new Map(); // method -> what follow() makes: the feeds that are subscribed to
  const left = new Set(); // methods that the page has on the server, and that nobody wants any more

  function dispatch(name, detail, cancelable = false) {
    return document.dispatchEvent(new CustomEvent(name, { detail, cancelable }));
  }

  function report(error, method) {
    console.error('vault:', method ?? '', error);
    dispatch('vault:error', { error, method });
  }

  function setState(next, delay) {
    if (next === state && delay === undefined) return;
    state = next;
    dispatch('vault:state', { state, delay });
  }

  function request(url, options) {
    return fetch(url, { cache: 'no-store', credentials, ...options });
  }

  /* ---- patience: how long until the next request ---- */

  // "Full jitter": anywhere between nothing and the bound, so that those who failed together do not return together.
  const jitter = (n) => Math.random() * Math.min(BACKOFF_MAX, BACKOFF * 2 ** n);

  /** Up to a tenth longer than the server asked for, for the same reason. */
  const asTold = (ms) => Math.min(Math.max(ms, 0), PAUSE_MAX) * (1 + Math.random() / 10);

  /** @return the pause that the server asked for, or undefined */
  function retryAfter(response) {
    const value = response.headers.get('Retry-After')?.trim();
    if (!value) return undefined;
    const ms = /^\d+$/.test(value) ? value * 1000 : Date.parse(value) - Date.now();
    if (Number.isNaN(ms)) return undefined;
    return { ms: asTold(ms), firm: true };
  }

  /** Pauses {ms, firm, idle}: a firm one is what the server asked for and is kept, others end early when there is hope;
   * an idle one is no failure, only nothing to do. */
  function makePatience(say) {
    let nap = null;   // {until, firm, idle, end} of the pause we are in
    let failures = 0; // in a row
    return {
      succeed() { failures = 0; },
      backOff(pause = { ms: jitter(failures++) }) {
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

  /* ---- lines: one connection, which asks for several pages ----
   *
   * A member is a page that a line asks for: {page, tab, seq, post(message)}. `seq` is what its document has applied; only that is
   * ever told to the server. Messages: {answer: {from, seq, updates}}, {expired}, {refused: why}, {state, delay, answered}, {known: seq}.
   */

  let streams = mayStream(); // streams are tried

  /** Over HTTP/2 a stream would hold a thread of the server, and the six connections of HTTP/1.1 are no matter. */
  function mayStream() {
    if (script.dataset.vaultStream === 'off') return false;
    const [entry] = performance.getEntriesByName(script.src).concat(performance.getEntriesByType('navigation'));
    if (/^h[23]/.test(entry?.nextHopProtocol ?? '')) return false;
    try {
      return !sessionStorage.getItem(POLLS);
    } catch { // storage is forbidden: it is tried once for each document
      return true;
    }
  }

  /** Somebody in between keeps answers until they are complete. */
  function noStreams() {
    streams = false;
    try {
      sessionStorage.setItem(POLLS, '1');
    } catch { /* see mayStream */ }
  }

  function address(members, more) {
    const url = new URL('poll', script.src);
    const [{ page, seq, tab }] = members;
    const pages = () => members.map((each) => `${each.page}.${each.seq}.${each.tab}`).join();
    url.search = members.length > 1 ? `pages=${pages()}` : new URLSearchParams({ page, seq, tab });
    if (more) url.search += `&${more}`;
    return url;
  }

  /** What was sent and is not yet confirmed: the line must not ask for that page, since it does not know what it shows. */
  const isFree = (member) => member.sent === undefined;
  const isReady = (member) => isFree(member) && !(member.until > Date.now());

  function makeLine() {
    const members = new Map(); // page -> member
    let runs = false;
    let live = null;    // what was last said of the state
    let flight = null;  // {abort, since, heard, asked, tips: page -> seq} of the request that is out
    let empties = 0;    // quick empty answers in a row
    let gathering = null; // a timer
    let ackTimer = null;
    let acking = false;
    const patience = makePatience(say);

    function say(state, delay, answered) {
      if (state === live && delay === undefined && !answered) return;
      live = state;
      for (const member of members.values()) member.post({ state, delay, answered });
    }

    function success() {
      patience.succeed();
      say('waiting', undefined, true);
    }

    async function run() {
      if (runs) return;
      runs = true;
      while (members.size) {
        const asked = await choose();
        const pause = asked.length ? await ask(asked) : { ms: untilReady(), idle: true };
        if (pause && members.size) await patience.sleep(pause);
      }
      runs = false;
      clearTimeout(ackTimer);
    }

    /** Who can be asked for. Other tabs say in a moment that they have what was sent to them. */
    async function choose() {
      const until = Date.now() + CONFIRMED;
      while (Date.now() < until && ![...members.values()].every(isFree)) {
        await patience.sleep({ ms: until - Date.now(), idle: true });
      }
      return [...members.values()].filter(isReady);
    }

    function untilReady() {
      const waits = [...members.values()].filter(isFree).map((member) => member.until - Date.now());
      return Math.max(0, Math.min(timeout, ...waits));
    }

    /** Somebody came, or may be asked for again. */
    function changed() {
      if (runs) patience.stir();
      else run();
      if (flight && [...members.values()].some(isMissed)) gathering ??= setTimeout(askAnew, GATHER);
    }

    const isMissed = (member) => isReady(member) && !flight.asked.includes(member);

    function askAnew() {
      gathering = null;
      if (flight && [...members.values()].some(isMissed)) flight.abort.abort();
    }

    function pauseMember(member, ms) {
      const until = member.until = Date.now() + ms;
      setTimeout(() => { // which may be a little early by that clock
        if (member.until === until) member.until = 0;
        changed();
      }, ms);
    }

    /** One request. @return the pause before the next {ms, firm}, or nothing: at once */
    async function ask(asked) {
      const abort = new AbortController();
      const mine = flight = { abort, since: Date.now(), heard: Date.now(), asked, tips: new Map(asked.map(({ page, seq }) => [page, seq])) };
      const timers = [setTimeout(() => abort.abort(), timeout), setTimeout(() => say('waiting'), SETTLED)];
      const headers = {};
      if (live !== 'waiting') say('connecting');
      if (streams) {
        headers.Accept = 'text/event-stream, application/json;q=0.9';
        timers.push(setTimeout(() => { noStreams(); abort.abort(); }, HELLO));
      }
      try {
        const response = await request(address(asked), { headers, signal: abort.signal });
        if (/^text\/event-stream/.test(response.headers.get('Content-Type'))) return await listen(response, mine, timers);
        const body = await response.text(); // also of errors: it gives the connection back
        // From here to the end of answered() nothing waits: the page cannot be put away between "applied" and "stored".
        return abort.signal.aborted ? undefined : answered(response, body);
      } catch (error) {
        return abort.signal.aborted ? undefined : patience.backOff();
      } finally {
        timers.forEach(clearTimeout);
        if (flight === mine) flight = null;
      }
    }

    /* -- answers -- */

    function answered(response, body) {
      const [only] = flight.asked;
      if (response.ok) streams = false; // it does not stream here
      switch (response.status) {
        case 200: return takeAnswer(body);
        case 204: return noNews(response);
        case 403: return flight.asked.length > 1 ? patience.backOff() : forbidden(only, body);
        case 410: return flight.asked.length > 1 ? patience.backOff() : expire(only);
        case 429:
        case 503: return patience.backOff(retryAfter(response));
        default: return patience.backOff();
      }
    }

    function noNews(response) {
      // Empty answers at once, again and again, come from a server or proxy that does not hold polls: spare it.
      empties = Date.now() - flight.since < 1000 ? empties + 1 : 0;
      arrived();
      success();
      if (response.headers.has('Vault-Superseded')) return { ms: SUPERSEDED, firm: true };
      return retryAfter(response) ?? brake();
    }

    const brake = () => (empties > EMPTY_MAX ? { ms: jitter(empties - EMPTY_MAX) } : undefined);

    /** The server has got the numbers that were asked with. */
    function arrived() {
      for (const member of flight.asked) knows(member, flight.tips.get(member.page));
    }

    function knows(member, seq) {
      if (member.known !== seq) member.post({ known: member.known = seq });
    }

    function takeAnswer(body) {
      let parts;
      try {
        parts = parse(body);
      } catch (error) {
        report(error);
        return patience.backOff(); // same seq again: the server still has these updates
      }
      arrived();
      const stale = parts.some((part) => part.seq !== undefined && part.seq === flight.tips.get(part.page));
      if (stale) return patience.backOff(); // a cache repeats what we have
      empties = 0;
      success();
      parts.forEach(take);
      return undefined;
    }

    /** @return a list of {page, seq, updates} or {page, status} */
    function parse(body) {
      const answer = JSON.parse(body);
      const parts = answer?.pages ?? [{ page: flight.asked[0].page, ...answer }];
      if (!Array.isArray(parts) || !parts.every(isPart)) throw new Error('not an answer to a poll');
      return parts;
    }

    function isPart(part) {
      return Number.isSafeInteger(part?.status) || (Number.isSafeInteger(part?.seq) && Array.isArray(part.updates));
    }

    /** What is said of one page. Its document applies it if it shows what the answer was made from. */
    function take({ page, seq, updates, status, error, superseded, retry }) {
      const member = members.get(page);
      if (!member || !flight?.asked.includes(member)) return undefined;
      if (status === 410) return expire(member);
      if (status === 403) return refuse(member, error);
      if (superseded) return pauseMember(member, SUPERSEDED);
      if (status) return pauseMember(member, retry > 0 ? asTold(retry * 1000) : BACKOFF_MAX);
      const from = flight.tips.get(page);
      flight.tips.set(page, seq);
      member.sent = seq;
      return member.post({ answer: { from, seq, updates } });
    }

    function expire(member) {
      drop(member);
      return member.post({ expired: true });
    }

    /** The server's own word is final; somebody in between may think better of it. */
    function forbidden(member, body) {
      const { error } = read({ ok: false, status: 403 }, body);
      return /^\s*\{/.test(body) ? refuse(member, error) : patience.backOff();
    }

    function refuse(member, why) {
      drop(member);
      return member.post({ refused: why ?? 'status 403' });
    }

    /* -- streams -- */

    /** @return the pause before the next request */
    async function listen(response, mine, timers) {
      arrived();
      try {
        await readStream(response, mine, timers);
      } finally {
        if (!mine.abort.signal.aborted) ended(mine);
      }
      return mine.abort.signal.aborted ? undefined : brake();
    }

    async function readStream(response, mine, timers) {
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      let idle;
      try {
        for (;;) {
          const { done, value } = await reader.read();
          if (done || mine.abort.signal.aborted) return;
          timers.forEach(clearTimeout);
          clearTimeout(idle);
          mine.heard = Date.now();
          idle = setTimeout(() => mine.abort.abort(), timeout); // it should have shown that it is alive
          text += value;
          say('waiting', undefined, true);
          const blocks = text.split('\n\n');
          text = blocks.pop();
          blocks.forEach(takeEvent);
        }
      } finally {
        clearTimeout(idle);
      }
    }

    /** To begin is no success yet. Streams that end or break at once, again and again, are cut by somebody in between: without them, then. */
    function ended(mine) {
      const brief = Date.now() - mine.since < 1000;
      empties = brief ? empties + 1 : 0;
      if (!brief) patience.succeed();
      if (empties > EMPTY_MAX) noStreams();
    }

    function takeEvent(block) {
      const data = block.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6)).join('\n');
      if (!data || !flight) return;
      const part = readEvent(data);
      take(part);
      patience.succeed();
      empties = 0;
      if (part.updates) acknowledgeSoon(members.get(part.page));
    }

    function readEvent(data) {
      try {
        const part = JSON.parse(data);
        if (isPart(part)) return part;
        throw new Error('not an event of a stream');
      } catch (error) {
        report(error);
        throw error; // the stream is asked for again, and this event with it
      }
    }

    /** Beside the stream: the server sends only so many answers of which it does not know that they arrived. */
    function acknowledgeSoon(member) {
      clearTimeout(ackTimer);
      if (member && ++member.unacked >= ACK_EACH) acknowledge();
      else ackTimer = setTimeout(acknowledge, ACK_AFTER);
    }

    const isBehind = (member) => member.seq !== member.known;

    async function acknowledge() {
      const told = [...members.values()].filter(isBehind);
      clearTimeout(ackTimer);
      if (!told.length || acking || !flight) return;
      const said = told.map(({ seq, unacked }) => ({ seq, unacked }));
      acking = true;
      const arrived = await sendAcknowledgement(told);
      acking = false;
      if (arrived) told.forEach((member, i) => acknowledged(member, said[i]));
      const behind = [...members.values()].filter(isBehind);
      if (arrived && behind.some((member) => member.unacked >= ACK_EACH)) acknowledge();
      else if (behind.length) ackTimer = setTimeout(acknowledge, arrived ? ACK_AFTER : ACK_AGAIN);
    }

    /** @return whether it has arrived. The connection that it takes may have died in silence, unlike that of the stream. */
    async function sendAcknowledgement(told) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), ACK_LATE);
      const response = await request(address(told, 'ack=1'), { method: 'POST', signal: late.signal }).catch(() => undefined);
      clearTimeout(timer);
      return response?.ok ?? false;
    }

    /** More may have come while it was on its way. */
    function acknowledged(member, { seq, unacked }) {
      member.unacked = Math.max(0, member.unacked - unacked);
      knows(member, seq);
    }

    function drop(member) {
      if (members.get(member.page) !== member) return;
      members.delete(member.page);
      if (members.size) return;
      flight?.abort.abort();
      patience.end();
    }

    return {
      /** Not twice: a duplicated tab is told by the server that its page is another's. */
      takes(page) { return members.size < PAGES_MAX && !members.has(page); },
      join(member) {
        Object.assign(member, { sent: undefined, until: 0, unacked: 0, known: undefined });
        members.set(member.page, member);
        if (live && runs) member.post({ state: live });
        changed();
      },
      leave: drop,
      /** The document has seen the answer `of`, and shows `seq`. */
      confirm(member, of, seq) {
        if (members.get(member.page) !== member) return;
        member.seq = seq;
        if (of === member.sent || seq !== of) member.sent = undefined;
        if (seq !== of && flight?.asked.includes(member)) flight.abort.abort(); // what comes is not made from what it shows
        else changed();
      },
      /** Do not sit out what is no longer true. */
      hurry() {
        patience.hurry();
        // Asleep, timers stood still; the server has given this poll up.
        if (flight && Date.now() - flight.heard > timeout) flight.abort.abort();
      },
    };
  }

  /* ---- sharing: one tab has the line for all of them ----
   *
   * Whoever holds the lock is the leader; the others wait for it, so that it passes on at once when a tab closes, crashes or is put
   * away. They tell the leader of their pages over a channel. Each holds a lock of its own as well, by which the leader learns
   * that it has gone. Where there are no locks (plain HTTP) each tab has a line of its own.
   */

  function makeShare() {
    const name = `vault ${credentials} ${new URL('poll', script.src)}`; // who may send no cookies is not to be sent with them
    const channel = new BroadcastChannel(name);
    const lines = [];
    const others = new Map(); // tab -> member of a line, of another tab
    const closing = new AbortController();
    let mine = null;   // this document's member
    let leader = null; // the tab that leads; this tab's nonce: this one
    let watch = null;    // a timer
    let asked = false;   // the leader was asked whether it is there, and has not said so
    let standing = null; // the latest request for the lock: of an earlier one nothing is wanted any more

    const post = (message) => closing.signal.aborted || channel.postMessage({ ...message, sender: tab });

    /** Hold a lock until this tab leaves; not at all when held() says false. */
    function hold(lock, held, how = { signal: closing.signal }) {
      return navigator.locks.request(lock, how, () => {
        if (closing.signal.aborted || held() === false) return undefined;
        return new Promise((release) => closing.signal.addEventListener('abort', release));
      }).catch(() => {});
    }

    function lineFor(member) {
      let line = lines.find((each) => each.takes(member.page));
      if (!line) lines.push(line = makeLine());
      member.line = line;
      line.join(member);
    }

    /* -- the leader -- */

    function lead() {
      leader = tab;
      clearInterval(watch);
      post({ leads: true });
      lineFor(mine);
    }

    /** Another tab took over: this one did not answer for long, and what that one said meanwhile it took for a member's. Who believes
     * that this one leads, as two may have taken the lock one after the other, is told better. */
    function step() {
      leader = null;
      for (const member of [mine, ...others.values()]) member.line?.leave(member);
      others.clear();
      post({ steps: true });
      stand();
      introduce();
    }

    function admit({ sender, page, seq }) {
      others.get(sender)?.line.leave(others.get(sender));
      const member = { page, seq, tab: sender, post: (message) => post({ to: sender, page, message }) };
      others.set(sender, member);
      lineFor(member);
      // It is granted when that tab has gone.
      navigator.locks.request(`${name} ${sender}`, { signal: closing.signal }, () => dismiss(sender, member)).catch(() => {});
    }

    function dismiss(sender, member = others.get(sender)) {
      if (!member || others.get(sender) !== member) return;
      others.delete(sender);
      member.line.leave(member);
    }

    function serve({ sender, page, join, confirm, bye, hurry, ask }) {
      const member = others.get(sender);
      if (ask) post({ to: sender, page, leads: !member, message: {} });
      if (join) admit({ sender, page, ...join });
      else if (bye && member?.page === page) dismiss(sender);
      else if (confirm && member?.page === page) member.line.confirm(member, confirm.of, confirm.seq);
      else if (hurry) lines.forEach((line) => line.hurry());
    }

    /* -- the others -- */

    /** What the leader still had to say of the page that this heap showed before (Turbo Drive) is not for this one. */
    function follow({ sender, leads, steps, to, page, message }) {
      const isLeader = (leader ?? sender) === sender;
      if (leads && (to ? to === tab && isLeader : true)) {
        leader = sender;
        introduce();
      } else if (steps && leader === sender) {
        leader = null;
        introduce();
      }
      if (to !== tab || page !== mine.page || !isLeader) return;
      leader = sender;
      asked = false;
      mine.post(message);
    }

    function introduce() {
      asked = false;
      post({ page: mine.page, join: { seq: mine.seq } });
    }

    /** A leader that says nothing may be pausing, and when the machine has slept all of them were silent. One that does not answer a
     * question for longer than any poll may take hangs. */
    function look() {
      if (asked) return stand({ steal: true });
      asked = true;
      return post({ page: mine.page, ask: true });
    }

    function stand(how = { signal: closing.signal }) {
      const request = standing = {};
      clearInterval(watch);
      asked = false;
      if (!how.steal) watch = setInterval(look, timeout);
      hold(name, () => standing === request && lead(), how).then(() => {
        if (standing === request && leader === tab && !closing.signal.aborted) step();
      });
    }

    channel.onmessage = ({ data }) => (leader === tab ? serve(data) : follow(data));

    return {
      join(member) {
        mine = member;
        hold(`${name} ${tab}`, () => { // first: before that the leader would take this tab for gone
          stand();
          introduce();
        });
      },
      confirm(of, seq) {
        mine.seq = seq;
        if (leader === tab) mine.line.confirm(mine, of, seq);
        else post({ page: mine.page, confirm: { of, seq } });
      },
      hurry() {
        if (leader === tab) lines.forEach((line) => line.hurry());
        else post({ hurry: true });
      },
      leave() {
        clearInterval(watch);
        if (leader === tab) for (const member of [mine, ...others.values()]) member.line.leave(member);
        else post({ page: mine.page, bye: true });
        closing.abort();
        channel.close();
      },
    };
  }

  /** Without others to share with. */
  function makeAlone() {
    const line = makeLine();
    let mine;
    return {
      join(member) { line.join(mine = member); },
      confirm(of, seq) { line.confirm(mine, of, seq); },
      hurry() { line.hurry(); },
      leave() { line.leave(mine); },
    };
  }

  const canShare = (page) => navigator.locks && window.BroadcastChannel && /^[\w-]+$/.test(page) &&
    script.dataset.vaultShare !== 'off';

  /* ---- this document's page ---- */

  const patience = makePatience((next, delay) => running && setState(next, delay));

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
    patience.end();
    seat?.end();
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
      if (pause && token === running) await patience.sleep(pause);
    }
  }

  /** Somebody asks for the page, this tab or another one, until it is put away or expires. @return a pause, or nothing */
  function live() {
    return new Promise((over) => {
      const share = canShare(page) ? makeShare() : makeAlone();
      const mine = seat = {
        hurry: share.hurry,
        end(pause) {
          if (seat === mine) seat = null;
          share.leave();
          over(pause);
        },
      };
      share.join({ page, seq, tab, post: (message) => { if (seat === mine) receive(message, share); } });
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

  /** 403: the page is another user's, as the visitor has logged out, or in as somebody else. It is not asked for again before somebody
   * looks at it, who may be the right one by then. */
  function turnAway(why) {
    running = null;
    turnedAway = true;
    seat?.end();
    if (!given) clear(); // its subscriptions will be made anew, for whoever it is
    setState('stopped');
    report(Object.assign(new Error(why), { status: 403 }));
  }

  /** An answer that was made from something else than what this document shows would double or lose what is between. */
  function accept(answer) {
    if (answer.from !== seq) return;
    // Stored first: a handler that calls stop() in the middle must acknowledge this answer, not the one before.
    seq = answer.seq;
    answer.updates.forEach(apply);
  }

  /** 410: the server no longer knows the state of this document. A fresh one is the only way on. */
  function expire() {
    if (!given) return seat?.end(forget());
    wanted = false;
    running = null;
    seat?.end();
    setState('stopped');
    const { page: last, time } = lastReload();
    const again = !succeeded && last === page;
    if (!dispatch('vault:expired', { page, again }, true)) return undefined;
    if (again) return report(new Error('expired, and reloading brought the same page id: the HTML comes from a cache'));
    // A new id that dies at once, too, comes from a server in trouble: slow down.
    if (!succeeded && Date.now() - time < RELOAD_PAUSE) setTimeout(reload, RELOAD_PAUSE * (1 + Math.random()));
    else reload();
    return undefined;
  }

  function lastReload() {
    try {
      return JSON.parse(sessionStorage.getItem(RELOADED)) ?? {};
    } catch { // storage is forbidden: the kind of navigation has to do
      return performance.getEntriesByType('navigation')[0]?.type === 'reload' ? { page, time: Date.now() } : {};
    }
  }

  function reload() {
    try {
      sessionStorage.setItem(RELOADED, JSON.stringify({ page, time: Date.now() }));
    } catch { /* see lastReload */ }
    location.reload();
  }

  /* ---- feeds: what a document subscribes to by itself ---- */

  function locate(name) {
    if (!/^[\w-]+\/[\w-]+$/.test(name)) throw new TypeError(`vault: "${name}" is not FEED/METHOD`);
    return new URL(`feed/${name}`, script.src);
  }

  /** {where: {status: 404}} -> where.status=404 */
  function flatten(args, params = new URLSearchParams(), prefix = '') {
    for (const [key, value] of Object.entries(args)) {
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
      return token === running ? patience.backOff() : undefined;
    } finally {
      clearTimeout(timer);
      if (asking === abort) asking = null;
    }
  }

  function entered(response, body, add) {
    const answer = read(response, body);
    if (isPassing(answer.status)) return patience.backOff(retryAfter(response));
    page = answer.page;
    seq = known = 0;
    succeeded = false;
    settle(answer, add);
    if (!page) return patience.backOff();
    patience.succeed();
    return undefined;
  }

  /** What the server says of these methods, which now are the page's, or never will be. */
  function settle({ updates = [], refused = [], error, status }, add) {
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
    settle(answer.status === 410 ? {} : answer, change.add); // the poll hears 410, too, and begins anew
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
    if (dispatch('vault:expired', { page: last, again: false }, true)) return succeeded ? undefined : patience.backOff();
    wanted = false;
    return halt();
  }

  async function call(name, args = {}) {
    const response = await request(locate(name), { method: 'POST', body: flatten(args) });
    const body = await response.text();
    if (response.ok) return JSON.parse(body);
    const { status, error } = read(response, body);
    throw Object.assign(new Error(error), { status });
  }

  /* ---- updates ---- */

  /** One update. It may fail; the others and seq go on, else one bad method would stop the page for good. */
  function apply(update) {
    try {
      const { method, type, body, format } = update;
      const kind = type.split(';')[0].trim().toLowerCase();
      const data = /^application\/(.+\+)?json$/.test(kind) ? JSON.parse(body) : undefined;
      if (!dispatch('vault:update', { method, type, body, data, format }, true)) return;
      if (format === 'htmx') applyHtmx(body, method);
      else if (kind === 'text/html') applyHtml(body, method);
      dispatch('vault:applied', { method, type });
    } catch (error) {
      report(error, update?.method);
    }
  }

  // Scripts in here do not run: the parser of fragments marks them as done. It stays so: data that slip into an update
  // unescaped must not become code, and a page must not grow handlers with every answer. Listen to vault:applied.
  function applyHtml(html, method) {
    const template = document.createElement('template');
    template.innerHTML = html;
    const turbo = customElements.get('turbo-stream'); // Hotwire is here: its elements act when they are connected
    for (const stream of template.content.querySelectorAll('turbo-stream')) {
      try {
        if (turbo) document.documentElement.append(document.importNode(stream, true));
        else act(stream);
      } catch (error) {
        report(error, method);
      }
    }
  }

  // Out-of-band swaps are htmx's own work, with its events, and its attributes in what is new.
  function applyHtmx(text, method) {
    const { htmx } = window;
    const target = document.body;
    if (!htmx?.swap) throw new Error('an update for htmx, which is not on this page, or older than its version 2');
    if (htmx.swap.length > 1) htmx.swap(target, text, { swapStyle: 'none', swapDelay: 0, settleDelay: 20 });
    else htmx.swap({ sourceElement: target, target, text, swap: 'none' }).catch((error) => report(error, method));
  }

  const actions = {
    append: (target, content) => { dropDoubles(target, content); target.append(content); },
    prepend: (target, content) => { dropDoubles(target, content); target.prepend(content); },
    replace: (target, content) => target.replaceWith(content),
    update: (target, content) => target.replaceChildren(content),
    remove: (target) => target.remove(),
    before: (target, content) => target.before(content),
    after: (target, content) => target.after(content),
  };

  function act(stream) {
    const name = stream.getAttribute('action');
    if (name === 'refresh') return location.reload();
    if (!Object.hasOwn(actions, name)) throw new Error(`unknown action "${name}"`);
    const template = stream.querySelector(':scope > template');
    if (!template && name !== 'remove') throw new Error(`turbo-stream ${name} without a template`);
    for (const target of targets(stream, name)) {
      actions[name](target, template && document.importNode(template.content, true));
    }
  }

  function targets(stream, name) {
    const selector = stream.getAttribute('targets');
    if (selector) return document.querySelectorAll(selector);
    const id = stream.getAttribute('target');
    const element = document.getElementById(id);
    if (!element && name !== 'remove') throw new Error(`no element with the id "${id}" to ${name}`);
    return element ? [element] : [];
  }

  // As Hotwire has it: a child that comes again, by id, takes the old one's place at the new end.
  function dropDoubles(target, content) {
    const ids = new Set(Array.from(content.children, (child) => child.id).filter(Boolean));
    for (const child of [...target.children]) if (ids.has(child.id)) child.remove();
  }

  /* ---- the page's life ---- */

  /** The network came back, the page is looked at again, the machine woke up: do not sit out what is no longer true. */
  function hurry() {
    patience.hurry();
    seat?.hurry();
  }

  const comeBack = () => { if (wanted && begun) go(); };

  addEventListener('pagehide', halt);
  addEventListener('pageshow', (event) => { if (event.persisted) comeBack(); });
  addEventListener('online', hurry);
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

  window.vault = Object.freeze({
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
