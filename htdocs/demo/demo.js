/* SPDX-License-Identifier: Apache-2.0 */
/* The small comforts of the live log. That it is live is not done here: vault.js does that by itself. */
'use strict';

const ROWS_MAX = 200;
const SAYS = { connecting: 'connecting', waiting: 'live', 'backing off': 'trying again', stopped: 'not live' };

const live = document.getElementById('live');
const rows = document.getElementById('logs-div');
const knock = document.getElementById('knock');

document.addEventListener('vault:state', ({ detail: { state } }) => {
  live.dataset.state = state;
  live.textContent = SAYS[state];
});

// Rows that came with the page do not flash, see demo.css.
for (const row of rows.rows) row.className = 'old';

document.addEventListener('vault:applied', () => {
  while (rows.rows.length > ROWS_MAX) rows.deleteRow(0);
});

// Without this the form would do the same by leaving the page.
knock.addEventListener('submit', (event) => {
  event.preventDefault();
  const elsewhere = event.submitter?.getAttribute('formaction');
  const url = elsewhere ?? `${knock.action}?${new URLSearchParams(new FormData(knock))}`;
  fetch(url, { cache: 'no-store' }).catch((error) => console.warn('the request failed:', error.message));
});
