#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
"""The documentation as pages that need no network: site.py RUNG OUT.

Every Markdown page of the tree becomes a page of OUT at the same place, docs/README.md becomes OUT/index.html. Files that
pages link to (headers, scripts, figures) come along, so that no link leads outside. Every command has a page made of its
own option table (RUNG help --json), every topic one of its help. Terms of the glossary are links at their first use on a
page. search.js holds the text of every section. Needs python3-markdown-it.
"""
import html
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys

try:
    from markdown_it import MarkdownIt
except ImportError:
    sys.exit("site: the package python3-markdown-it (PyPI: markdown-it-py) is missing")

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), ".."))
ASSETS = os.path.join(ROOT, "scripts", "site")
TOPICS = ["arch", "numbers", "tasks", "verdicts"]
FIRST = ["README.md", "docs/README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"]
PICTURES = {".svg", ".png", ".csv", ".ipynb"}

# Terms of the glossary that are everyday words too: a link at "run" or "case" would more often be wrong than right.
EVERYDAY = set("""answer basis block case cell choices fact format group instance key law layer means message names
options pair pattern player point prompt quantity row run setting spec spelling statement story target task thoughts
attempts candidate""".split())
VERBS = set("attack bound claim probe state store sweep".split())  # with an s these are verbs as often as nouns


def slug(heading):
    """The anchor that a heading has on the usual sites for Markdown; tests/tool/docs.bats checks links by the same rule."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def sources():
    found = [page for page in FIRST if os.path.exists(os.path.join(ROOT, page))]
    for folder in ("docs", "examples", "proofs"):
        for here, folders, files in os.walk(os.path.join(ROOT, folder)):
            folders.sort()
            for name in sorted(files):
                path = os.path.relpath(os.path.join(here, name), ROOT)
                if name.endswith(".md") and path not in found:
                    found.append(path)
    return found


def address(path):
    """Where the page or file of the tree is in the site."""
    if path == "docs/README.md":
        return "index.html"
    if path != "README.md" and path.endswith("/README.md"):
        return path[: -len("README.md")] + "index.html"
    if path.endswith(".md"):
        return path[:-3] + ".html"
    if os.path.splitext(path)[1] in PICTURES:
        return path
    return path + ".html"


def relative(target, page):
    return posixpath.relpath(target, posixpath.dirname(page) or ".")


def group_end(text, at):
    """The end of what is raised or lowered at `at`: a bracket with its content, a number, one or two letters; or `at`."""
    if at < len(text) and text[at] in "({":
        depth = 0
        for end in range(at, len(text)):
            depth += (text[end] in "({") - (text[end] in ")}")
            if depth == 0:
                return end + 1
        return at
    match = re.compile(r"[-−]?\d+|[-−]?[A-Za-z]\w?(?!\w)|[A-Za-z]{3,8}(?!\w)").match(text, at)
    if not match:
        return at
    if match.group(0).isalpha() and text[match.end() : match.end() + 1] == "(":  # 2^min(a, b)
        return group_end(text, match.end())
    return match.end()


# What may stand before a mark.
BASE = {"_": re.compile(r"(?<![\w/.])(?!Q\d)[^\W\d_]{1,3}\d?$|[)\]]$"), "^": re.compile(r"[\w)\]]$")}


def math(text):
    """HTML of plain text in which h_(t-1) and 2^(n-1) are lowered and raised. Names such as test_ceiling stay as they are."""
    out, at, start = [], 0, 0
    while at < len(text):
        mark = text[at]
        base = BASE[mark].search(text[max(0, at - 6) : at]) if mark in BASE else None
        end = group_end(text, at + 1) if base else at + 1
        if base and end > at + 1 and not (mark == "_" and re.match(r"\w", text[end : end + 1])) and not (mark == "_" and end - at > 3 and text[at + 1] not in "({-"):
            inner = text[at + 1 : end]
            inner = inner[1:-1] if inner[0] in "({" else inner
            tag = "sub" if mark == "_" else "sup"
            out += [html.escape(text[start:at], quote=False), "<%s>%s</%s>" % (tag, math(inner), tag)]
            at = start = end
        else:
            at += 1
    return "".join(out) + html.escape(text[start:], quote=False)


def plain(tokens):
    """The text of inline tokens without marks."""
    return "".join(t.content if t.type in ("text", "code_inline") else " " if t.type == "softbreak" else "" for t in tokens)


class Site:
    def __init__(self, rung, out):
        self.rung, self.out = rung, out
        self.files = set()  # of the tree, to come along
        self.sections = []  # of the search: [title of the page, heading, address, text]
        self.markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
        self.titles = {}
        self.pages = sources()
        for page in self.pages:
            self.titles[page] = self.title_of(page)
        self.titles["README.md"] = "README"
        self.terms = self.glossary()
        self.readers = self.index_by_reader()

    def read(self, page):
        with open(os.path.join(ROOT, page), encoding="utf-8") as file:
            return file.read()

    def ask(self, *words):
        return subprocess.run([self.rung, *words], check=True, stdout=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "80"}).stdout

    def title_of(self, page):
        match = re.search(r"^# +(.*)$", self.read(page), re.M)
        return re.sub(r"[`*]", "", match.group(1)) if match else page

    def glossary(self):
        """term -> (anchor, what it means)"""
        terms = {}
        for term, meaning in re.findall(r"^- \*\*(.+?)\*\*: (.*(?:\n  .*)*)", self.read("docs/glossary.md"), re.M):
            meaning = re.sub(r"\s+", " ", meaning)
            terms[term] = ("term-" + slug(term), re.split(r"(?<=\.) (?:In|Not)\b", meaning)[0].replace("`", ""))
        return terms

    def index_by_reader(self):
        """The sections of docs/README.md with the pages that they list, for the navigation."""
        readers = []
        for section in re.split(r"^## +", self.read("docs/README.md"), flags=re.M)[1:]:
            head, _, body = section.partition("\n")
            pages = []
            for item in re.findall(r"^\d+\. (.*(?:\n +.*)*)", body, re.M):
                label, link = re.match(r"\[([^]]*)\]\(([^)#]*)", item).groups()
                pages.append(posixpath.normpath(posixpath.join("docs", link)))
            pages = [p + "/README.md" if p + "/README.md" in self.titles else p for p in pages]
            readers.append((head.strip(), [p for p in pages if p in self.titles]))
        return readers

    # ---- links ------------------------------------------------------------------------------------------------------

    def link(self, href, source, here):
        """An address on the page `here` for a link of the source page `source`."""
        if re.match(r"[a-z]+:", href) or href.startswith("#"):
            return href
        path, mark, anchor = href.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
        if os.path.isdir(os.path.join(ROOT, path)):
            path = path + "/README.md" if path + "/README.md" in self.titles else path
        if path not in self.titles:
            self.files.add(path)
        target = path + "/index.html" if os.path.isdir(os.path.join(ROOT, path)) else address(path)
        return relative(target, here) + mark + anchor

    # ---- from Markdown ----------------------------------------------------------------------------------------------

    def render(self, text, source, here):
        """HTML of a page, and its headings of level 2 as (anchor, text)."""
        tokens = self.markdown.parse(text)
        heads, section, seen = [], None, set()
        linked = set(self.terms) if source == "docs/glossary.md" else set()
        inside = None  # the level of a list item, paragraph or heading that we are in
        for at, token in enumerate(tokens):
            if token.type == "heading_open":
                inside = "heading"
                heading = plain(tokens[at + 1].children)
                anchor = slug(heading)
                while anchor in seen:
                    anchor += "-1"
                seen.add(anchor)
                token.attrSet("id", anchor)
                if token.tag == "h2":
                    heads.append((anchor, heading))
                section = [self.titles[source], "" if token.tag == "h1" else heading, here + ("" if token.tag == "h1" else "#" + anchor), []]
                self.sections.append(section)
            elif token.type == "heading_close":
                inside = None
            elif token.type == "inline":
                if section and inside != "heading":
                    section[3].append(plain(token.children))
                self.inline(token, source, here, linked if inside != "heading" else None)
            elif token.type in ("fence", "code_block") and section:
                section[3].append(token.content)
        body = self.markdown.renderer.render(tokens, self.markdown.options, {})
        body = re.sub(r"<table>.*?</table>", lambda m: '<div class="wide">' + m.group(0) + "</div>", body, flags=re.S)
        body = re.sub(r"<pre><code>(.*?)</code>", self.formula, body, flags=re.S)
        body = re.sub(r'<pre><code class="language-[^"]*">', '<pre class="code"><code>', body)
        body = re.sub(r"^(<pre[^>]*><code>)?(\$ .*)$", r'\1<b class="typed">\2</b>', body, flags=re.M)
        body = re.sub(r'<(h[2-4]) id="([^"]+)">(.*?)</\1>', r'<\1 id="\2">\3 <a class="here" href="#\2" aria-label="link to this section">#</a></\1>', body)
        if source == "docs/glossary.md":
            body = re.sub(r"<li>\s*(?:<p>)?<strong>(.*?)</strong>",
                          lambda m: m.group(0).replace("<li>", '<li id="term-%s">' % slug(html.unescape(m.group(1))), 1), body)
        return body, heads

    @staticmethod
    def formula(match):
        """An indented block: a formula, or lines whose columns belong together."""
        text = html.unescape(match.group(1))
        one_line = text.count("\n") == 1 and not text.startswith("rung ")
        return '<pre class="formula"><code>%s</code>' % (math(text) if one_line else match.group(1))

    def inline(self, token, source, here, linked):
        """Rewrites links and pictures, and makes the first use of a term a link. linked: terms that are links already; None:
        make none."""
        depth, children = 0, []
        for at, child in enumerate(token.children):
            if child.type == "link_open":
                depth += 1
                self.name_page(token.children[at + 1], child.attrGet("href"), source)
                child.attrSet("href", self.link(child.attrGet("href"), source, here))
            elif child.type == "link_close":
                depth -= 1
            elif child.type == "image":
                child.attrSet("src", self.link(child.attrGet("src"), source, here))
            if child.type == "text" and depth == 0 and linked is not None:
                children += self.with_terms(child, here, linked)
            else:
                children.append(child)
        for at, child in enumerate(children):
            if child.type == "text" and re.search("[_^]", child.content):
                children[at] = child.copy(type="html_inline", content=math(child.content))
        token.children = children

    def name_page(self, label, href, source):
        """A link whose label is the name of a file, "theory.md", gets the title of the page."""
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), href.partition("#")[0]))
        path = path + "/README.md" if path + "/README.md" in self.titles else path
        if path in self.titles and re.fullmatch(r"[\w./-]+(\.md|/)", label.content):
            label.content = self.titles[path]

    def with_terms(self, child, here, linked):
        if not hasattr(self, "term_pattern"):
            words = [t for t in self.terms if t not in EVERYDAY and "(" not in t]
            words = sorted(words + [t + "s" for t in words if t not in VERBS], key=len, reverse=True)
            self.term_pattern = re.compile(r"(?<![\w-])(%s)(?![\w-])" % "|".join(map(re.escape, words)), re.I)
        parts, last = [], 0
        for match in self.term_pattern.finditer(child.content):
            term = match.group(1).lower()
            term = term if term in self.terms else term[:-1]
            if term in linked:
                continue
            linked.add(term)
            anchor, meaning = self.terms[term]
            parts += [("text", child.content[last : match.start()]), ("term", match.group(0), anchor, meaning)]
            last = match.end()
        if not parts:
            return [child]
        parts.append(("text", child.content[last:]))
        made = []
        for part in parts:
            new = child.copy(type="text", content=part[1])
            if part[0] == "term":
                new = child.copy(type="html_inline", content='<a class="term" href="%s#%s" title="%s">%s</a>' % (
                    relative("docs/glossary.html", here), part[2], html.escape(part[3]), html.escape(part[1])))
            made.append(new)
        return made

    # ---- pages --------------------------------------------------------------------------------------------------------

    def navigation(self, here):
        def item(target, text):
            mark = ' aria-current="page"' if target == here else ""
            return '<li><a href="%s"%s>%s</a></li>' % (relative(target, here), mark, html.escape(text))

        parts = ['<ul class="top">', item("index.html", "By reader"), item("README.html", "Five minutes"), item("docs/commands.html", "Commands"),
                 item("docs/glossary.html", "Glossary"), "</ul>"]
        # A page that several readers are sent to is open in the first list that has it.
        shown = False
        for head, pages in self.readers:
            is_here = not shown and any(address(p) == here for p in pages)
            shown = shown or is_here
            parts.append("<details%s><summary>%s</summary><ul>%s</ul></details>" % (
                " open" if is_here else "", html.escape(head), "".join(item(address(p), self.titles[p]) for p in pages)))
        for head, pages in (("Every command", [("commands/%s.html" % c["name"], "rung " + c["name"]) for c in self.commands]),
                            ("Topics", [("commands/help-%s.html" % t, "rung help " + t) for t in TOPICS])):
            is_here = any(target == here for target, _ in pages)
            parts.append("<details%s><summary>%s</summary><ul>%s</ul></details>" % (
                " open" if is_here else "", head, "".join(item(t, text) for t, text in pages)))
        return "".join(parts)

    def write(self, here, title, body, heads=()):
        contents = ""
        if len(heads) > 2:
            contents = '<details class="contents"><summary>On this page</summary><ul>%s</ul></details>' % "".join(
                '<li><a href="#%s">%s</a></li>' % (a, html.escape(t)) for a, t in heads)
            body = re.sub(r"(</h1>)", lambda m: m.group(1) + contents, body, count=1)
        root = relative(".", here)
        page = TEMPLATE.format(title=html.escape(title), root="" if root == "." else root + "/", navigation=self.navigation(here), body=body,
                               version=html.escape(self.version))
        path = os.path.join(self.out, here)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def command_page(self, command):
        here, name = "commands/%s.html" % command["name"], command["name"]
        e = html.escape
        parts = ["<h1>rung %s</h1><p>%s</p>" % (e(name), e(command["summary"][0].upper() + command["summary"][1:] + "."))]
        anchor = self.command_anchor.get(name)
        if anchor:
            parts.append('<p>With its output: <a href="../docs/commands.html#%s">a screen of rung %s</a>.</p>' % (anchor, e(name)))
        for paragraph in command.get("details", "").split("\n"):
            if paragraph:
                parts.append("<p>%s</p>" % re.sub(r"\bdocs/([\w-]+)\.md\b", r'<a href="../docs/\1.html">docs/\1.md</a>', e(paragraph)))
        parts.append('<h2 id="usage">Usage</h2><pre class="code usage"><code>rung %s</code></pre>' % e(re.sub(r"^rung ", "", command["usage"])))
        if command.get("examples"):
            parts.append('<h2 id="examples">Examples</h2><dl>%s</dl>' % "".join(
                "<dt><code>%s</code></dt><dd>%s</dd>" % (e(x["line"]), e(x["help"])) for x in command["examples"]))
        if command.get("arguments"):
            parts.append('<h2 id="arguments">Arguments</h2><dl>%s</dl>' % "".join(
                "<dt><code>%s</code></dt><dd>%s</dd>" % (e(x["name"]), e(x["help"])) for x in command["arguments"]))
        rows = []
        for option in command["options"]:
            letter = "<code>-%s</code>, " % e(option["letter"]) if option.get("letter") else ""
            values = ""
            if option.get("choices"):
                values = ", ".join(option["choices"])
            elif option["kind"] != "flag":
                values = option["kind"]
                low, high = option.get("low"), option.get("high")
                if low is not None and high is not None:
                    values += " from %d" % low + (" to %d" % high if high < 2**53 else "")
            rows.append('<tr id="option-%s"><td>%s<code>--%s</code></td><td>%s</td><td>%s</td><td>%s</td></tr>' % (
                e(option["name"]), letter, e(option["name"]), e(option["help"]), e(values), "<code>%s</code>" % e(option["default"]) if option.get("default") else ""))
        parts.append('<h2 id="options">Options</h2><div class="wide"><table class="table-of-options"><thead><tr><th>option</th><th>what it says</th><th>value</th>'
                     "<th>default</th></tr></thead><tbody>%s</tbody></table></div>" % "".join(rows))
        if command.get("exits_with_1"):
            parts.append('<p>Exit code 1: %s. The others are in <a href="../docs/commands.html">Commands</a>.</p>' % e(command["exits_with_1"]))
        self.write(here, "rung " + name, "".join(parts))
        text = [command.get("details", "")] + ["--%s %s" % (o["name"], o["help"]) for o in command["options"]]
        self.sections.append(["rung " + name, command["summary"], here, text])

    def topic_page(self, topic):
        text = self.ask("help", topic)
        here = "commands/help-%s.html" % topic
        self.write(here, "rung help " + topic, '<h1>rung help %s</h1><pre class="code"><code>%s</code></pre>' % (topic, html.escape(text)))
        self.sections.append(["rung help " + topic, "", here, [text]])

    def file_page(self, path):
        here, full = address(path), os.path.join(ROOT, path)
        if os.path.isdir(full):
            here = path + "/index.html"
            names = sorted(n for n in os.listdir(full) if not n.startswith("."))
            body = "<h1>%s</h1><ul>%s</ul>" % (html.escape(path), "".join("<li><code>%s</code></li>" % html.escape(n) for n in names))
            self.write(here, path, body)
        elif os.path.splitext(path)[1] in PICTURES:
            os.makedirs(os.path.dirname(os.path.join(self.out, path)), exist_ok=True)
            shutil.copyfile(full, os.path.join(self.out, path))
        else:
            self.write(here, path, '<h1>%s</h1><pre class="code file"><code>%s</code></pre>' % (html.escape(path), html.escape(self.read(path))))

    def make(self):
        help_text = json.loads(self.ask("help", "--json"))
        self.commands, self.version = help_text["commands"], help_text["version"]
        heads = re.findall(r"^## +(.*)$", self.read("docs/commands.md"), re.M)
        self.command_anchor = {c["name"]: slug(h) for c in self.commands for h in heads if re.search(r"\brung %s(,|$)" % re.escape(c["name"]), h)}
        for page in self.pages:
            here = address(page)
            body, heads = self.render(self.read(page), page, here)
            if page == "docs/commands.md":
                body = self.with_option_tables(body)
            self.write(here, self.titles[page] + ("" if page == "README.md" else " - rung"), body, heads)
        for command in self.commands:
            self.command_page(command)
        for topic in TOPICS:
            self.topic_page(topic)
        for term, (anchor, meaning) in self.terms.items():
            self.sections.append(["Glossary", term, "docs/glossary.html#" + anchor, [meaning]])
        for path in sorted(self.files):
            self.file_page(path)
        for name in ("site.css", "site.js"):
            shutil.copyfile(os.path.join(ASSETS, name), os.path.join(self.out, name))
        index = [[title, heading, where, re.sub(r"\s+", " ", " ".join(text)).strip()] for title, heading, where, text in self.sections]
        with open(os.path.join(self.out, "search.js"), "w", encoding="utf-8") as file:
            file.write("var searchIndex=" + json.dumps(index, ensure_ascii=False, separators=(",", ":")) + ";\n")

    def with_option_tables(self, body):
        for command in self.commands:
            anchor = self.command_anchor.get(command["name"])
            if anchor:
                body = re.sub(r'(<h2 id="%s">.*?</h2>)' % re.escape(anchor),
                              lambda m: m.group(1) + '<p class="options"><a href="../commands/%s.html">All options of rung %s</a></p>' % (
                                  command["name"], command["name"]), body, count=1)
        return body


TEMPLATE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>{title}</title><link rel="stylesheet" href="{root}site.css"><script>var siteRoot="{root}"</script>
<script src="{root}site.js" defer></script></head>
<body><header><a class="name" href="{root}index.html">rung <small>{version}</small></a>
<form role="search"><input type="search" placeholder="Search" aria-label="Search" autocomplete="off"><ol class="found" hidden></ol></form>
<button class="menu" type="button" aria-expanded="false">Menu</button></header>
<div class="columns"><nav>{navigation}</nav><main>{body}</main></div></body></html>
"""


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: site.py RUNG OUT")
    rung, out = sys.argv[1:]
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(out)
    site = Site(os.path.realpath(rung), os.path.realpath(out))
    site.make()
    print("%s/index.html: %d pages, %d sections to search" % (out, sum(len([f for f in files if f.endswith(".html")]) for _, _, files in os.walk(out)),
                                                              len(site.sections)))


main()
