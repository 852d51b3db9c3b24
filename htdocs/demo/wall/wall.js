/* SPDX-License-Identifier: Apache-2.0 */
/* The wall: which one this is, and fields that are empty again once their text was sent. */
'use strict';

const profile = document.querySelector('[data-profile]').dataset.profile;
document.querySelector(`[data-person="${profile}"]`)?.setAttribute('aria-current', 'page');

document.addEventListener('sent', ({ target }) => {
  for (const field of target.querySelectorAll('.line')) field.value = '';
});
