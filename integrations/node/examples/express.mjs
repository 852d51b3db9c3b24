// SPDX-License-Identifier: Apache-2.0
// The comments in Express, 4 or 5. COMMENTS and PORT are in its environment.
import express from 'express';
import vault from '../vault.mjs';
import {Comments} from './comments.mjs';

const comments = new Comments(process.env.COMMENTS);
const app = express();
app.use(express.urlencoded({extended: false}));
app.use(vault());

app.get('/', (request, response) => response.send(comments.page(response.vault)));
app.get('/news', (request, response) => response.send(comments.news(response.vault)));
app.get('/count', (request, response) => response.send(comments.countNews(response.vault)));
app.post('/comments', (request, response) => {
    comments.add(response.vault, String(request.body.text ?? ''));
    response.redirect(303, '/');
});
app.post('/filter', (request, response) => {
    comments.filter(response.vault, request.body.word);
    response.status(204).end();
});

app.listen(process.env.PORT, '127.0.0.1');
