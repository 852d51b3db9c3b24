/* SPDX-License-Identifier: Apache-2.0 */
/* Shows what a feed says. */
'use strict';

const ROWS_MAX = 200;
const SAYS = { connecting: 'connecting', waiting: 'live', 'backing off': 'trying again', stopped: 'not live' };
const [live, log, last] = ['live', 'log', 'last'].map((id) => document.getElementById(id));

function show({ id, time, status, request }, old) {
  const row = log.insertRow();
  row.id = `log-${id}`;
  row.className = old ? 'old' : ''; // does not flash, see demo.css
  row.dataset.status = status;
  row.insertCell().append(Object.assign(document.createElement('time'), { textContent: time }));
  for (const text of [status, request]) row.insertCell().textContent = text;
  if (log.rows.length > ROWS_MAX) log.deleteRow(0);
}

const newest = { table: 'logs', limit: 20 };
vault.on('public/get_new_instances', newest, (rows, { first }) => {
  if (first) log.replaceChildren();
  for (const row of rows) show(row, first);
});

vault.on('public/get_new_instances', { table: 'logs', limit: 1 }, (rows) => {
  if (rows.length) last.textContent = rows.at(-1).request;
});

document.addEventListener('vault:state', ({ detail: { state } }) => {
  live.dataset.state = state;
  live.textContent = SAYS[state];
});
