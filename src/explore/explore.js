'use strict';
(function () {
  var SVG = 'http://www.w3.org/2000/svg';
  var FILE_MAX = 16 * 1024 * 1024;
  var view = { arch: '', heads: 8, head_dim: 64, context: 17, ratio: 0, kv: '', state: '', task: 'seqcomp L=2', n: 17, bits: 0 };
  var file = null, input = -1, asked = 0;

  function id(name) { return document.getElementById(name); }

  /* Every text of a file or a reply goes through here: it is never markup. */
  function make(tag, text, kind) {
    var e = document.createElement(tag);
    if (text !== undefined && text !== null) e.textContent = text;
    if (kind) e.className = kind;
    return e;
  }
  function draw(tag, attributes, text) {
    var e = document.createElementNS(SVG, tag);
    Object.keys(attributes).forEach(function (k) { e.setAttribute(k, attributes[k]); });
    if (text !== undefined) e.textContent = text;
    return e;
  }
  function empty(e) { while (e.firstChild) e.removeChild(e.firstChild); return e; }
  function count(n) { return n.toLocaleString('en'); }
  function three(x) { return x >= 99.95 ? x.toFixed(0) : x.toPrecision(3); }
  function bytes(n) {
    var units = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'], i = 0;
    while (n >= 1024 && i + 1 < units.length) n /= 1024, i++;
    return (i ? three(n) : n) + ' ' + units[i];
  }
  function tokens(power) { return count(Math.pow(2, power)); }

  /* ---- what the page asks --------------------------------------------------------------------------------------- */

  var formats = [['', 'as the file says'], ['f32', 'f32'], ['bf16', 'bf16'], ['f16', 'f16'], ['e4m3', 'fp8 (e4m3)'], ['e5m2', 'fp8 (e5m2)']];
  var tasks = [['eva', 'look-up (eva)'], ['two-sum', 'two-sum'], ['seqcomp L=1', 'one function'], ['seqcomp L=2', 'two functions'],
    ['seqcomp L=3', 'three functions'], ['percom', 'permutations (percom)'], ['string-equality', 'equality of texts'], ['', 'none']];

  function options(select, list) {
    list.forEach(function (pair) { var o = make('option', pair[1]); o.value = pair[0]; select.appendChild(o); });
  }
  function request() {
    var r = { context: Math.pow(2, view.context), n: Math.pow(2, view.n), bits: view.bits, kv: view.kv, state: view.state, task: view.task };
    if (view.ratio) r.set = 'ratio=' + view.ratio + ':1';
    if (file) r.file = file;
    else if (input >= 0) r.input = input;
    else { r.arch = view.arch; r.heads = view.heads; r.head_dim = view.head_dim; }
    return r;
  }
  function write_outputs() {
    id('context_out').textContent = tokens(view.context) + ' tokens';
    id('n_out').textContent = (view.n < 31 ? tokens(view.n) : '2^' + view.n) + ' tokens at most';
    id('bits_out').textContent = view.bits ? view.bits + ' bits' : 'as the file says, else 32';
    id('ratio_out').textContent = view.ratio ? 'one after ' + view.ratio + ' others' : 'as they are';
  }
  function write_link() {
    var parts = Object.keys(view).map(function (k) { return k + '=' + encodeURIComponent(view[k]); });
    parts.push('input=' + input);
    id('link').href = '#' + parts.join('&');
    id('link').textContent = file ? 'these settings, without the file' : 'a link to it';
  }
  function read_link() {
    location.hash.slice(1).split('&').forEach(function (part) {
      var at = part.indexOf('='), key = part.slice(0, at), value = '';
      try { value = decodeURIComponent(part.slice(at + 1)); } catch (e) { return; }
      if (key === 'input') input = Number(value);
      else if (Object.prototype.hasOwnProperty.call(view, key)) view[key] = typeof view[key] === 'number' ? Number(value) || 0 : value;
    });
  }
  function write_controls() {
    ['arch', 'heads', 'head_dim', 'context', 'ratio', 'kv', 'state', 'task', 'n', 'bits'].forEach(function (k) { id(k).value = view[k]; });
    id('input').value = input;
    write_outputs();
  }

  function ask() {
    var mine = ++asked;
    write_outputs();
    write_link();
    if (!file && input < 0 && !view.arch) return;
    id('busy').textContent = 'computing';
    fetch('/look', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(request()) })
      .then(function (reply) { return reply.json().then(function (body) { return { ok: reply.ok, body: body }; }); })
      .then(function (reply) { if (mine === asked) reply.ok ? show(reply.body) : complain(reply.body.message || reply.body.error.message); })
      .catch(function () { if (mine === asked) complain('The server does not answer. Is rung explore still running?'); });
  }
  var waiting = null;
  function ask_soon() { write_outputs(); clearTimeout(waiting); waiting = setTimeout(ask, 150); }

  function complain(text) {
    id('busy').textContent = '';
    id('message').textContent = text;
    id('message').hidden = false;
    id('shown').hidden = true;
  }

  /* ---- layers --------------------------------------------------------------------------------------------------- */

  function colour(mechanism, all) { return 'c' + all.indexOf(mechanism) % 6; }
  function distinct(list) { return list.filter(function (x, i) { return list.indexOf(x) === i; }); }

  function show_layers(d) {
    var all = distinct(d.mechanisms), n = d.mechanisms.length, per = Math.min(n, innerWidth < 600 ? 16 : 48), size = 20;
    id('h-layers').textContent = d.name + (d.set ? ' with ' + d.set : '');
    id('counts').textContent = n + (n === 1 ? ' layer: ' : ' layers: ') + d.card.order;
    var picture = draw('svg', { viewBox: '0 0 ' + per * size + ' ' + Math.ceil(n / per) * size, role: 'img', 'aria-label': 'Layers in their order: ' + d.card.order });
    d.mechanisms.forEach(function (m, i) {
      var box = draw('rect', { x: (i % per) * size + 1, y: Math.floor(i / per) * size + 1, width: size - 2, height: size - 2, rx: 3, class: colour(m, all) });
      box.appendChild(draw('title', {}, 'layer ' + (i + 1) + ': ' + m));
      picture.appendChild(box);
    });
    picture.style.maxWidth = per * 28 + 'px';
    empty(id('strip')).appendChild(picture);
    empty(id('kinds'));
    all.forEach(function (m) {
      var item = make('li'), mark = draw('svg', { viewBox: '0 0 14 14', 'aria-hidden': 'true' });
      mark.appendChild(draw('rect', { width: 14, height: 14, rx: 3, class: colour(m, all) }));
      item.appendChild(mark);
      item.appendChild(document.createTextNode(d.mechanisms.filter(function (x) { return x === m; }).length + ' × ' + m));
      id('kinds').appendChild(item);
    });
  }

  /* ---- tables --------------------------------------------------------------------------------------------------- */

  function table(heads, rows, caption) {
    var t = make('table'), row = t.createTHead().insertRow(), body = t.createTBody();
    if (caption) t.createCaption().textContent = caption;
    heads.forEach(function (h) { var th = make('th', h); th.scope = 'col'; row.appendChild(th); });
    rows.forEach(function (cells) {
      var r = body.insertRow();
      cells.forEach(function (c) {
        var td = r.insertCell();
        if (c instanceof Node) td.appendChild(c);
        else td.textContent = c;
        if (/^[\d.,]+ \w*B$/.test(c)) td.className = 'n';
      });
    });
    return t;
  }

  function show_memory(d) {
    var memory = d.card.memory, rows = memory.kinds.map(function (k) {
      return [k.layers + ' × ' + k.mechanism, bytes(k.held_by_all_of_them.total_bytes), bytes(k.read_by_all_of_them.total_bytes)];
    });
    rows.push(['all layers', bytes(memory.held_by_one_sequence.total_bytes), bytes(memory.read_for_one_token.total_bytes)]);
    if (memory.dense_equivalent.exists) rows.push(['if every layer were full', bytes(memory.dense_equivalent.held_by_one_sequence.total_bytes), bytes(memory.dense_equivalent.read_for_one_token.total_bytes)]);
    if (memory.without_full_layers.exists) rows.push(['if no layer kept every token', bytes(memory.without_full_layers.held_by_one_sequence.total_bytes), bytes(memory.without_full_layers.read_for_one_token.total_bytes)]);
    empty(id('memory')).appendChild(table(['layers', 'held', 'read for a new token'], rows,
      count(d.card.context_tokens) + ' tokens; keys and values in ' + d.card.numbers.kv_bits + ' bits, states in ' + d.card.numbers.state_bits + ' bits; weights not counted'));
    var more = 'Caches grow by ' + bytes(memory.growth_bytes_per_token) + ' per token, all layers together.';
    if (memory.break_even_tokens) more += ' From ' + count(memory.break_even_tokens) + ' tokens on these layers hold no more than full ones would.';
    id('memory').appendChild(make('p', more));
  }

  /* ---- the curve ------------------------------------------------------------------------------------------------ */

  var lines = [['these_layers', 'these layers', 'c0', ''], ['dense_equivalent', 'every layer full', 'c1', '6 3'], ['without_full_layers', 'no full layer', 'c2', '2 3'], ['without_the_change', 'without the change', 'c3', '8 3 2 3']];

  function show_curve(d) {
    var c = d.held_bytes_by_context, W = 480, H = 260, left = 62, bottom = 40, top = 12, right = 14;
    var known = lines.filter(function (l) { return c[l[0]]; });
    var values = known.reduce(function (all, l) { return all.concat(c[l[0]]); }, []).filter(function (v) { return v > 0; });
    var picture = draw('svg', { viewBox: '0 0 ' + W + ' ' + H, role: 'img', 'aria-label': 'Bytes held by one sequence against its tokens' });
    empty(id('curve_names'));
    empty(id('curve')).appendChild(picture);
    if (!values.length) return;
    var low = Math.floor(Math.log2(Math.min.apply(null, values)) / 5) * 5, high = Math.ceil(Math.log2(Math.max.apply(null, values)) / 5) * 5;
    if (high <= low) high = low + 5;
    function x(t) { return left + (Math.log2(t) - Math.log2(c.tokens[0])) / (Math.log2(c.tokens[c.tokens.length - 1]) - Math.log2(c.tokens[0])) * (W - left - right); }
    function y(v) { return H - bottom - (Math.log2(Math.max(v, Math.pow(2, low))) - low) / (high - low) * (H - bottom - top); }
    for (var p = low; p <= high; p += 5) {
      picture.appendChild(draw('line', { x1: left, x2: W - right, y1: y(Math.pow(2, p)), y2: y(Math.pow(2, p)), class: 'axis' }));
      picture.appendChild(draw('text', { x: left - 6, y: y(Math.pow(2, p)) + 4, 'text-anchor': 'end' }, bytes(Math.pow(2, p))));
    }
    c.tokens.forEach(function (t, i) {
      if (i % 4 === 0) picture.appendChild(draw('text', { x: x(t), y: H - bottom + 16, 'text-anchor': 'middle' }, count(t)));
    });
    picture.appendChild(draw('text', { x: (left + W - right) / 2, y: H - 6, 'text-anchor': 'middle' }, 'tokens of the context'));
    picture.appendChild(draw('line', { x1: x(d.card.context_tokens), x2: x(d.card.context_tokens), y1: top, y2: H - bottom, class: 'axis' }));
    known.forEach(function (l) {
      var path = c[l[0]].map(function (v, i) { return (i ? 'L' : 'M') + x(c.tokens[i]).toFixed(1) + ' ' + y(v).toFixed(1); }).join('');
      picture.appendChild(draw('path', { d: path, class: l[2], 'stroke-dasharray': l[3] }));
      var item = make('li'), mark = draw('svg', { viewBox: '0 0 14 14', 'aria-hidden': 'true' });
      mark.appendChild(draw('path', { d: 'M0 7L14 7', class: l[2], 'stroke-dasharray': l[3] }));
      item.appendChild(mark);
      item.appendChild(document.createTextNode(l[1]));
      id('curve_names').appendChild(item);
    });
  }

  /* ---- verdicts ------------------------------------------------------------------------------------------------- */

  function word(verdict, more) {
    var e = make('span'), w = make('b', verdict, verdict);
    e.appendChild(w);
    if (more) e.appendChild(document.createTextNode(' ' + more));
    return e;
  }
  function evidence(v) { return v ? (v.by ? v.by + ': ' : '') + v.shown + (v.about ? ' (' + v.about + ')' : '') : ''; }

  function show_abilities(d) {
    var rows = [], abilities = d.card.abilities || {};
    Object.keys(abilities).forEach(function (name) {
      var a = abilities[name];
      if (a.can_at) rows.push([name, word('CAN', 'with ' + count(a.can_at) + ' ' + a.unit), evidence(a.can)]);
      if (a.cannot_from) rows.push([name, word('CANNOT', 'from ' + count(a.cannot_from) + ' ' + a.unit + ' on'), evidence(a.cannot)]);
      if (a.otherwise) rows.push([name, word('UNKNOWN', a.can_at || a.cannot_from ? 'otherwise' : ''), a.otherwise]);
    });
    empty(id('abilities')).appendChild(rows.length ? table(['task', 'verdict', 'evidence'], rows) : make('p', 'Nothing is said of abilities.'));
    empty(id('recall'));
    var r = d.card.recall_of_recurrent_part;
    if (!r) return;
    var text = 'The ' + r.layers + ' layers with a state hold ' + count(r.state_bits) + ' bits.';
    if (r.cannot_recall_from_entries) text += ' Proved: alone they cannot recall a table of ' + count(r.cannot_recall_from_entries) + ' entries.';
    id('recall').appendChild(make('p', text));
var m = r.measured_not_proved;
    if (!m || m.no_law) return;
    text = 'Measured, not proved: one trained layer of ' + m.of_one_layer + ' looks up about ' + count(Math.round(m.entries)) + ' entries of ' + m.values + ' values at accuracy ' + m.accuracy +
      ' (95 %: ' + count(Math.round(m.entries_low)) + ' to ' + count(Math.round(m.entries_high)) + ')' + (m.extrapolated ? ', extrapolated beyond the sizes that were measured.' : '.');
    id('recall').appendChild(make('p', text, 'dim'));
  }

  function threshold(a) {
    if (!a.log2_n_threshold) return '';
    return a.log2_n_threshold < 40 && a.n_threshold ? 'from ' + count(a.n_threshold) + ' tokens' : 'from 2^' + three(a.log2_n_threshold) + ' tokens';
  }
  function show_claim(d) {
    var c = d.claim, p = empty(id('verdict'));
    empty(id('theorems'));
    id('h-task').textContent = view.task ? 'The task at this length: ' + view.task : 'No task';
    if (!view.task) return;
    p.appendChild(word(c.verdict, (c.by ? c.by + '. ' : '') + (c.shown || '') + (c.about ? ' ' + c.about : '')));
    var rows = (c.theorems || []).filter(function (a) { return a.applies; }).map(function (a) {
      return [a.id, word(a.verdict), a.statement, threshold(a)];
    });
    var not = (c.theorems || []).filter(function (a) { return !a.applies; }).map(function (a) { return [a.id, a.premise]; });
    if (rows.length) id('theorems').appendChild(table(['theorem', 'here', 'inequality', 'bites'], rows));
    if (!not.length) return;
    var more = make('details');
    more.appendChild(make('summary', not.length + (not.length === 1 ? ' theorem does' : ' theorems do') + ' not apply'));
    more.appendChild(table(['theorem', 'why'], not));
    id('theorems').appendChild(more);
  }

  /* ---- all of it ------------------------------------------------------------------------------------------------ */

  function show_commands(d) {
    empty(id('commands'));
    [d.commands.card, d.commands.bound].forEach(function (c) { if (c) id('commands').appendChild(make('pre', c)); });
    empty(id('notes'));
    d.card.notes.forEach(function (n) { id('notes').appendChild(make('li', n)); });
  }
  function show(d) {
    id('message').hidden = true;
    id('shown').hidden = false;
    id('busy').textContent = '';
    show_layers(d);
    show_memory(d);
    show_curve(d);
    show_abilities(d);
    show_claim(d);
    show_commands(d);
    document.body.dataset.ready = asked;
  }

  /* ---- controls ------------------------------------------------------------------------------------------------- */

  /* Other layers may not allow the change of the last ones. */
  function unchanged() { view.ratio = 0; id('ratio').value = 0; }

  function take_file(f) {
    if (!f) return;
    if (f.size > FILE_MAX) { complain(f.name + ' has ' + bytes(f.size) + '. The page takes at most ' + bytes(FILE_MAX) + ': start "rung explore ' + f.name + '" instead.'); return; }
    var reader = new FileReader();
    reader.onload = function () { file = { name: f.name, base64: reader.result.slice(reader.result.indexOf(',') + 1) }; input = -1; id('input').value = -1; unchanged(); ask(); };
    reader.onerror = function () { complain(f.name + ' cannot be read.'); };
    reader.readAsDataURL(f);
  }
  function take_arch() {
    file = null;
    input = -1;
    id('input').value = -1;
    view.arch = id('arch').value.trim();
    view.heads = Number(id('heads').value) || 1;
    view.head_dim = Number(id('head_dim').value) || 1;
    unchanged();
    ask();
  }
  function listen() {
    id('what').addEventListener('submit', function (e) { e.preventDefault(); take_arch(); });
    ['heads', 'head_dim'].forEach(function (k) { id(k).addEventListener('change', function () { if (view.arch && !file && input < 0) take_arch(); }); });
    ['context', 'ratio', 'n', 'bits'].forEach(function (k) { id(k).addEventListener('input', function () { view[k] = Number(id(k).value); ask_soon(); }); });
    ['kv', 'state', 'task'].forEach(function (k) { id(k).addEventListener('change', function () { view[k] = id(k).value; ask(); }); });
    id('how').addEventListener('submit', function (e) { e.preventDefault(); });
    id('input').addEventListener('change', function () { input = Number(id('input').value); file = null; unchanged(); ask(); });
    id('file').addEventListener('change', function () { take_file(id('file').files[0]); });
    addEventListener('dragover', function (e) { e.preventDefault(); id('drop').classList.add('over'); });
    addEventListener('dragleave', function () { id('drop').classList.remove('over'); });
    addEventListener('drop', function (e) { e.preventDefault(); id('drop').classList.remove('over'); take_file(e.dataTransfer.files[0]); });
    addEventListener('hashchange', function () { file = null; input = -1; read_link(); write_controls(); ask(); });
  }
  function begin(given) {
    options(id('kv'), formats);
    options(id('state'), formats);
    options(id('task'), tasks.filter(function (t) { return !t[0] || given.tasks.indexOf(t[0].split(' ')[0]) >= 0; }));
    options(id('input'), [[-1, 'none']].concat(given.inputs.map(function (name, i) { return [i, name]; })));
    id('given').hidden = !given.inputs.length;
    view.heads = given.heads;
    view.head_dim = given.head_dim;
    if (given.inputs.length) input = 0;
    else view.arch = '12*(3*gdelta,full)';
    read_link();
    if (!(input >= 0 && input < given.inputs.length)) input = -1;
    write_controls();
    listen();
    ask();
  }
  fetch('/inputs').then(function (r) { return r.json(); }).then(begin).catch(function () { complain('The server does not answer.'); });
})();
