#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""The documentation as a site: site.py RUNG. It is built into a temporary directory, and read as a browser reads it.

Every address leads to a file, every anchor to an element; nothing is loaded from the network; every page is reached from
the first one; every option of every command has a row; the search finds what is there (asked with node, and in Chromium
from a disk, where they are installed).
"""
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
RUNG = os.path.realpath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "build", "rung"))


class Page(html.parser.HTMLParser):
    VOID = {"meta", "link", "img", "input", "br", "hr"}

    def __init__(self, path):
        super().__init__()
        self.links, self.loaded, self.ids, self.open = [], [], [], []
        with open(path, encoding="utf-8") as file:
            self.feed(file.read())
        assert not self.open, (path, self.open)

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if "id" in attrs:
            self.ids.append(attrs["id"])
        if tag == "a":
            self.links.append(attrs["href"])
        for name in ("src", "href"):
            if tag != "a" and name in attrs:
                self.loaded.append(attrs[name])

    def handle_endtag(self, tag):
        if tag in self.VOID:
            return
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()


def read_site(site):
    pages = {}
    for here, _, files in os.walk(site):
        for name in files:
            if name.endswith(".html"):
                path = os.path.join(here, name)
                pages[os.path.relpath(path, site)] = Page(path)
    return pages


def target_of(page, href):
    path, _, anchor = href.partition("#")
    path = urllib.parse.unquote(path)
    return os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page, anchor


def check_links(site, pages):
    links = 0
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids)), (name, [i for i in page.ids if page.ids.count(i) > 1])
        for href in page.loaded:
            assert not re.match(r"[a-z]+:|//", href), "%s loads %s" % (name, href)
            assert os.path.isfile(os.path.join(site, target_of(name, href)[0])), "%s loads %s" % (name, href)
        for href in page.links:
            if re.match(r"https?:", href):
                continue
            links += 1
            target, anchor = target_of(name, href)
            assert os.path.isfile(os.path.join(site, target)), "%s links to %s" % (name, href)
            assert not anchor or target not in pages or anchor in pages[target].ids, "%s links to %s" % (name, href)
    assert links > 5000, links


def check_reach(pages):
    seen, todo = set(), ["index.html"]
    while todo:
        name = todo.pop()
        if name in seen or name not in pages:
            continue
        seen.add(name)
        todo += [target_of(name, href)[0] for href in pages[name].links if not re.match(r"https?:", href)]
    assert seen == set(pages), sorted(set(pages) - seen)


def check_commands(site, pages):
    text = subprocess.run([RUNG, "help", "--json"], check=True, stdout=subprocess.PIPE, text=True).stdout
    commands = json.loads(text)["commands"]
    assert len(commands) > 25
    for command in commands:
        page = pages["commands/%s.html" % command["name"]]
        for option in command["options"]:
            assert "option-" + option["name"] in page.ids, (command["name"], option["name"])
    with open(os.path.join(site, "commands", "train.html"), encoding="utf-8") as file:
        assert "integer from" in file.read()


def check_text(site):
    with open(os.path.join(site, "docs", "theory.html"), encoding="utf-8") as file:
        theory = file.read()
    assert "acc<sub>j-1</sub>" in theory and 'class="term"' in theory
    with open(os.path.join(site, "docs", "import.html"), encoding="utf-8") as file:
        assert "Q4_0" in file.read()  # the name of a type is no formula
    tables = sum(len(re.findall(r"^\|(?:\s*:?-+:?\s*\|)+$", open(os.path.join(ROOT, "docs", f), encoding="utf-8").read(), re.M))
                 for f in os.listdir(os.path.join(ROOT, "docs")) if f.endswith(".md"))
    made = sum(open(os.path.join(site, "docs", f[:-3] + ".html"), encoding="utf-8").read().count("<table>") if f != "README.md" else 0
               for f in os.listdir(os.path.join(ROOT, "docs")) if f.endswith(".md"))
    assert tables and made == tables, (tables, made)


# A line of a paragraph that begins like this becomes a quotation or a list.
STRAY = re.compile(r" *(>|\+ |\d+\) )")


def check_paragraphs():
    stray, lines = [], 0
    for here, folders, files in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in ("build", "node_modules") and not f.startswith(".")]
        for path in (os.path.join(here, f) for f in files if f.endswith(".md")):
            fenced = False
            for number, line in enumerate(open(path, encoding="utf-8"), 1):
                lines += 1
                fenced ^= line.startswith("```")
                if not fenced and not line.startswith("    ") and STRAY.match(line):
                    stray.append("%s:%d: %s" % (path, number, line.strip()))
    assert lines > 9000 and not stray, "\n".join(stray)


SEARCHES = [("swallow", "docs/attacks.html#swallow"), ("premise", "docs/theory.html#premises"),
            ("--few-values", "commands/train.html"), ("rung doctor", "commands/doctor.html"), ("accumulator", "docs/glossary.html")]


def check_search(site):
    node = shutil.which("node")
    if not node:
        print("SKIPPED: node is not installed, the search was not asked")
        return
    # site.js asks the document for its parts; for the search alone anything will do as a part.
    program = """
const fs = require('fs'), part = new Proxy(function () {}, {get: (_, name) => name === Symbol.toPrimitive ? () => '' :
  name === 'forEach' ? () => {} : part, apply: () => part, set: () => true});
global.window = global; global.document = part; global.location = {search: ''};
new Function(fs.readFileSync(process.argv[1] + '/search.js', 'utf8') + ';global.searchIndex = searchIndex')();
new Function(fs.readFileSync(process.argv[1] + '/site.js', 'utf8'))();
console.log(JSON.stringify(JSON.parse(process.argv[2]).map(q => siteFind(q).map(s => s[2]))));"""
    asked = [q for q, _ in SEARCHES] + ["zzqqxx", ""]
    answers = json.loads(subprocess.run([node, "-e", program, site, json.dumps(asked)], check=True, stdout=subprocess.PIPE, text=True).stdout)
    for (query, want), found in zip(SEARCHES, answers):
        assert any(f.startswith(want) for f in found[:8]), (query, want, found)
    assert answers[-2:] == [[], []], answers[-2:]


def check_browser(site):
    chromium = shutil.which("chromium")
    if not chromium:
        print("SKIPPED: chromium is not installed, no page was opened")
        return
    with tempfile.TemporaryDirectory() as profile:
        out = subprocess.run([chromium, "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=" + profile, "--virtual-time-budget=4000",
                              "--dump-dom", "file://%s/docs/speed.html?q=swallow" % site], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    found = re.search(r'<ol class="found">(.*?)</ol>', out, re.S)
    assert found and "docs/attacks.html#swallow" in found.group(1) and "<mark>" in found.group(1), out[:2000]


def main():
    try:
        import markdown_it  # noqa: F401
    except ImportError:
        print("SKIPPED: python3-markdown-it is not installed, there is no site")
        return
    with tempfile.TemporaryDirectory() as scratch:
        site = os.path.join(scratch, "site")
        subprocess.run([sys.executable, os.path.join(ROOT, "scripts", "site.py"), RUNG, site], check=True)
        pages = read_site(site)
        check_links(site, pages)
        check_reach(pages)
        check_commands(site, pages)
        check_text(site)
        check_paragraphs()
        check_search(site)
        check_browser(site)
        print("site: %d pages" % len(pages))


main()
