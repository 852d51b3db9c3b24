/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- sharing: one tab has the connection for all of them ----
   *
   * Whoever holds the lock is the leader; the others wait for it, so that it passes on at once when a tab closes, crashes or is put
   * away. They tell the leader of their pages over a channel. Each holds a lock of its own as well, by which the leader learns
   * that it has gone. Where there are no locks (plain HTTP) each tab has a connection of its own.
   */

  function makeShare() {
    const name = `vault ${credentials} ${new URL('poll', script.src)}`; // who may send no cookies is not to be sent with them
    const channel = new BroadcastChannel(name);
    const connections = [];
    const others = new Map(); // tab -> member of a connection, of another tab
    const closing = new AbortController();
    let mine = null;     // this document's member
    let leader = null;   // the tab that leads; this tab's nonce: this one
    let term = 0;        // of that leader: whoever leads has a later one than those before, who may not know yet that they have been robbed
    let watch = null;    // a timer
    let asked = false;   // the leader was asked whether it is there, and has not said so
    let standing = null; // the latest request for the lock: of an earlier one nothing is wanted any more

    const post = (message) => closing.signal.aborted || channel.postMessage({ ...message, sender: tab, term });

    /** Hold a lock until this tab leaves; not at all when held() says false. */
    function hold(lock, held, how = { signal: closing.signal }) {
      return navigator.locks.request(lock, how, () => {
        if (closing.signal.aborted || held() === false) return undefined;
        return new Promise((release) => closing.signal.addEventListener('abort', release));
      }).catch(() => {});
    }

    function lineFor(member) {
      let connection = connections.find((each) => each.takes(member.page));
      if (!connection) connections.push(connection = makeConnection());
      member.connection = connection;
      connection.join(member);
    }

    /* -- the leader -- */

    function lead() {
      leader = tab;
      term = Math.max(term + 1, Date.now());
      clearInterval(watch);
      post({ leads: true });
      lineFor(mine);
    }

    /** Another tab took over: this one did not answer for long, and what that one said meanwhile it took for a member's. */
    function step() {
      leader = null;
      for (const member of [mine, ...others.values()]) member.connection?.leave(member);
      others.clear();
      stand();
      introduce();
    }

    function admit({ sender, page, seq }) {
      others.get(sender)?.connection.leave(others.get(sender));
      const member = { page, seq, tab: sender, post: (message) => post({ to: sender, page, message }) };
      others.set(sender, member);
      lineFor(member);
      // It is granted when that tab has gone.
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

    /** Of two who say that they lead the later one does. What the leader still had to say of the page that this heap showed before
     * (Turbo Drive) is not for this one. */
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

    /** A leader that says nothing may be pausing, and when the machine has slept all of them were silent. One that does not answer a
     * question for longer than any poll may take hangs. */
    function look() {
      if (asked) return stand({ steal: true });
      asked = true;
      return post({ page: mine.page, ask: true });
    }

    function stand(how = { signal: closing.signal }) {
      const latest = standing = {};
      clearInterval(watch);
      asked = false;
      watch = setInterval(look, timeout);
      hold(name, () => standing === latest && lead(), how).then(() => {
        if (standing !== latest || closing.signal.aborted) return;
        if (leader === tab) step();
        else if (how.steal) stand(); // it was not to be had
      });
    }

    channel.onmessage = ({ data }) => (leader === tab ? serve(data) : follow(data));

    return {
      join(member) {
        mine = member;
        hold(`${name} ${tab}`, () => { // first: before that the leader would take this tab for gone
          stand();
          introduce();
        }).then(() => closing.signal.aborted || lead()); // locks are refused here, as to sandboxed frames: it leads itself
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
        clearInterval(watch);
        if (leader === tab) for (const member of [mine, ...others.values()]) member.connection.leave(member);
        else post({ page: mine.page, bye: true });
        closing.abort();
        channel.close();
      },
    };
  }

  /** Without others to share with. */
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
    } catch { /* the visitor forbids the site to store anything, and Firefox has no channel then */ }
    return makeAlone();
  }

