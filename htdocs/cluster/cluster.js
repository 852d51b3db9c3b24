/* SPDX-License-Identifier: Apache-2.0 */
/* Sends the forms of the page without leaving it, and shows whether the page is live. vault.js makes it live. */
'use strict';

const SAYS = { connecting: 'connecting', waiting: 'live', 'backing off': 'trying again', stopped: 'not live' };
const live = document.getElementById('live');

document.addEventListener('vault:state', ({ detail: { state } }) => {
  live.dataset.state = state;
  live.textContent = SAYS[state];
});

async function send(form) {
  const response = await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form)) });
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
  form.reset();
}

document.addEventListener('submit', (event) => {
  event.preventDefault();
  send(event.target).catch((error) => { live.textContent = `not written: ${error.message}`; });
});
