/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- connections: one request, which polls for several pages ----
   *
   * A member is a page that a connection polls for: {page, tab, seq, post(message)}. `seq` is the answer that its document has applied;
   * the server is told no other. Messages: {answer: {from, seq, updates, refused}}, {expired}, {refused: {why, status}}, {state, delay, answered}, {known: seq}.
   */

  let streams = mayStream(); // try streams

  /** Over HTTP/2 a stream would hold a thread of the server, and the limit of six connections, which HTTP/1.1 has, does not exist. */
  function mayStream() {
    if (script.dataset.vaultStream === 'off') return false;
    const [entry] = performance.getEntriesByName(script.src).concat(performance.getEntriesByType('navigation'));
    if (/^h[23]/.test(entry?.nextHopProtocol ?? '')) return false;
    try {
      return !sessionStorage.getItem(POLLS);
    } catch { // storage is forbidden: try streams once in each document
      return true;
    }
  }

  /** A proxy buffers answers until they are complete: use plain polls in this tab from now on. */
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

  /** mod_vault answers a poll with JSON, with 204, or with an error status, but never with 404, an HTML page or a redirect. */
  function isForeign(response) {
    const json = /^application\/json\b/i.test(response.headers.get('Content-Type'));
    return response.redirected || response.status === 404 || (response.status === 200 && !json);
  }

  /** A member whose last answer is not confirmed must not be polled for, since it is not known what its document shows. */
  const isFree = (member) => member.sent === undefined;
  const isReady = (member) => isFree(member) && !(member.until > Date.now());

  function makeConnection() {
    const members = new Map(); // page -> member
    let runs = false;
    let live = null;    // the state last posted to the members
    let flight = null;  // {abort, since, heard, asked, tips: page -> seq} of the pending request
    let empties = 0;    // consecutive quick empty answers
    let foreigners = 0; // consecutive answers that are not mod_vault's
    let gathering = null; // a timer
    let ackTimer = null;
    let acking = false;
    let plain = false;  // a stream has not begun, and a plain answer has arrived since
    const backoff = makeBackoff(say);

    function say(state, delay, answered) {
      if (state === live && delay === undefined && !answered) return;
      live = state;
      for (const member of members.values()) member.post({ state, delay, answered });
    }

    function success() {
      backoff.succeed();
      say('waiting', undefined, true);
    }

    async function run() {
      if (runs) return;
      runs = true;
      while (members.size) {
        const asked = await choose();
        const pause = asked.length ? await ask(asked) : { ms: untilReady(), idle: true };
        if (pause && members.size) await backoff.sleep(pause);
      }
      runs = false;
      clearTimeout(ackTimer);
    }

    /** The members to poll for. Waits for a moment until other tabs have confirmed their last answers. */
    async function choose() {
      const until = Date.now() + CONFIRMED;
      while (Date.now() < until && ![...members.values()].every(isFree)) {
        await backoff.sleep({ ms: until - Date.now(), idle: true });
      }
      return [...members.values()].filter(isReady);
    }

    function untilReady() {
      const waits = [...members.values()].filter(isFree).map((member) => member.until - Date.now());
      return Math.max(0, Math.min(timeout, ...waits));
    }

    /** A member has joined, or can be polled for again. */
    function changed() {
      if (runs) backoff.stir();
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
      setTimeout(() => { // the timer may fire slightly early by Date.now()
        if (member.until === until) member.until = 0;
        changed();
      }, ms);
    }

    /** Send one request. @return the pause before the next one {ms, firm}, or undefined: none */
    async function ask(asked) {
      const abort = new AbortController();
      const mine = flight = { abort, since: Date.now(), heard: Date.now(), asked, tips: new Map(asked.map(({ page, seq }) => [page, seq])) };
      const timers = [setTimeout(() => abort.abort(), timeout), setTimeout(() => say('waiting'), HELD_AFTER)];
      const headers = {};
      if (live !== 'waiting') say('connecting');
      if (streams) {
        headers.Accept = 'text/event-stream, application/json;q=0.9';
        timers.push(setTimeout(() => abort.abort(HELLO), HELLO));
      }
      try {
        const response = await request(address(asked), { headers, signal: abort.signal });
        if (/^text\/event-stream/.test(response.headers.get('Content-Type'))) return await listen(response, mine, timers);
        const body = await response.text(); // of errors, too: it frees the connection
        // No await from here to the end of answered(): the page cannot be frozen between "applied" and "stored".
        return abort.signal.aborted ? undefined : answered(response, body);
      } catch (error) {
        if (abort.signal.reason === HELLO) return doubt(asked);
        return abort.signal.aborted ? undefined : backoff.fail();
      } finally {
        timers.forEach(clearTimeout);
        if (flight === mine) flight = null;
      }
    }

    /* -- answers -- */

    function answered(response, body) {
      const [only] = flight.asked;
      if (isForeign(response)) return foreign(response);
      if (response.ok) streams = false; // the server does not stream here
      switch (response.status) {
        case 200: return takeAnswer(body);
        case 204: return noNews(response);
        case 403: return flight.asked.length > 1 ? backoff.fail() : forbidden(only, body);
        case 410: return flight.asked.length > 1 ? backoff.fail() : expire(only);
        case 429:
        case 503: return backoff.fail(retryAfter(response));
        default: return backoff.fail();
      }
    }

    /** A rewrite rule, a front controller, a proxy or a login page has answered instead of mod_vault. That may pass while the server is
     * restarted with another configuration. If it does not, each further poll would only cost the application a 404 page. */
    function foreign(response) {
      if (++foreigners < FOREIGN_MAX) return backoff.fail();
      foreigners = 0;
      const why = `${response.url.split('?')[0]} was answered by something else than mod_vault (status ${response.status}, `
        + `${response.headers.get('Content-Type') ?? 'no type'}): does a rewrite rule, a front controller or a proxy take it?`;
      flight.asked.forEach((member) => refuse(member, why, response.status));
      return undefined;
    }

    function noNews(response) {
      // Repeated immediate empty answers come from a server or proxy that does not hold polls: slow down.
      empties = Date.now() - flight.since < 1000 ? empties + 1 : 0;
      arrived();
      success();
      if (response.headers.has('Vault-Superseded')) return { ms: SUPERSEDED, firm: true };
      return retryAfter(response) ?? brake();
    }

    const brake = () => (empties > EMPTY_MAX ? { ms: jitter(empties - EMPTY_MAX) } : undefined);

    /** The server has received the numbers that the request was sent with. */
    function arrived() {
      foreigners = 0;
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
        return backoff.fail(); // poll with the same seq: the server still has these updates
      }
      arrived();
      const stale = parts.some((part) => part.seq !== undefined && part.seq === flight.tips.get(part.page));
      if (stale) return backoff.fail(); // a cache has repeated an earlier answer
      empties = 0;
      success();
      parts.forEach(take);
      return undefined;
    }

    /** @return a list of {page, seq, updates, refused} or {page, status} */
    function parse(body) {
      const answer = JSON.parse(body);
      const parts = answer?.pages ?? [{ page: flight.asked[0].page, ...answer }];
      if (!Array.isArray(parts) || !parts.every(isPart)) throw new Error('not an answer to a poll');
      return parts;
    }

    function isPart(part) {
      return Number.isSafeInteger(part?.status) ||
        (Number.isSafeInteger(part?.seq) && Array.isArray(part.updates) && Array.isArray(part.refused ?? []));
    }

    /** Handle the part for one page. Its document applies the answer if it shows the state that the answer was made from. */
    function take({ page, seq, updates, refused, status, error, superseded, retry }) {
      const member = members.get(page);
      if (!member || !flight?.asked.includes(member)) return undefined;
      if (status === 410) return expire(member);
      if (status === 403) return refuse(member, error);
      if (superseded) return pauseMember(member, SUPERSEDED);
      if (status) return pauseMember(member, retry > 0 ? asTold(retry * 1000) : BACKOFF_MAX);
      const from = flight.tips.get(page);
      flight.tips.set(page, seq);
      member.sent = seq;
      return member.post({ answer: { from, seq, updates, refused } });
    }

    function expire(member) {
      drop(member);
      return member.post({ expired: true });
    }

    /** A refusal by mod_vault is final; one by a proxy may pass. */
    function forbidden(member, body) {
      const { error } = read({ ok: false, status: 403 }, body);
      return /^\s*\{/.test(body) ? refuse(member, error) : backoff.fail();
    }

    function refuse(member, why, status = 403) {
      drop(member);
      return member.post({ refused: { why: why ?? `status ${status}`, status } });
    }

    /* -- streams -- */

    /** @return the pause before the next request */
    async function listen(response, mine, timers) {
      mine.streams = true;
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
          plain = false;
          idle = setTimeout(() => mine.abort.abort(), timeout); // the server should have sent a keep-alive comment
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

    /** A stream has not begun in time. If the next one does not either, although a plain answer has arrived in between, then the network is not
     * the reason. */
    async function doubt(asked) {
      if (plain) return noStreams();
      plain = await sendAcknowledgement(asked);
      return plain ? undefined : backoff.fail();
    }

    /** A stream that begins is not a success yet. If streams repeatedly end at once, a proxy cuts them: use plain polls. */
    function ended(mine) {
      const short = Date.now() - mine.since < 1000;
      empties = short ? empties + 1 : 0;
      if (!short) backoff.succeed();
      if (empties > EMPTY_MAX) noStreams();
    }

    function takeEvent(block) {
      const data = block.split('\n').filter((line) => line.startsWith('data: ')).map((line) => line.slice(6)).join('\n');
      if (!data || !flight) return;
      const part = readEvent(data);
      take(part);
      backoff.succeed();
      empties = 0;
    }

    function readEvent(data) {
      try {
        const part = JSON.parse(data);
        if (isPart(part)) return part;
        throw new Error('not an event of a stream');
      } catch (error) {
        report(error);
        throw error; // ends the stream; the next one repeats this event
      }
    }

    /** Acknowledge by a separate request: the server sends only so many answers without an acknowledgement. */
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

    /** @return has it arrived? Its connection may be dead without notice, unlike that of the stream. */
    async function sendAcknowledgement(told) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), ACK_LATE);
      const response = await request(address(told, 'ack=1'), { method: 'POST', signal: late.signal }).catch(() => undefined);
      clearTimeout(timer);
      return response?.ok ?? false;
    }

    /** More answers may have arrived since the request was sent. */
    function acknowledged(member, { seq, unacked }) {
      member.unacked = Math.max(0, member.unacked - unacked);
      knows(member, seq);
    }

    function drop(member) {
      if (members.get(member.page) !== member) return;
      members.delete(member.page);
      if (members.size) return;
      flight?.abort.abort();
      backoff.end();
    }

    return {
      /** A page is not polled for twice: the server answers 410 to a duplicated tab. */
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
        if (flight?.streams && isBehind(member)) acknowledgeSoon(member);
        if (of === member.sent || seq !== of) member.sent = undefined;
        if (seq !== of && flight?.asked.includes(member)) flight.abort.abort(); // what comes is not made from what it shows
        else changed();
      },
      /** Do not sit out what is no longer true. */
      hurry() {
        backoff.hurry();
        // Asleep, timers stood still; the server has given this poll up.
        if (flight && Date.now() - flight.heard > timeout) flight.abort.abort();
      },
    };
  }

