// SPDX-License-Identifier: Apache-2.0
// The live log page in Node, behind `ProxyPass "/node/" "http://127.0.0.1:PORT/node/"`. LOG and PORT are in its environment.
// VaultSameOrigin On, in httpd, refuses forms of other sites.
import {createServer} from 'node:http';
import {appendFileSync, existsSync, readFileSync} from 'node:fs';

const {LOG, PORT} = process.env;
const FORM_MAX = 65536;
const escape = text => text.replace(/[&<>]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;'})[c]);

// The lines after the place `from`, as HTML, and the place behind them.
function lines(from) {
    const bytes = existsSync(LOG) ? readFileSync(LOG) : Buffer.alloc(0);
    const end = bytes.lastIndexOf('\n') + 1; // another process may be writing the last line
    const rows = bytes.subarray(from, end).toString().split('\n').slice(0, -1);
    return {rows: rows.map(row => `<li>${escape(row)}</li>\n`).join(''), place: end};
}

// The form, or null if it is too long; it is read to its end all the same.
async function body(request) {
    let text = '';
    for await (const part of request.setEncoding('utf8')) {
        if (text.length <= FORM_MAX) text += part;
    }
    return text.length > FORM_MAX ? null : new URLSearchParams(text);
}

async function handle(request, answer) {
    const [, base, path] = request.url.match(/^(.*)\/([^/?]*)/);

    if (path === '') {
        const {rows, place} = lines(0);
        answer(200, `<!doctype html>\n<html><head><title>Log</title></head>\n<body><ul id="log">\n${rows}</ul>\n` +
            '<form method="post" action="add"><input name="line"><button>Add</button></form></body></html>\n',
            {'Vault-Poll': `${base}/latest`, 'Vault-Property': `place=${place}`});
    } else if (path === 'latest') {
        const {rows, place} = lines(Number(request.headers['vault-property-place'] ?? 0));
        answer(200, rows && `<turbo-stream action="append" target="log"><template>${rows}</template></turbo-stream>\n`,
            {'Vault-Interest': 'log', 'Vault-Property': `place=${place}`});
    } else if (path === 'add' && request.method === 'POST') {
        const form = await body(request);
        if (!form) return answer(413, 'the form is too long\n');
        if (!form.get('line')) return answer(400, 'no line in the form\n');
        appendFileSync(LOG, form.get('line').replace(/[\r\n]+/g, ' ') + '\n');
        answer(303, '', {Location: './', 'Vault-Notify': 'log'});
    } else {
        answer(404, 'no such page\n');
    }
}

createServer(async (request, response) => {
    const answer = (status, text = '', headers = {}) =>
        response.writeHead(status, {'Content-Type': 'text/html; charset=utf-8', ...headers}).end(text);
    try {
        await handle(request, answer);
    } catch (error) { // of one request: the others go on
        console.error(error);
        answer(500, 'the log cannot be read or written\n');
    }
}).listen(PORT, '127.0.0.1');
