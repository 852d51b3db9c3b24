/* SPDX-License-Identifier: Apache-2.0 */
  /* ---- updates ---- */

  const HTML = ['text/html', 'text/vnd.turbo-stream.html']; // turbo-stream elements; the Turbo integrations of frameworks send the second type

  /** Apply one update. If it fails, the others are applied all the same: one bad method must not stop the page. */
  function apply(update) {
    try {
      const { method, type, body, format } = update;
      const kind = type.split(';')[0].trim().toLowerCase();
      const data = /^application\/(.+\+)?json$/.test(kind) ? JSON.parse(body) : undefined;
      if (!dispatch('vault:update', { method, type, body, data, format }, true)) return;
      if (format === 'htmx') applyHtmx(body, method);
      else if (HTML.includes(kind)) applyHtml(body, method);
      dispatch('vault:applied', { method, type });
    } catch (error) {
      report(error, update?.method);
    }
  }

  // Scripts in the HTML do not run, since the fragment parser marks them as already started. That is intended: unescaped data in
  // an update must not become code, and a page must not add handlers with every answer. Listen to vault:applied instead.
  function applyHtml(html, method) {
    const template = document.createElement('template');
    template.innerHTML = html;
    const turbo = customElements.get('turbo-stream'); // with Hotwire, its elements act when they are connected
    for (const stream of template.content.querySelectorAll('turbo-stream')) {
      try {
        if (turbo) document.documentElement.append(document.importNode(stream, true));
        else act(stream);
      } catch (error) {
        report(error, method);
      }
    }
  }

  // htmx itself does out-of-band swaps, with its events, and processes its attributes in the new content.
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

  // As in Hotwire: a new child replaces an old one with the same id, and is added at the new position.
  function dropDoubles(target, content) {
    const ids = new Set(Array.from(content.children, (child) => child.id).filter(Boolean));
    for (const child of [...target.children]) if (ids.has(child.id)) child.remove();
  }

