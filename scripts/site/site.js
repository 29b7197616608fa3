/* SPDX-License-Identifier: MIT
 * Search, the menu of narrow windows, and buttons that copy commands. The index is a script, which a page may load from a
 * disk too; it is loaded when somebody searches. */
(function () {
  'use strict';
  var box = document.querySelector('input[type=search]'), list = document.querySelector('.found');
  var menu = document.querySelector('.menu'), waiting = [];

  function withIndex(then) {
    if (window.searchIndex) return then();
    waiting.push(then);
    if (waiting.length > 1) return;
    var script = document.createElement('script');
    script.src = siteRoot + 'search.js';
    script.onload = function () { waiting.splice(0).forEach(function (f) { f(); }); };
    document.head.appendChild(script);
  }

  function count(text, word) {
    var n = 0;
    for (var at = text.indexOf(word); at >= 0 && n < 8; at = text.indexOf(word, at + word.length)) n++;
    return n;
  }

  /* Sections that have every word; headings count more than text, beginnings of words more than their inside. */
  function find(query) {
    var words = query.toLowerCase().split(/\s+/).filter(Boolean), found = [];
    if (!words.length) return found;
    searchIndex.forEach(function (s) {
      var title = s[0].toLowerCase(), head = s[1].toLowerCase(), text = s[3].toLowerCase(), score = 0;
      for (var i = 0; i < words.length; i++) {
        var w = words[i], n = count(text, w), here = 0;
        if ((' ' + title).indexOf(' ' + w) >= 0) here += s[1] ? 6 : 20;
        if ((' ' + head).indexOf(' ' + w) >= 0) here += 15;
        if (n) here += Math.min(n, 5) + ((' ' + text).indexOf(' ' + w) >= 0 ? 3 : 0);
        if (!here) return;
        score += here;
      }
      if (words.length > 1 && text.indexOf(words.join(' ')) >= 0) score += 10;
      if (/^(CHANGELOG|docs\/walks)/.test(s[2])) score /= 3;
      found.push([score, s]);
    });
    return found.sort(function (a, b) { return b[0] - a[0]; }).slice(0, 20).map(function (f) { return f[1]; });
  }
  window.siteFind = find;

  function excerpt(text, words) {
    var low = text.toLowerCase(), at = -1;
    words.forEach(function (w) { if (at < 0) at = low.indexOf(w); });
    var from = Math.max(0, at - 50), cut = text.slice(from, from + 150);
    var small = document.createElement('small'), pattern = new RegExp('(' + words.map(function (w) {
      return w.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'); }).join('|') + ')', 'i');
    (from ? '… ' + cut : cut).split(pattern).forEach(function (part, i) {
      var node = i % 2 ? document.createElement('mark') : document.createTextNode(part);
      if (i % 2) node.textContent = part;
      small.appendChild(node);
    });
    return small;
  }

  function show() {
    var query = box.value.trim();
    list.hidden = !query;
    if (!query) return;
    withIndex(function () {
      var words = query.toLowerCase().split(/\s+/), found = find(query);
      list.textContent = '';
      found.forEach(function (s) {
        var item = document.createElement('li'), link = document.createElement('a');
        link.href = siteRoot + s[2];
        link.textContent = s[1] ? s[0] + ' › ' + s[1] : s[0];
        link.appendChild(excerpt(s[3], words));
        item.appendChild(link);
        list.appendChild(item);
      });
      if (!found.length) {
        var none = document.createElement('li');
        none.className = 'none';
        none.textContent = 'Nothing has all of these words.';
        list.appendChild(none);
      }
    });
  }

  function move(step) {
    var links = [].slice.call(list.querySelectorAll('a')), at = links.findIndex(function (l) { return l.className === 'chosen'; });
    if (!links.length) return;
    if (at >= 0) links[at].className = '';
    at = (at + step + links.length) % links.length;
    links[at].className = 'chosen';
    links[at].scrollIntoView({block: 'nearest'});
  }

  box.addEventListener('input', show);
  box.addEventListener('focus', show);
  box.addEventListener('keydown', function (e) {
    if (e.key === 'ArrowDown' || e.key === 'ArrowUp') { e.preventDefault(); move(e.key === 'ArrowDown' ? 1 : list.querySelector('.chosen') ? -1 : 0); }
    if (e.key === 'Escape') { list.hidden = true; box.blur(); }
  });
  box.form.addEventListener('submit', function (e) {
    var link = list.querySelector('a.chosen') || list.querySelector('a');
    e.preventDefault();
    if (link) { location.href = link.href; list.hidden = true; }
  });
  document.addEventListener('click', function (e) { if (!box.form.contains(e.target)) list.hidden = true; });
  document.addEventListener('keydown', function (e) {
    if (e.key === '/' && document.activeElement.tagName !== 'INPUT') { e.preventDefault(); box.focus(); }
  });
  menu.addEventListener('click', function () {
    menu.setAttribute('aria-expanded', document.body.classList.toggle('open') ? 'true' : 'false');
  });

  /* A button for blocks that have commands: it copies what is typed, without "$ ". */
  document.querySelectorAll('pre.code').forEach(function (pre) {
    var typed = pre.querySelectorAll('.typed');
    if (!typed.length || !navigator.clipboard) return;
    var button = document.createElement('button');
    button.className = 'copy';
    button.type = 'button';
    button.textContent = 'copy';
    button.addEventListener('click', function () {
      navigator.clipboard.writeText([].map.call(typed, function (t) { return t.textContent.slice(2); }).join('\n'));
      button.textContent = 'copied';
    });
    pre.appendChild(button);
  });

  var asked = /[?&]q=([^&]*)/.exec(location.search);
  if (asked) { box.value = decodeURIComponent(asked[1].replace(/\+/g, ' ')); show(); }
})();
