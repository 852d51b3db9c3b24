/* SPDX-License-Identifier: Apache-2.0 */
/* The next bid is suggested: a little more than the price, until the visitor writes one of their own. Who is outbid is told so. */
'use strict';

const amount = document.querySelector('input[name="amount"]');
const bidder = document.querySelector('select[name="bidder"]');

const price = () => Number(document.querySelector('#price data')?.value ?? 0);

function suggest() {
  const next = Math.min(price() + Math.max(1, Math.round(price() / 20)), Number(amount.max));
  amount.min = Math.min(price() + 1, amount.max);
  if (!amount.dataset.own) amount.value = next;
}

amount.addEventListener('input', () => { amount.dataset.own = 'yes'; });
document.addEventListener('sent', () => { delete amount.dataset.own; suggest(); });
document.addEventListener('vault:applied', suggest);
suggest();

// What the server said of the visitor's own bid is true until there is a higher one, or the lot is sold.
const said = document.querySelector('form output');
let leading = 0; // the bid
let shown = false; // as the price

function follow() {
  const now = price();
  if (!leading) return;
  if (now === leading) shown = true;
  else if (now > leading || shown) {
    said.dataset.good = false;
    said.textContent = now > leading ? `You were outbid: the price is €${now}.` : 'It was sold to somebody else.';
    leading = 0;
  }
}

document.addEventListener('sent', () => {
  leading = Number(/€(\d+) leads/.exec(said.textContent)?.[1] ?? 0);
  shown = false;
  follow();
});
document.addEventListener('vault:applied', follow);

// Each visitor is somebody else, and stays it.
const KEY = 'auction-bidder';
const all = [...bidder.options].map((option) => option.text);
bidder.value = sessionStorage.getItem(KEY) ?? all[Math.floor(Math.random() * all.length)];
bidder.addEventListener('change', () => sessionStorage.setItem(KEY, bidder.value));
sessionStorage.setItem(KEY, bidder.value);
