/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- sharing: one tab has the connection for all tabs ----
   *
   * The tab that holds the lock is the leader. The others wait for the lock, so it passes on at once when the leader closes, crashes or
   * is frozen. They tell the leader of their pages over a channel. Each tab also holds a lock of its own, by which the leader learns
   * that the tab has gone. Where there are no locks (plain HTTP), each tab has a connection of its own.
   */

  function makeShare() {
    const name = `vault ${credentials} ${new URL('poll', script.src)}`; // pages with and without credentials do not share a connection
    const channel = new BroadcastChannel(name);
    const connections = [];
    const others = new Map(); // tab -> member of a connection, of another tab
    const closing = new AbortController();
    let mine = null;     // this document's member
    let leader = null;   // the nonce of the leading tab, which may be this one
    let term = 0;        // of the leader: later than those of former leaders, which may not know yet that their lock was stolen
    let timer = null;    // of check()
    let asked = false;   // the leader was asked whether it is alive, and has not replied
    let candidacy = null; // the latest request for the lock; earlier ones are obsolete

    const post = (message) => closing.signal.aborted || channel.postMessage({ ...message, sender: tab, term });

    /** Hold a lock until this tab leaves; release it at once if held() returns false. */
    function hold(lock, held, how = { signal: closing.signal }) {
      return navigator.locks.request(lock, how, () => {
        if (closing.signal.aborted || held() === false) return undefined;
        return new Promise((release) => closing.signal.addEventListener('abort', release));
      }).catch(() => {});
    }

    function connect(member) {
      let connection = connections.find((each) => each.takes(member.page));
      if (!connection) connections.push(connection = makeConnection());
      member.connection = connection;
      connection.join(member);
    }

    /* -- the leader -- */

    function lead() {
      leader = tab;
      term = Math.max(term + 1, Date.now());
      clearInterval(timer);
      post({ leads: true });
      connect(mine);
    }

    /** Another tab has stolen the lock, since this one was silent for too long. Become a member of the new leader. */
    function resign() {
      leader = null;
      for (const member of [mine, ...others.values()]) member.connection?.leave(member);
      others.clear();
      compete();
      introduce();
    }

    function admit({ sender, page, seq }) {
      others.get(sender)?.connection.leave(others.get(sender));
      const member = { page, seq, tab: sender, post: (message) => post({ to: sender, page, message }) };
      others.set(sender, member);
      connect(member);
      // The lock is granted when that tab has gone.
      navigator.locks.request(`${name} ${sender}`, { signal: closing.signal }, () => dismiss(sender, member)).catch(() => {});
    }

    function dismiss(sender, member = others.get(sender)) {
      if (!member || others.get(sender) !== member) return;
      others.delete(sender);
      member.connection.leave(member);
    }

    function serve({ sender, page, join, confirm, bye, hurry, ask }) {
      const member = others.get(sender);
      if (ask) post({ to: sender, page, leads: !member, message: {} });
      if (join) admit({ sender, page, ...join });
      else if (bye && member?.page === page) dismiss(sender);
      else if (confirm && member?.page === page) member.connection.confirm(member, confirm.of, confirm.seq);
      else if (hurry) connections.forEach((connection) => connection.hurry());
    }

    /* -- the others -- */

    /** If two tabs claim to lead, the one with the later term does. Messages about the page that this heap showed before (Turbo Drive) are
     * ignored. */
    function follow({ sender, term: its = 0, leads, to = tab, page, message }) {
      if (!(leads || message) || to !== tab || its < term) return;
      leader = sender;
      term = its;
      if (leads) introduce();
      if (!message || page !== mine.page) return;
      asked = false;
      mine.post(message);
    }

    function introduce() {
      asked = false;
      post({ page: mine.page, join: { seq: mine.seq } });
    }

    /** A silent leader may be in a pause, or the machine may have slept. But a leader hangs if it does not reply to a question for longer
     * than any poll takes. */
    function check() {
      if (asked) return compete({ steal: true });
      asked = true;
      return post({ page: mine.page, ask: true });
    }

    function compete(how = { signal: closing.signal }) {
      const latest = candidacy = {};
      clearInterval(timer);
      asked = false;
      timer = setInterval(check, timeout);
      hold(name, () => candidacy === latest && lead(), how).then(() => {
        if (candidacy !== latest || closing.signal.aborted) return;
        if (leader === tab) resign();
        else if (how.steal) compete(); // the lock could not be stolen
      });
    }

    channel.onmessage = ({ data }) => (leader === tab ? serve(data) : follow(data));

    return {
      join(member) {
        mine = member;
        hold(`${name} ${tab}`, () => { // first, since the leader takes a tab without this lock for gone
          compete();
          introduce();
        }).then(() => closing.signal.aborted || lead()); // locks are refused, for instance in sandboxed frames: lead without one
      },
      confirm(of, seq) {
        mine.seq = seq;
        if (leader === tab) mine.connection.confirm(mine, of, seq);
        else post({ page: mine.page, confirm: { of, seq } });
      },
      hurry() {
        if (leader === tab) connections.forEach((connection) => connection.hurry());
        else post({ hurry: true });
      },
      leave() {
        clearInterval(timer);
        if (leader === tab) for (const member of [mine, ...others.values()]) member.connection.leave(member);
        else post({ page: mine.page, bye: true });
        closing.abort();
        channel.close();
      },
    };
  }

  /** A connection for this tab alone. */
  function makeAlone() {
    const connection = makeConnection();
    let mine;
    return {
      join(member) { connection.join(mine = member); },
      confirm(of, seq) { connection.confirm(mine, of, seq); },
      hurry() { connection.hurry(); },
      leave() { connection.leave(mine); },
    };
  }

  const canShare = (page) => navigator.locks && window.BroadcastChannel && /^[\w-]+$/.test(page) &&
    script.dataset.vaultShare !== 'off';

  function openShare(page) {
    try {
      if (canShare(page)) return makeShare();
    } catch { /* the visitor forbids the site to store data, and then Firefox has no channel */ }
    return makeAlone();
  }

