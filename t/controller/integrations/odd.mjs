// SPDX-License-Identifier: Apache-2.0
// What integrations/node makes of names, values and URLs that are no plain words. odd.php and odd.ru do the same.
import {readFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {Vault} from '../../../integrations/node/vault.mjs';

const ODD = 'k\u00e4se, 50%;"\'=<&>';
const {COMMENTS, PORT, VAULT_KEY, VAULT_URL} = process.env;
const NEWEST = ['database', 'get_new_instances', {table: 'logs', limit: 20}];
const lines = ({rows, first}) => JSON.stringify([first, rows.map(row => row.line)]);

const routes = {
    '/odd/page': vault => {
        vault.poll('/odd/news?list=a,b&path=%2F x').set('Odd-Key', ODD).set('gone', 'x').set('gone', null).set('number', 0);
        return '<!doctype html><title>odd</title>';
    },
    '/odd/stream': vault => `<!doctype html><title>odd</title><p>${Vault.escape(vault.stream('/odd/news?list=a,b'))}`,
    '/odd/news': (vault, query) => {
        vault.interest(ODD, 'second').format('odd-1');
        if (!vault.changed('shown', readFileSync(COMMENTS, 'utf8'))) return '';
        return JSON.stringify({
            list: query.get('list'), path: query.get('path'), page: vault.page,
            odd: vault.get('ODD-KEY') === ODD, gone: vault.get('gone') ?? null, number: vault.get('number'),
        }) + '\n' + Vault.append(ODD, '<b>') + Vault.prepend('x', 'y') + Vault.before('x', 'y') + Vault.after('x', 'y') +
            Vault.replace('x', 'y') + Vault.update('x', '') + Vault.remove('x') + Vault.refresh() +
            Vault.element('update', 'y', {targets: '.x > "y"'});
    },
    '/odd/notify': vault => {
        vault.notify('nobody', ODD);
        return null;
    },
    '/odd/rows': async vault => {
        vault.poll('/odd/more');
        return '<!doctype html><title>rows</title>' + lines(await vault.feed(...NEWEST));
    },
    '/odd/more': async vault => {
        const news = await vault.feed(...NEWEST);
        return news.rows === null ? '' : lines(news);
    },
    '/odd/save': async (vault, query) => {
        await vault.feed('database', 'save', {table: 'logs', values: {line: query.get('line')}});
        return '';
    },
    '/odd/refused': vault => vault.feed('database', 'get_new_instances', {table: 'none'}).catch(e => `${e.answered}, not ${e.status}: ${e.message}`),
};

createServer(async (request, response) => {
    const url = new URL(request.url, 'http://localhost');
    const vault = new Vault(request, response, {key: VAULT_KEY, url: VAULT_URL});
    const text = await routes[url.pathname](vault, url.searchParams);
    response.writeHead(text === null ? 500 : 200, {'Content-Type': 'text/html; charset=utf-8'}).end(text);
}).listen(PORT, '127.0.0.1');
