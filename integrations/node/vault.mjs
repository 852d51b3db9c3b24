// SPDX-License-Identifier: Apache-2.0
// What an application in Node says to mod_vault and hears from it, in one file without dependencies. See README.md.
import {createHash} from 'node:crypto';
import http from 'node:http';
import https from 'node:https';

// Where httpd has mod_vault's own URLs.
export const VAULT_URL = 'http://127.0.0.1/vault';

const hex = byte => '%' + byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0');

// Percent-encode what `unsafe` matches, or what would be taken for a part of the header.
const encode = (text, unsafe = /[^\x21-\x7e]|[,%]/g) => Buffer.from(text).toString('latin1').replace(unsafe, hex);

// Never throws: bytes that are no UTF-8 become U+FFFD.
const decode = text => Buffer.from(
    text.replace(/%([0-9a-f]{2})/gi, (_, digits) => String.fromCharCode(parseInt(digits, 16))), 'latin1').toString();

function encodePath(url) {
    if (!url.startsWith('/')) throw new TypeError(`a page polls a path of its own site, which begins with a slash: ${url}`);
    return encode(url, /[^\x21-\x7e]|,/g);
}

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

// POST a form; not by fetch(), which says no Host of ours. A redirect is not followed: it would make a GET of the POST.
// @returns {status, headers, json}; json is null for an empty body and undefined for what is no JSON
function post(url, form, timeout, headers = {}) {
    const body = new URLSearchParams(form).toString();
    const options = {
        method: 'POST', signal: AbortSignal.timeout(timeout),
        headers: {'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': Buffer.byteLength(body), ...headers},
    };
    return new Promise((resolve, reject) => {
        const fail = error => reject(new Error(`${url} did not answer: ${error.cause?.message ?? error.message}`, {cause: error}));
        const request = (url.startsWith('https:') ? https : http).request(url, options, async response => {
            try {
                const text = Buffer.concat(await response.toArray()).toString();
                resolve({status: response.statusCode, headers: response.headers, json: parsed(text)});
            } catch (error) { // the connection broke
                fail(error);
            }
        });
        request.on('error', fail).end(body);
    });
}

function parsed(text) {
    try {
        return text === '' ? null : JSON.parse(text);
    } catch {
        return undefined;
    }
}

// Not as the property "status", which Express would take for that of its own answer: a visitor is not signed out because a key is wrong.
const failure = (what, {status, json}) =>
    Object.assign(new Error(`${what}: status ${status}, ${json?.error ?? 'the answer is not from mod_vault'}`), {answered: status});

// The arguments of a feed as a form has them: an object among them is what a dot makes by URL.
function fields(given, before = '') {
    return Object.entries(given).flatMap(([name, value]) => {
        if (value === null || value === undefined) throw new TypeError(`the argument ${before}${name} of a feed is no text and no number`);
        return typeof value === 'object' ? fields(value, `${before}${name}.`) : [[before + name, String(value)]];
    });
}

const escapes = {'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;'};

/**
 * One request and its answer, of node:http or of Express. What it says is in the headers of the response at once, so it must be said
 * before they are sent. What it reads is httpd's word only behind httpd with mod_vault, which removes such headers of browsers.
 */
export class Vault {
    #request;
    #response;
    #key;
    #url;
    #set = new Map();

    /**
     * `key`: the line of the file that VaultFeedKeyFile names; needed by feed() alone. `url`: where feed() asks. At an address of this
     * machine it gives the host of the request, by which httpd finds the site (ProxyPreserveHost On); a site that has TLS alone is asked
     * by its own name, https://www.example.org/vault.
     */
    constructor(request, response, {key = '', url = VAULT_URL} = {}) {
        this.#request = request;
        this.#response = response;
        this.#key = key;
        this.#url = url;
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

    /**
     * Rows of a feed for this page, which httpd keeps the place of: a first view in the page's own answer, and from then on what is new.
     * No interest() is needed. An object among the arguments is what a dot makes by URL: {where: {status: 404}}.
     * A method of which this rejects must answer with an error, and is tried again. The same call may be made once in an answer.
     * @returns a promise of {rows, first}: the rows, null: nothing is new; and whether they take the place of all that is shown
     */
    async feed(feed, method, args = {}, {timeout = 5000} = {}) {
        const {'vault-page': page, 'vault-new-page': newPage, host} = this.#request.headers;
        const headers = {Authorization: `Bearer ${this.#key}`};
        if (page ?? newPage) headers['Vault-Page'] = page ?? newPage;
        if (host && /^http:\/\/(127\.|localhost\b|\[::1\])/.test(this.#url)) headers.Host = host;
        const url = `${this.#url}/feed/${encodeURIComponent(feed)}/${encodeURIComponent(method)}`;
        const answer = await post(url, fields(args), timeout, headers);
        if (![200, 204].includes(answer.status)) throw failure(url, answer);
        return {rows: answer.status === 200 ? answer.json : null, first: answer.headers['vault-rows'] !== 'new'};
    }

    // ---------------------------------------------------------------- the answer

    /** This page asks a URL of its own site for news: a path that begins with a slash. */
    poll(url) {
        return this.#say('Vault-Poll', encodePath(url));
    }

    /**
     * In the place of poll(), for a page whose HTML names a client of its own, Turbo's or htmx's: it asks a URL of its site for news, and
     * mod_vault puts no script in.
     * @returns where the news will come as a stream, for the HTML to say; undefined: the answer cannot become a page
     */
    stream(url) {
        this.#say('Vault-Stream', encodePath(url));
        return this.#request.headers['vault-stream'];
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
     * Notify at once, from a program that answers no request. `url`/notify has the handler vault-notify, which lets in this machine alone
     * (Require vault-local).
     * @returns a promise of true: a page waits for it, or may; false: no page does, and there is nothing to do.
     *   It rejects when pages were not told; the error's `status` is that of the answer, if there was one
     */
    static async notifyNow(name, {url = VAULT_URL, timeout = 5000} = {}) {
        encodeInterest(name);
        const answer = await post(`${url}/notify`, {interest: name}, timeout);
        if (![200, 202].includes(answer.status) || !answer.json) throw failure(`${url} did not notify "${name}"`, answer);
        return answer.json.held ?? true;
    }
}

/** Middleware of Express: `app.use(vault())`, and then `response.vault` is the Vault of each request. Options as of Vault. */
export default function vault(options) {
    return (request, response, next) => {
        response.vault = new Vault(request, response, options);
        next();
    };
}
