// SPDX-License-Identifier: Apache-2.0
// A page of comments that is live, without a framework in it: plain.mjs and express.mjs route requests to it. A comment is a line of a
// file. Each function takes the Vault of the request.
import {appendFileSync, existsSync, readFileSync} from 'node:fs';
import {Vault} from '../vault.mjs';

export class Comments {
    #file;

    constructor(file) {
        this.#file = file;
    }

    page(vault) {
        const comments = this.#read();
        const count = this.#count(vault, comments);
        vault.poll('/news').poll('/count').set('shown', comments.length);
        vault.changed('count', count);
        return '<!doctype html><html><head><meta charset="utf-8"><title>Comments</title></head><body>' +
            `<p id="count">${count}</p><ul id="comments">${this.#list(comments)}</ul>` +
            '<form method="post" action="/comments"><input name="text"><button>Send</button></form></body></html>';
    }

    // A method with a cursor: what is new since the property "shown".
    news(vault) {
        vault.interest('comments');
        const comments = this.#read();
        const fresh = comments.slice(Number(vault.get('shown') ?? 0));
        vault.set('shown', comments.length);
        return fresh.length ? Vault.append('comments', this.#list(fresh)) : '';
    }

    // A method without a cursor: all of it, if the page shows anything else.
    countNews(vault) {
        vault.interest('comments');
        const count = this.#count(vault, this.#read());
        return vault.changed('count', count) ? Vault.update('count', count) : '';
    }

    add(vault, text) {
        appendFileSync(this.#file, text.replace(/\s+/g, ' ') + '\n');
        vault.notify('comments');
    }

    // A request of the page's script, which sends X-Vault-Page: from here on the page counts what contains this word.
    filter(vault, word) {
        vault.set('word', word);
    }

    #read() {
        return existsSync(this.#file) ? readFileSync(this.#file, 'utf8').split('\n').slice(0, -1) : [];
    }

    #list(comments) {
        return comments.map(text => `<li>${Vault.escape(text)}</li>`).join('');
    }

    #count(vault, comments) {
        const word = vault.get('word') ?? '';
        const found = comments.filter(text => text.includes(word)).length;
        return word === '' ? `${found} comments` : `${found} comments with ${Vault.escape(word)}`;
    }
}
