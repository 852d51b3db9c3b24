/* SPDX-License-Identifier: Apache-2.0 */
/* Merges what the page's method has rendered into the page. A region lies between two comments, <!--vault-live NAME--> and
 * <!--/vault-live NAME-->. Nodes that are alike stay, with their listeners and whatever the visitor does in them; above all the form
 * for a comment, which is never touched, and stays below the comment to which comment-reply.js has moved it. */
(() => {
  'use strict';

  const byId = (id) => document.getElementById(id);
  const FORM = 'respond';
  const PLACE = 'wp-temp-form-div'; // stands where the form was while it is elsewhere

  function marks() {
    const found = new Map();
    const comments = document.createTreeWalker(document.body, NodeFilter.SHOW_COMMENT);
    while (comments.nextNode()) found.set(comments.currentNode.data, comments.currentNode);
    return found;
  }

  /* What makes a node the same as another one. The place of the form is the form. */
  const key = (node) => (node.id === PLACE ? FORM : node.id || undefined);

  /* The form is elsewhere, and this is it. */
  const isAway = (node) => node.id === FORM && byId(PLACE) !== null;

  function* siblings(from, end) {
    while (from !== end) {
      const node = from;
      from = from.nextSibling;
      yield node;
    }
  }

  /* The node from `from` to `end` that becomes `next`: the one of the same id or, without, the next of its kind. */
  function counterpart(from, end, next) {
    for (const node of siblings(from, end)) {
      if (isAway(node)) continue;
      if (key(next) !== undefined ? key(node) === key(next) : key(node) === undefined && node.nodeName === next.nodeName) return node;
      if (key(next) === undefined && key(node) !== undefined) return undefined;
    }
    return undefined;
  }

  function alter(node, next) {
    if (key(next) === FORM || node.isEqualNode(next)) return;
    if (node.nodeName !== next.nodeName) {
      node.replaceWith(next);
      return;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) {
      node.data = next.data;
      return;
    }
    for (const { name } of [...node.attributes]) if (!next.hasAttribute(name)) node.removeAttribute(name);
    for (const { name, value } of next.attributes) if (node.getAttribute(name) !== value) node.setAttribute(name, value);
    merge(node, node.firstChild, null, next);
  }

  /* The children of `parent` from `from` to `end` become those of `wanted`. */
  function merge(parent, from, end, wanted) {
    const stays = new Set([...wanted.childNodes].map(key));
    const first = from && from.previousSibling;
    for (const node of siblings(from, end)) {
      if (key(node) !== undefined && !stays.has(key(node)) && !isAway(node)) node.remove();
    }
    let at = first ? first.nextSibling : parent.firstChild;
    for (const next of [...wanted.childNodes]) {
      if (at !== end && isAway(at)) at = at.nextSibling; // it stays behind its comment
      const node = counterpart(at, end, next);
      if (!node) {
        parent.insertBefore(next, at);
      } else if (key(node) === undefined) {
        for (const passed of siblings(at, node)) if (!isAway(passed)) passed.remove();
        at = node.nextSibling;
        alter(node, next);
      } else {
        if (node === at) at = at.nextSibling;
        else parent.insertBefore(node, at);
        alter(node, next);
      }
    }
    for (const node of siblings(at, end)) if (!isAway(node)) node.remove();
  }

  /* If the comment goes that the form is below, the form goes back to its place first, as by a click on "Cancel reply". */
  function bringFormHome(start, wanted) {
    const form = byId(FORM);
    if (!byId(PLACE) || !start.parentNode.contains(form)) return;
    const stays = (node) => !node?.id || wanted.getElementById(node.id);
    if (!stays(form.previousElementSibling) || !stays(form.closest('[id^="comment-"]')) || !wanted.getElementById(FORM)) {
      byId('cancel-comment-reply-link').click();
    }
  }

  document.addEventListener('vault:update', ({ detail: { method, data } }) => {
    if (!/[?&]vault-live=/.test(method)) return;
    const all = marks();
    for (const [name, html] of Object.entries(data)) {
      const [start, end] = [all.get(`vault-live ${name}`), all.get(`/vault-live ${name}`)];
      if (!start || !end || start.parentNode !== end.parentNode) {
        console.warn(`Vault Live: ${name} has changed, and the page has no place for it.`);
        continue;
      }
      const template = document.createElement('template');
      template.innerHTML = html;
      if (name.startsWith('comments-')) bringFormHome(start, template.content);
      merge(start.parentNode, start.nextSibling, end, template.content);
    }
  });
})();
