// SPDX-License-Identifier: Apache-2.0
// What an application in Node says to mod_vault and hears from it, in one file without dependencies. See README.md.
import {createHash} from 'node:crypto';

export const NOTIFY_URL = 'http://127.0.0.1/vault/notify';

const hex = byte => '%' + byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');

// Percent-encode what `unsafe` matches, or what would be taken for a part of the header.
const encode = (text, unsafe = /[^\x21-\x7e]|[,%]/g) => Buffer.from(text).toString('latin1').replace(unsafe, hex);

// Never throws: bytes that are no UTF-8 become U+FFFD.
const decode = text => Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(parseInt(digits, 16))), 'latin1').toString();

function encodeInterest(name) {
    if (!name || Buffer.byteLength(name) > 200 || name.includes('\0')) {
        throw new TypeError(`the name of an interest has 1 to 200 bytes, and no NUL: ${name}`);
    }
    return encode(name);
}

function checkKey(key) {
    if (!/^[A-Za-z0-9-]+$/.test(key)) {
        throw new TypeError(`the key of a property is made of letters, digits and hyphens: ${key}`);
    }
    return key.toLowerCase();
}

// A redirect is not followed: it would make a GET of a POST.
async function ask(url, options, timeout) {
    try {
        return await fetch(url, {...options, redirect: 'manual', signal: AbortSignal.timeout(timeout)});
    } catch (error) {
        throw new Error(`${url} did not answer: ${error.cause?.message ?? error.message}`, {cause: error});
    }
}

const escapes = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};

/**
 * One request and its answer, of node:http or of Express. What it says is in the headers of the response at once, so it must be said
 * before they are sent. What it reads is httpd's word only behind httpd with mod_vault, which removes such headers of browsers.
 */
export class Vault {
    #request;
    #response;
    #set = new Map();

    constructor(request, response) {
        this.#request = request;
        this.#response = response;
    }

    // ---------------------------------------------------------------- the request

    /** The id of the page that this runs for or that sent this request; undefined: no page. It is a secret of the visitor. */
    get page() {
        return this.#request.headers['vault-page']?.split(';')[0];
    }

    /** A property of the page, or what set() has made of it in this request; undefined: the page has none of that name. */
    get(key) {
        const name = checkKey(key);
        if (this.#set.has(name)) return this.#set.get(name);
        const text = this.#request.headers[`vault-property-${name}`];
        return text === undefined ? undefined : decode(text);
    }

    // ---------------------------------------------------------------- the answer

    /** This page asks a URL of its own site for news: a path that begins with a slash. */
    poll(url) {
        if (!url.startsWith('/')) throw new TypeError(`a page polls a path of its own site, which begins with a slash: ${url}`);
        return this.#say('Vault-Poll', encode(url, /[^\x21-\x7e]|,/g));
    }

    /** The URL that answers this runs again when one of these is notified. To be said in each answer, also in an empty one. */
    interest(...names) {
        for (const name of names) this.#say('Vault-Interest', encodeInterest(name));
        return this;
    }

    /** Keep a value for the page; undefined, null or '' removes it. The key is made of letters, digits and hyphens, in any case. */
    set(key, value) {
        const name = checkKey(key), text = String(value ?? '');
        if (text.includes('\0')) throw new TypeError(`the value of the property ${key} has a NUL in it`);
        this.#set.set(name, text === '' ? undefined : text);
        return this.#say('Vault-Property', `${name}=${encode(text)}`);
    }

    /**
     * Does the page show anything else under this key? Keeps the hash of `content` as the property of that name. The page's own
     * answer calls it as well, so that its first poll repeats nothing.
     */
    changed(key, content) {
        const hash = createHash('sha256').update(content).digest('hex').slice(0, 32);
        const before = this.get(key);
        this.set(key, hash);
        return before !== hash;
    }

    /** Something happened: pages that wait for one of these look again. Say it after the commit, in an answer of any status. */
    notify(...names) {
        for (const name of names) this.#say('Vault-Notify', encodeInterest(name));
        return this;
    }

    /** How the browser takes this answer of a method: 'htmx' hands it to htmx. Turbo-stream elements and JSON need no word. */
    format(word) {
        if (!/^[A-Za-z0-9-]{1,32}$/.test(word)) throw new TypeError(`not a word of 1 to 32 letters, digits and hyphens: ${word}`);
        return this.#say('Vault-Update', word);
    }

    #say(header, value) {
        this.#response.setHeader(header, [this.#response.getHeader(header) ?? []].flat().concat(value));
        return this;
    }

    // ---------------------------------------------------------------- elements of a method's answer

    /** Text of visitors, to be put into HTML or into an attribute in quotes. */
    static escape(text) {
        return String(text).replace(/[&<>"']/g, c => escapes[c]);
    }

    /** Any action: for the element with an id, `target`, or for all that a CSS selector finds, `targets`. */
    static element(action, html = '', {target, targets} = {}) {
        const attributes = Object.entries({action, target, targets}).filter(([, value]) => value !== undefined)
            .map(([name, value]) => ` ${name}="${Vault.escape(value)}"`).join('');
        return `<turbo-stream${attributes}>${html === '' ? '' : `<template>${html}</template>`}</turbo-stream>\n`;
    }

    /** The HTML is put at the end of the element with this id. It is HTML: what visitors wrote must be escaped in it. */
    static append(id, html) { return Vault.element('append', html, {target: id}); }
    static prepend(id, html) { return Vault.element('prepend', html, {target: id}); }
    /** The element itself is replaced. */
    static replace(id, html) { return Vault.element('replace', html, {target: id}); }
    /** The content of the element is replaced. */
    static update(id, html) { return Vault.element('update', html, {target: id}); }
    static before(id, html) { return Vault.element('before', html, {target: id}); }
    static after(id, html) { return Vault.element('after', html, {target: id}); }
    static remove(id) { return Vault.element('remove', '', {target: id}); }
    /** The page is loaded again. */
    static refresh() { return Vault.element('refresh'); }

    // ---------------------------------------------------------------- outside of requests

    /**
     * Notify at once, from a program that answers no request. The URL has the handler vault-notify, which lets in this machine alone
     * (Require vault-local).
     * @returns a promise of true: a page waits for it, or may; false: no page does, and there is nothing to do.
     *   It rejects when pages were not told; the error's `status` is that of the answer, if there was one
     */
    static async notifyNow(name, {url = NOTIFY_URL, timeout = 5000} = {}) {
        encodeInterest(name);
        const answer = await ask(url, {method: 'POST', body: new URLSearchParams({interest: name})}, timeout);
        const text = await answer.text();
        let said = null;
        try {
            said = JSON.parse(text);
        } catch { /* something else has answered */ }
        if (![200, 202].includes(answer.status) || !said) {
            const why = said?.error ?? 'the answer is not from mod_vault';
            throw Object.assign(new Error(`${url} did not notify "${name}": status ${answer.status}, ${why}`), {status: answer.status});
        }
        return said.held ?? true;
    }
}

/** Middleware of Express: `app.use(vault())`, and then `response.vault` is the Vault of each request. */
export default function vault() {
    return (request, response, next) => {
        response.vault = new Vault(request, response);
        next();
    };
}
