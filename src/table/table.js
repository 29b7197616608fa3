// SPDX-License-Identifier: MIT
// The slider of L: what its column says of the composition of L functions.
(function () {
  'use strict';
  var slider = document.getElementById('L'), shown = document.getElementById('L-shown');
  document.documentElement.className = 'js';
  if (!slider) return;
  function show() {
    shown.textContent = slider.value;
    document.querySelectorAll('[data-depth]').forEach(function (e) { e.classList.toggle('off', e.dataset.depth !== slider.value); });
    document.querySelectorAll('td[data-depths]').forEach(function (td) {
      td.className = td.dataset.depths.split(' ')[Number(slider.value) - 1];
    });
  }
  slider.addEventListener('input', show);
  show();
})();
