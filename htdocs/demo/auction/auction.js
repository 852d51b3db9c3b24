/* SPDX-License-Identifier: Apache-2.0 */
/* The next bid is suggested: a little more than the price, until the visitor writes one of their own. */
'use strict';

const amount = document.querySelector('input[name="amount"]');
const bidder = document.querySelector('select[name="bidder"]');

function suggest() {
  const price = Number(document.querySelector('#price data')?.value ?? 0);
  const next = Math.min(price + Math.max(1, Math.round(price / 20)), Number(amount.max));
  amount.min = Math.min(price + 1, amount.max);
  if (!amount.dataset.own) amount.value = next;
}

amount.addEventListener('input', () => { amount.dataset.own = 'yes'; });
document.addEventListener('sent', () => { delete amount.dataset.own; suggest(); });
document.addEventListener('vault:applied', suggest);
suggest();

// Each visitor is somebody else, and stays it.
const KEY = 'auction-bidder';
const all = [...bidder.options].map((option) => option.text);
bidder.value = sessionStorage.getItem(KEY) ?? all[Math.floor(Math.random() * all.length)];
bidder.addEventListener('change', () => sessionStorage.setItem(KEY, bidder.value));
sessionStorage.setItem(KEY, bidder.value);
