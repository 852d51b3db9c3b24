/* SPDX-License-Identifier: Apache-2.0 */
/* The small comforts that the demos share. That a page is live is not done here: vault.js does that by itself. */
'use strict';

const SAYS = { connecting: 'connecting', waiting: 'live', 'backing off': 'trying again', stopped: 'not live' };

document.addEventListener('vault:state', ({ detail: { state } }) => {
  const live = document.getElementById('live');
  live.dataset.state = state;
  live.textContent = SAYS[state];
});

// What came with the page does not flash; what comes later does, see demo.css.
for (const news of document.querySelectorAll('[data-news]')) {
  for (const each of news.querySelectorAll('*')) each.classList.add('old');
}

// Times are UTC in the page; a visitor reads their own.
function localTimes() {
  for (const time of document.querySelectorAll('time[datetime]:not([title])')) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    time.title = at.toLocaleString();
    time.textContent = at.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  }
}
localTimes();
document.addEventListener('vault:applied', localTimes);

// A form that is sent from the page, which stays; without this it is an ordinary form. The server answers one sentence.
async function send(event) {
  const form = event.target.closest('form[data-send]');
  if (!form) return;
  event.preventDefault();
  if (form.ariaBusy) return;
  form.ariaBusy = 'true';
  const said = form.querySelector('output');
  try {
    const body = new URLSearchParams(new FormData(form, event.submitter));
    const response = await fetch(form.action, { method: 'POST', body, headers: { Accept: 'text/plain' } });
    const text = (await response.text()).trim();
    const plain = response.headers.get('Content-Type')?.startsWith('text/plain');
    said.dataset.good = response.ok;
    said.textContent = plain ? text : `The server answers ${response.status}.`;
    if (response.ok) form.dispatchEvent(new CustomEvent('sent', { bubbles: true }));
  } catch {
    said.dataset.good = false;
    said.textContent = 'The server cannot be reached. Nothing was sent.';
  } finally {
    form.ariaBusy = null;
  }
}
document.addEventListener('submit', send);
