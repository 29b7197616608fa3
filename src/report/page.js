/* SPDX-License-Identifier: MIT
 * Copyright (c) The rung authors
 *
 * The page answers: theme, sorting, filtering, and plots under a pointer where uPlot is embedded. Text from the data only ever
 * becomes textContent.
 */
(function () {
  'use strict';
  var root = document.documentElement, plots = [];

  /* ---- theme: automatic, light, dark ---- */
  var themes = ['auto', 'light', 'dark'], button = document.getElementById('theme');
  function remembered() { try { return localStorage.getItem('rung-theme'); } catch (e) { return null; } }
  function setTheme(theme) {
    if (theme === 'light' || theme === 'dark') root.dataset.theme = theme; else { delete root.dataset.theme; theme = 'auto'; }
    button.textContent = 'theme: ' + theme;
    try { localStorage.setItem('rung-theme', theme); } catch (e) { /* a page without storage forgets it */ }
    plots.forEach(function (plot) { plot.redraw(false); });
  }
  button.hidden = false;
  setTheme(remembered());
  button.addEventListener('click', function () {
    setTheme(themes[(themes.indexOf(root.dataset.theme || 'auto') + 1) % 3]);
  });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', function () {
    plots.forEach(function (plot) { plot.redraw(false); });
  });

  /* ---- tables ---- */
  function value(row, column) {
    var cell = row.cells[column], text = cell.dataset.v === undefined ? cell.textContent : cell.dataset.v;
    var number = text === '' ? NaN : Number(text);
    return isNaN(number) ? text : number;
  }
  function compare(a, b) {
    if (a === '' || b === '') return (a === '') - (b === '');
    if (typeof a === typeof b) return a < b ? -1 : a > b ? 1 : 0;
    return typeof a === 'number' ? -1 : 1;
  }
  function sortBy(table, head) {
    var body = table.tBodies[0], column = head.cellIndex, up = head.getAttribute('aria-sort') !== 'ascending';
    var rows = Array.prototype.slice.call(body.rows).map(function (row) { return [value(row, column), row]; });
    rows.sort(function (a, b) {
      if (a[0] === '' || b[0] === '') return compare(a[0], b[0]);
      return up ? compare(a[0], b[0]) : compare(b[0], a[0]);
    });
    rows.forEach(function (pair) { body.appendChild(pair[1]); });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (cell) { cell.removeAttribute('aria-sort'); });
    head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
  }
  function filter(table, words, status, all) {
    var shown = 0;
    words = words.toLowerCase().split(/\s+/).filter(Boolean);
    Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
      if (row.rungText === undefined) row.rungText = row.textContent.toLowerCase();
      var hit = words.every(function (word) { return row.rungText.indexOf(word) >= 0; });
      row.hidden = !hit;
      shown += hit;
    });
    status.textContent = words.length ? shown + ' of ' + all : all;
  }
  document.querySelectorAll('section').forEach(function (section) {
    var table = section.querySelector('.cells table'), input = section.querySelector('.filter input');
    if (!table) return;
    var status = section.querySelector('.filter [role=status]'), all = status.textContent;
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (head) {
      head.querySelector('button').addEventListener('click', function () { sortBy(table, head); });
    });
    input.addEventListener('input', function () { filter(table, input.value, status, all); });
  });

  /* ---- plots ---- */
  if (typeof uPlot === 'undefined') return;
  var data = JSON.parse(document.getElementById('figures').textContent), COLOURS = 8;
  var CANNOT = 1, CHOSEN = 2, ABOVE = 4;

  function css(name) { return getComputedStyle(root).getPropertyValue(name).trim(); }
  function colour(c) { return css('--c' + c % COLOURS); }
  function number(x) { return Number.isInteger(x) && Math.abs(x) < 1e15 ? String(x) : String(Number(x.toPrecision(6))); }
  function share(y) { return y.toFixed(3); }

  /* Aligned for uPlot, which needs it to find the nearest place; what is drawn comes from the points themselves. */
  function places(fig) {
    var seen = new Set();
    fig.series.forEach(function (s) { s.p.forEach(function (p) { seen.add(p[0]); }); });
    return Array.from(seen).sort(function (a, b) { return a - b; });
  }
  function columns(fig, xs) {
    return [xs].concat(fig.series.map(function (s) {
      var at = new Map();
      s.p.forEach(function (p) { at.set(p[0], p[1]); });
      return xs.map(function (x) { return at.has(x) ? at.get(x) : null; });
    }));
  }

  function unit(fig, x) { return fig.log ? Math.log2(x) : x; }
  function ticks(fig, u, low, high) {
    var width = u.over ? u.over.clientWidth || 300 : 300, last = -Infinity;
    return fig.ticks.filter(function (x) {
      var at = (unit(fig, x) - unit(fig, low)) / (unit(fig, high) - unit(fig, low)) * width, half = number(x).length * 4 + 6;
      if (x < low || x > high || at - half < last) return false;
      last = at + half;
      return true;
    });
  }

  function Pen(u, fig) {
    var ctx = u.ctx, k = devicePixelRatio || 1, n = fig.series.length;
    var step = fig.series[0].dots && n > 1 ? Math.min(4, 24 / (n - 1)) * k : 0;
    this.x = function (x, i) { return u.valToPos(x, 'x', true) + (i === undefined ? 0 : step * (i - (n - 1) / 2)); };
    this.y = function (y) { return u.valToPos(Math.min(Math.max(y, 0), 1), 'y', true); };
    this.path = function (points, stroke, width, dash) {
      ctx.beginPath();
      points.forEach(function (p, i) { if (i) ctx.lineTo(p[0], p[1]); else ctx.moveTo(p[0], p[1]); });
      ctx.strokeStyle = stroke; ctx.lineWidth = width * k; ctx.setLineDash((dash || []).map(function (d) { return d * k; }));
      ctx.stroke(); ctx.setLineDash([]);
    };
    this.circle = function (x, y, r, stroke, fill) {
      ctx.beginPath(); ctx.arc(x, y, r * k, 0, 2 * Math.PI);
      if (fill) { ctx.fillStyle = fill; ctx.fill(); }
      if (stroke) { ctx.strokeStyle = stroke; ctx.lineWidth = 1.6 * k; ctx.stroke(); }
    };
    this.box = function (x, y, r, stroke, fill) {
      ctx.fillStyle = fill; ctx.strokeStyle = stroke; ctx.lineWidth = 1.5 * k;
      ctx.fillRect(x - r * k, y - r * k, 2 * r * k, 2 * r * k); ctx.strokeRect(x - r * k, y - r * k, 2 * r * k, 2 * r * k);
    };
    this.k = k;
  }

  function drawGuide(pen, u, g) {
    var b = u.bbox, dim = css('--dim');
    if (g.k === 'threshold') {
      var x = pen.x(g.x[0]);
      pen.path([[x, b.top], [x, b.top + b.height]], colour(g.c), 1.6, [10, 4, 2, 4]);
    } else if (g.x.length < 2 || g.y[0] === g.y[g.y.length - 1]) {
      pen.path([[b.left, pen.y(g.y[0])], [b.left + b.width, pen.y(g.y[0])]], dim, 1.4, g.k === 'chance' ? [1.5, 4] : [8, 3, 1.5, 3]);
    } else {
      pen.path(g.x.map(function (x, i) { return [pen.x(x), pen.y(g.y[i])]; }), dim, 1.4, g.k === 'chance' ? [1.5, 4] : [8, 3, 1.5, 3]);
    }
  }
  function drawMark(pen, s, p, x, y, stroke) {
    var k = pen.k;
    if (p[5] & CHOSEN) pen.circle(x, y, 8, stroke);
    if (s.control) pen.box(x, y, 3.5, stroke, css('--back'));
    else if (p[5] & CANNOT) {
      pen.path([[x - 3.5 * k, y - 3.5 * k], [x + 3.5 * k, y + 3.5 * k]], stroke, 1.6);
      pen.path([[x - 3.5 * k, y + 3.5 * k], [x + 3.5 * k, y - 3.5 * k]], stroke, 1.6);
      pen.circle(x, y, 5, stroke);
    } else pen.circle(x, y, 4, null, stroke);
    if (p[5] & ABOVE) {
      pen.path([[x, y - 18 * k], [x + 5 * k, y - 9 * k], [x - 5 * k, y - 9 * k], [x, y - 18 * k]], css('--bad'), 2);
    }
  }
  function drawSeries(pen, s, i) {
    var stroke = colour(s.c), k = pen.k, ceilings = s.p.filter(function (p) { return p[4] > 0; });
    pen.path(ceilings.map(function (p) { return [pen.x(p[0], i), pen.y(p[4])]; }), stroke, 1, [4, 4]);
    ceilings.forEach(function (p) {
      var x = pen.x(p[0], i), y = pen.y(p[4]);
      pen.path([[x - 7 * k, y + 3 * k], [x - 7 * k, y], [x + 7 * k, y], [x + 7 * k, y + 3 * k]], stroke, 2);
    });
    if (s.line) {
      var dash = s.control ? [2, 3] : Math.floor(s.c / COLOURS) % 2 ? [7, 3] : [];
      pen.path(s.p.map(function (p) { return [pen.x(p[0], i), pen.y(p[1])]; }), stroke, s.dots ? 1.8 : 1.3, dash);
    }
    if (!s.dots) return;
    s.p.forEach(function (p) {
      var x = pen.x(p[0], i), y = pen.y(p[1]);
      if (p[2] !== null) {
        [[[x, pen.y(p[2])], [x, pen.y(p[3])]], [[x - 3 * k, pen.y(p[2])], [x + 3 * k, pen.y(p[2])]],
         [[x - 3 * k, pen.y(p[3])], [x + 3 * k, pen.y(p[3])]]].forEach(function (line) { pen.path(line, stroke, 1); });
      }
      drawMark(pen, s, p, x, y, stroke);
    });
  }
  function draw(u, fig) {
    var ctx = u.ctx, b = u.bbox, pen = new Pen(u, fig);
    ctx.save();
    ctx.beginPath(); ctx.rect(b.left, b.top - 8, b.width, b.height + 16); ctx.clip();
    fig.guides.forEach(function (g) { drawGuide(pen, u, g); });
    fig.series.forEach(function (s, i) { if (!s.hidden) drawSeries(pen, s, i); });
    ctx.restore();
  }

  /* What is at the place under the pointer, on the other side of the plot. */
  function tell(readout, fig, x, right) {
    readout.textContent = '';
    readout.hidden = x === undefined;
    if (x === undefined) return;
    readout.style.left = right ? '3.4rem' : 'auto';
    readout.style.right = right ? 'auto' : '.6rem';
    var head = document.createElement('b');
    head.textContent = fig.x + ' ' + number(x);
    readout.appendChild(head);
    var told = 0;
    fig.series.forEach(function (s) {
      if (s.hidden) return;
      s.p.forEach(function (p) {
        if (p[0] !== x || ++told > 8) return;
        var line = document.createElement('div');
        line.textContent = s.n + (s.d ? ', ' + s.d : '') + ': ' + share(p[1]) +
          (p.length > 2 && p[2] !== null ? ' [' + share(p[2]) + ', ' + share(p[3]) + ']' : '') +
          (p.length > 2 && s.dots ? ', ' + p[6] + ' ' + (fig.unit || 'run') + (p[6] === 1 ? '' : 's') : '') +
          (p[4] > 0 ? ', ceiling ' + share(p[4]) : '') + (p[5] & CANNOT ? ', theory: CANNOT' : '') +
          (p[5] & CHOSEN ? ', chosen' : '') + (p[5] & ABOVE ? ', above the ceiling' : '');
        readout.appendChild(line);
      });
    });
    if (told > 8) readout.appendChild(document.createTextNode('and ' + (told - 8) + ' more'));
  }

  function options(fig, xs, readout, width) {
    var ink = function () { return css('--dim'); }, faint = function () { return css('--line'); };
    var axis = { stroke: ink, grid: { stroke: faint, width: 0.4 }, ticks: { show: false }, font: '12px system-ui,sans-serif' };
    var low = unit(fig, fig.range[0]), high = unit(fig, fig.range[1]), dots = fig.series[0].dots;
    var pad = high > low ? (dots ? 0.06 : 0.01) * (high - low) : 1;
    var whole = [low - pad, high + pad].map(function (v) { return fig.log ? Math.pow(2, v) : v; });
    return {
      width: width, height: 290, legend: { show: false }, padding: [14, 14, 0, 0],
      cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
      scales: {
        x: { time: false, distr: fig.log ? 3 : 1, log: 2,
             range: function (u, a, b) { return a === xs[0] && b === xs[xs.length - 1] || a === b ? whole : [a, b]; } },
        y: { range: [-0.035, 1.035] }
      },
      axes: [
        Object.assign({}, axis, {
          label: fig.x + (fig.log ? ' (log scale)' : ''), labelSize: 24, labelFont: '13px system-ui,sans-serif', size: 30, labelGap: 2,
          space: 70,
          splits: fig.ticks.length ? function (u, i, a, b) { return ticks(fig, u, a, b); } : undefined,
          values: function (u, splits) { return splits.map(function (x) { return x === null ? '' : number(x); }); },
          filter: function (u, splits) { return splits; }
        }),
        Object.assign({}, axis, { label: fig.y, labelSize: 22, labelFont: '13px system-ui,sans-serif', size: 44,
          splits: function () { return [0, 0.25, 0.5, 0.75, 1]; },
          values: function (u, splits) { return splits.map(String); } })
      ],
      series: [{}].concat(fig.series.map(function () {
        return { stroke: 'transparent', paths: function () { return null; }, points: { show: false } };
      })),
      hooks: {
        draw: [function (u) { draw(u, fig); }],
        setCursor: [function (u) {
          var at = u.cursor.left >= 0 && u.cursor.idx != null ? xs[u.cursor.idx] : undefined;
          tell(readout, fig, at, u.cursor.left > u.over.clientWidth / 2);
        }]
      }
    };
  }

  function legend(figure, fig, redraw) {
    figure.querySelectorAll('.legend li[data-s]').forEach(function (item) {
      var first = fig.series[Number(item.dataset.s)];
      function toggle() {
        var hide = !first.hidden;
        fig.series.forEach(function (s) { if (s.n === first.n && s.c === first.c) s.hidden = hide; });
        item.setAttribute('aria-pressed', String(!hide));
        redraw();
      }
      item.setAttribute('role', 'button');
      item.setAttribute('tabindex', '0');
      item.setAttribute('aria-pressed', 'true');
      item.addEventListener('click', toggle);
      item.addEventListener('keydown', function (e) { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); toggle(); } });
    });
  }

  function live(fig) {
    var figure = document.getElementById(fig.id), place = figure.querySelector('.plot'), xs = places(fig);
    var holder = document.createElement('div'), readout = document.createElement('div');
    if (!fig.series.length || !xs.length) return;
    holder.className = 'u'; readout.className = 'readout';
    place.classList.add('live');
    place.appendChild(holder);
    place.appendChild(readout);
    var plot = new uPlot(options(fig, xs, readout, place.clientWidth), columns(fig, xs), holder);
    tell(readout, fig);
    legend(figure, fig, function () { plot.redraw(false); });
    plots.push(plot);
    new ResizeObserver(function () {
      if (place.clientWidth && place.clientWidth !== plot.width) plot.setSize({ width: place.clientWidth, height: 290 });
    }).observe(place);
  }

  /* Only what is near the window: a page may have hundreds. */
  var byId = {}, near = new IntersectionObserver(function (entries) {
    entries.forEach(function (entry) {
      if (!entry.isIntersecting) return;
      near.unobserve(entry.target);
      live(byId[entry.target.id]);
    });
  }, { rootMargin: '600px' });
  data.forEach(function (fig) {
    byId[fig.id] = fig;
    near.observe(document.getElementById(fig.id));
  });
})();
