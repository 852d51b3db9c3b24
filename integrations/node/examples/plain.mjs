// SPDX-License-Identifier: Apache-2.0
// The comments with node:http alone. COMMENTS and PORT are in its environment.
import {createServer} from 'node:http';
import {Vault} from '../vault.mjs';
import {Comments} from './comments.mjs';

const comments = new Comments(process.env.COMMENTS);

async function form(request) {
    let text = '';
    for await (const part of request.setEncoding('utf8')) {
        if ((text += part).length > 65536) throw new RangeError('the form is too long');
    }
    return new URLSearchParams(text);
}

const routes = {
    'GET /': vault => [200, comments.page(vault)],
    'GET /news': vault => [200, comments.news(vault)],
    'GET /count': vault => [200, comments.countNews(vault)],
    'POST /comments': async (vault, request) => {
        comments.add(vault, (await form(request)).get('text') ?? '');
        return [303, '', {Location: '/'}];
    },
    'POST /filter': async (vault, request) => {
        comments.filter(vault, (await form(request)).get('word'));
        return [204, ''];
    },
};

createServer(async (request, response) => {
    const route = routes[`${request.method} ${request.url.split('?')[0]}`] ?? (() => [404, 'no such page\n']);
    try {
        const [status, text, headers] = await route(new Vault(request, response), request);
        response.writeHead(status, {'Content-Type': 'text/html; charset=utf-8', ...headers}).end(text);
    } catch (error) { // of one request: the others go on
        console.error(error);
        response.writeHead(500).end();
    }
}).listen(process.env.PORT, '127.0.0.1');
