/* SPDX-License-Identifier: Apache-2.0 */
/* The comforts of the chat, beside those of live.js. That messages appear is not done here: vault.js does that by itself. */
'use strict';

const MESSAGES_MAX = 300;

const messages = document.getElementById('messages');
const people = document.getElementById('people');
const talk = messages.parentElement;
const below = document.getElementById('below');
const form = document.getElementById('post');
const text = form.elements.text;
const wrong = document.getElementById('wrong');
const { channel, user } = Object.fromEntries(new FormData(form));

// ---- what is shown

// The colour of a name: the same in every browser.
function colour(element) {
  let hue = 7;
  for (const letter of element.dataset.sender) hue = (hue * 31 + letter.codePointAt(0)) % 360;
  element.style.setProperty('--hue', hue);
}

// A message right after another of the same sender needs no name.
function follows(message) {
  const before = message.previousElementSibling;
  const minutes = (each) => new Date(each.querySelector('time').dateTime).getTime() / 60_000;
  return before?.dataset.sender === message.dataset.sender && minutes(message) - minutes(before) < 5;
}

function dress() {
  while (messages.children.length > MESSAGES_MAX) messages.firstElementChild.remove();
  for (const message of messages.querySelectorAll(':scope > :not([style])')) {
    colour(message);
    message.classList.toggle('follows', follows(message));
  }
  people.querySelectorAll(':not([style])').forEach(colour);
}

// The box begins at its end and stays there by itself, see chat.css; who has scrolled up is told that there is more.
const atEnd = () => talk.scrollTop > -40;
dress();
document.addEventListener('vault:applied', () => {
  const before = messages.querySelector(':scope > :not([style])');
  dress();
  if (before?.classList.contains('own')) talk.scrollTop = 0;
  below.hidden = below.hidden && (!before || atEnd());
});
talk.addEventListener('scroll', () => { if (atEnd()) below.hidden = true; });
below.addEventListener('click', () => { talk.scrollTo({ top: 0, behavior: 'smooth' }); text.focus(); });

// ---- what is said

let once; // names this message, so that it is posted once however often it is sent

async function call(method, fields) {
  const body = new URLSearchParams({ channel, user, ...fields });
  const response = await fetch(`/vault/feed/messages/${method}`, { method: 'POST', body });
  if (response.ok) return;
  const { error } = await response.json().catch(() => ({ error: `the server answers ${response.status}` }));
  throw new Error(error);
}

// Without this the form would do the same by loading the page again.
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (form.ariaBusy === 'true' || !text.value.trim()) return;
  form.ariaBusy = 'true';
  once ??= crypto.getRandomValues(new Uint32Array(4)).join('-');
  const said = text.value;
  try {
    await call('post_message', { text: said.trim(), once });
    once = undefined;
    wrong.textContent = '';
    if (text.value === said) text.value = '';
    grow();
  } catch (error) {
    wrong.textContent = error instanceof TypeError ? 'Not sent: the server cannot be reached. Try again.' : `Not sent: ${error.message}.`;
  } finally {
    form.ariaBusy = 'false';
  }
});

text.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

function grow() {
  text.style.height = 'auto';
  text.style.height = `${text.scrollHeight + 2}px`;
}
text.addEventListener('input', () => { once = undefined; grow(); });

// A page that has expired is loaded again; what was being written comes back.
document.addEventListener('vault:expired', () => { sessionStorage.draft = text.value; });
text.value ||= sessionStorage.draft ?? '';
delete sessionStorage.draft;
grow();

document.getElementById('leave').addEventListener('click', async (event) => {
  event.preventDefault();
  await call('unsubscribe').catch((error) => console.warn('still in the room:', error.message));
  location.href = event.target.href;
});
