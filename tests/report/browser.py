#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# browser.py PAGE WIDTH light|dark live|static|pictures: opens a page in headless Chromium and fails when something is wrong: a message on
# the console, a blocked request, a script that was not ours, texts that overlap or are cut, a page wider than the window, plots that did not come
# alive. `static` takes the scripts of the page away, as a browser without them would. `pictures`: PAGE is a directory of SVG files.
# Prints what it has seen as JSON.
import glob
import html
import json
import os
import re
import subprocess
import sys
import tempfile

PROBE = r"""
window.seen = {errors: [], alerts: 0};
/* Every plot is in view at once: what a browser draws under a virtual clock is not to be relied on. */
window.IntersectionObserver = function (tell) {
  this.observe = function (target) { setTimeout(function () { tell([{isIntersecting: true, target: target}]); }, 0); };
  this.unobserve = function () {};
};
window.alert = function () { window.seen.alerts++; };
addEventListener('error', function (e) { window.seen.errors.push(String(e.message || e.target.tagName)); }, true);
addEventListener('securitypolicyviolation', function (e) { window.seen.errors.push('blocked ' + e.violatedDirective); });
function texts() {
  var found = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), node;
  while ((node = walk.nextNode())) {
    if (!node.data.trim() || node.parentElement.closest('script,style,title')) continue;
    var range = document.createRange();
    range.selectNodeContents(node);
    Array.prototype.forEach.call(range.getClientRects(), function (r) {
      if (r.width > 1 && r.height > 1) found.push([r.left, r.top, r.right, r.bottom, node.data.trim().slice(0, 40)]);
    });
  }
  return found;
}
/* Texts of pictures that reach beyond the picture. */
function cut() {
  var bad = [];
  document.querySelectorAll('svg text').forEach(function (text) {
    var r = text.getBoundingClientRect(), all = text.ownerSVGElement.getBoundingClientRect();
    if (r.left < all.left - 1 || r.right > all.right + 1 || r.top < all.top - 1 || r.bottom > all.bottom + 1) bad.push(text.textContent);
  });
  return bad;
}
function overlaps(found) {
  var bad = [];
  found.sort(function (a, b) { return a[1] - b[1]; });
  for (var i = 0; i < found.length; i++)
    for (var k = i + 1; k < found.length && found[k][1] < found[i][3]; k++) {
      var w = Math.min(found[i][2], found[k][2]) - Math.max(found[i][0], found[k][0]);
      var h = Math.min(found[i][3], found[k][3]) - Math.max(found[i][1], found[k][1]);
      /* Line boxes are higher than letters: a quarter of the lower one may be shared. */
      var line = Math.min(found[i][3] - found[i][1], found[k][3] - found[k][1]);
      if (w > 2 && h > line / 4) bad.push([found[i][4], found[k][4]]);
    }
  return bad;
}
function look() {
  var s = window.seen, all = texts(), sorted = null;
  s.texts = all.length;
  s.overlaps = overlaps(all);
  s.cut = cut();
  s.wide = document.documentElement.scrollWidth - innerWidth;
  s.width = innerWidth;
  s.figures = document.querySelectorAll('.figures figure').length;
  s.live = document.querySelectorAll('.plot.live canvas').length;
  s.images = document.querySelectorAll('img').length;
  s.scripts = document.querySelectorAll('script').length;
  s.back = getComputedStyle(document.body).backgroundColor;
  var table = document.querySelector('section .cells table');
  if (table && window.act) {
    var heads = table.tHead.rows[0].cells, column = -1;
    Array.prototype.forEach.call(heads, function (h, i) { if (/^(test )?accuracy$/.test(h.textContent)) column = i; });
    heads[column].querySelector('button').click();
    s.sorted = Array.prototype.map.call(table.tBodies[0].rows, function (r) { return Number(r.cells[column].dataset.v); });
    var input = document.querySelector('.filter input');
    input.value = table.tBodies[0].rows[0].cells[0].textContent;
    input.dispatchEvent(new Event('input'));
    s.filtered = Array.prototype.filter.call(table.tBodies[0].rows, function (r) { return !r.hidden; }).length;
    s.rows = table.tBodies[0].rows.length;
    var theme = document.getElementById('theme');
    theme.click();
    theme.click();
    s.switched = getComputedStyle(document.body).backgroundColor;
  }
  parent.postMessage(JSON.stringify(s), '*');
}
addEventListener('load', function () {
  document.querySelectorAll('details').forEach(function (d) { d.open = true; });
  setTimeout(look, 3000);
});
"""


# A window has a least width, a frame has none.
FRAME = """<!doctype html><style>body{margin:0}iframe{border:0}</style><iframe width="%s" height="1400" src="page.html"></iframe>
<script>addEventListener('message', function (e) { document.documentElement.setAttribute('data-seen', e.data); });</script>"""


def look_at(text, width, theme):
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        for name, content in ("page.html", text), ("frame.html", FRAME % width):
            open(os.path.join(directory, name), "w", encoding="utf-8").write(content)
        run = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--user-data-dir=" + os.path.join(directory, "profile"),
             "--window-size=1400,1400", "--virtual-time-budget=20000", "--enable-logging=stderr",
             "--blink-settings=preferredColorScheme=%d" % (0 if theme == "dark" else 1), "--dump-dom",
             "file://" + os.path.join(directory, "frame.html")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", timeout=120)
    found = re.search(r'data-seen="([^"]*)"', run.stdout)
    assert found, "the page did not finish: " + run.stderr[-500:]
    return json.loads(html.unescape(found.group(1))), [line for line in run.stderr.splitlines() if "CONSOLE" in line]


# Files that stand alone, one below the other, in a page like ours.
def album(directory):
    files = sorted(glob.glob(os.path.join(directory, "*.svg")))
    return ("<!doctype html><meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
            "script-src 'nonce-0'\"><meta name=\"color-scheme\" content=\"light dark\"><title>x</title><style>svg{display:block;max-width:100%}"
            "body{background:#fff}@media(prefers-color-scheme:dark){body{background:#141414}}</style><body>" +
            "".join(open(f, encoding="utf-8").read() for f in files))


def main(page, width, theme, kind):
    text = album(page) if kind == "pictures" else open(page, encoding="utf-8", errors="replace").read()
    nonce = re.search(r"script-src 'nonce-([0-9a-f]+)'", text)
    nonce = nonce.group(1) if nonce else "0"
    ours = len(re.findall(r'<script nonce="%s">' % nonce, text)) + text.count('<script type="application/json" id="figures">')
    interactive = 'id="figures"' in text
    if kind != "live":
        text = re.sub(r'<script (nonce="%s"|type="application/json" id="figures")>.*?</script>' % nonce, "", text, flags=re.S)
        # The slider of the page of the table.
        text = re.sub(r'<script id="table">.*?</script>', "", text, flags=re.S)
        # The checker of certificates on the page of the table: one script, after everything else.
        text = re.sub(r'<script>var rungChecker=(?:(?!<script).)*</script>\s*</html>\s*$', "</html>", text, flags=re.S)
        ours = 0
    probe = '<script nonce="%s">window.act = %s;%s</script>' % (nonce, "true" if kind == "live" else "false", PROBE)
    text = text.replace("<title>", probe + "<title>", 1)
    seen, console = look_at(text, width, theme)
    print(json.dumps({k: v for k, v in seen.items() if k != "sorted"}))
    assert not console, console
    assert not seen["errors"], seen["errors"]
    assert not seen["alerts"] and not seen["images"], "text became markup"
    assert seen["scripts"] == ours + 1, "%d scripts" % seen["scripts"]
    assert not seen["overlaps"], seen["overlaps"][:8]
    assert not seen["cut"], seen["cut"][:8]
    assert seen["wide"] <= 0, "the page is %d pixels wider than the window" % seen["wide"]
    assert seen["texts"] > 20
    light = sum(map(int, re.findall(r"\d+", seen["back"])[:3])) > 380
    assert light == (theme == "light"), seen["back"]
    if kind == "live":
        assert seen["sorted"] == sorted(seen["sorted"]) and seen["rows"] == len(seen["sorted"]), "not sorted"
        assert 0 < seen["filtered"] <= seen["rows"]
        assert sum(map(int, re.findall(r"\d+", seen["switched"])[:3])) < 380, "the switch does not switch"
        assert seen["live"] == (seen["figures"] if interactive else 0), "%d of %d plots" % (seen["live"], seen["figures"])


main(*sys.argv[1:])
