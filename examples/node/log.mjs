// SPDX-License-Identifier: Apache-2.0
// The live log page in Node, behind `ProxyPass "/node/" "http://127.0.0.1:PORT/node/"`. LOG and PORT are in its environment.
import {createServer} from 'node:http';
import {appendFileSync, existsSync, readFileSync} from 'node:fs';

const {LOG, PORT} = process.env;
const escape = text => text.replace(/[&<>]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;'})[c]);

// The lines after the place `from`, as HTML, and the place behind them.
function lines(from) {
    const bytes = existsSync(LOG) ? readFileSync(LOG) : Buffer.alloc(0);
    const end = bytes.lastIndexOf('\n') + 1; // somebody may be writing the last line
    const rows = bytes.subarray(from, end).toString().split('\n').slice(0, -1);
    return {rows: rows.map(row => `<li>${escape(row)}</li>\n`).join(''), place: end};
}

async function body(request) {
    let text = '';
    for await (const part of request) text += part;
    return new URLSearchParams(text);
}

createServer(async (request, response) => {
    const [, base, path] = request.url.match(/^(.*)\/([^/?]*)/);
    const answer = (status, text = '', headers = {}) =>
        response.writeHead(status, {'Content-Type': 'text/html; charset=utf-8', ...headers}).end(text);

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
        appendFileSync(LOG, form.get('line').replace(/[\r\n]+/g, ' ') + '\n');
        answer(303, '', {Location: './', 'Vault-Notify': 'log'});
    } else {
        answer(404, 'no such page\n');
    }
}).listen(PORT, '127.0.0.1');
