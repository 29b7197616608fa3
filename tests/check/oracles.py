# SPDX-License-Identifier: MIT
# Copyright (c) The rung authors
#
# The tasks of docs/certificate.md, section 5, once more and without care for speed: the answer to a prompt, or None if it is no
# prompt; and all prompts of a small task.
import itertools


def parse(text):
    name, *words = text.split()
    return name, dict(word.split("=", 1) for word in words)


def eva(p, prompt):
    n, v, k = int(p["N"]), int(p["V"]), int(p.get("K", p["N"]))
    pair = p.get("form") == "pair"
    if len(prompt) != n + 1:
        return None
    ids = k * v if pair else v
    if any(not 0 <= x < ids for x in prompt[:-1]) or not ids <= prompt[-1] < ids + k:
        return None
    table = [divmod(x, v) for x in prompt[:-1]] if pair else list(enumerate(prompt[:-1]))
    if len({key for key, _ in table}) != n:
        return None
    return dict(table).get(prompt[-1] - ids)


def two_sum(p, prompt):
    n, m, blank = int(p["N"]), int(p["M"]), int(p["blank"])
    if len(prompt) != blank + n + 1 or (blank and prompt[0] != 2 * m):
        return None
    numbers, query = prompt[blank:-1], prompt[-1] - m
    if any(not 0 <= x < m for x in numbers) or not 0 <= query < m:
        return None
    return int(any((x + query) % m == 0 for x in numbers))


def recall(p, prompt):
    n, k, v = int(p["N"]), int(p["K"]), int(p["V"])
    if len(prompt) != 2 * n + 1:
        return None
    keys, values = prompt[0:-1:2], prompt[1::2]
    if any(not 0 <= x < k for x in keys) or any(not k <= x < k + v for x in values) or len(set(keys)) != n or prompt[-1] not in keys:
        return None
    return values[keys.index(prompt[-1])] - k


def seqcomp_sizes(p):
    depth, n0, v, flat = int(p["L"]), int(p["N0"]), int(p["V"]), int(p["flat"])
    digits = [1] + [int(x) for x in p["n"].split(",") if x]
    arguments, values = [], [n0]
    for level in range(depth):
        arguments.append(digits[level] * values[-1])
        values.append(v if level == depth - 1 else n0 if flat else arguments[-1])
    return digits, arguments, values


def seqcomp_ids(p):
    digits, arguments, values = seqcomp_sizes(p)
    pair = p["form"] == "pair"
    first, ids = [], 0
    for a, r in zip(arguments, values[1:]):
        first.append(ids)
        ids += a * r if pair else r
    places = 1
    for d in digits:
        places *= d
    return first, ids, ids + values[0], places


def seqcomp(p, prompt):
    digits, arguments, values = seqcomp_sizes(p)
    first, z0, w_id, places = seqcomp_ids(p)
    pair = p["form"] == "pair"
    rest = list(prompt)
    if len(rest) != sum(arguments) + 2:
        return None
    w = (rest.pop(0) if p["order"] == "first" else rest.pop()) - w_id
    i = rest.pop() - z0
    if not 0 <= w < places or not 0 <= i < values[0]:
        return None
    tables = {}
    for level in reversed(range(len(arguments))):
        a, r = arguments[level], values[level + 1]
        entries, rest = rest[:a], rest[a:]
        entries = [e - first[level] for e in entries]
        if any(not 0 <= e < (a * r if pair else r) for e in entries):
            return None
        tables[level] = dict(divmod(e, r) for e in entries) if pair else dict(enumerate(entries))
        if len(tables[level]) != a:
            return None
    for level in range(len(arguments)):
        w, digit = divmod(w, digits[level])
        i = tables[level][digit * values[level] + i]
    return i


ORACLES = {"eva": eva, "index": eva, "two-sum": two_sum, "assoc-recall": recall, "seqcomp": seqcomp}


def answer(task, prompt):
    name, p = parse(task)
    return ORACLES[name](p, list(prompt))


def shape(task):
    """Tokens, ids, answers."""
    name, p = parse(task)
    if name in ("eva", "index"):
        n, v, k = int(p["N"]), int(p["V"]), int(p.get("K", p["N"]))
        return n + 1, (k * v + k if p.get("form") == "pair" else v + n), v
    if name == "two-sum":
        return int(p["blank"]) + int(p["N"]) + 1, 2 * int(p["M"]) + int(p["blank"]), 2
    if name == "assoc-recall":
        return 2 * int(p["N"]) + 1, int(p["K"]) + int(p["V"]), int(p["V"])
    _, _, w_id, places = seqcomp_ids(p)
    return sum(seqcomp_sizes(p)[1]) + 2, w_id + places, int(p["V"])


def prompts(task, rng, limit=400):
    """(prompt, answer) pairs: all of them, or random ones."""
    tokens, ids, _ = shape(task)
    candidates = itertools.product(range(ids), repeat=tokens) if ids**tokens <= 20000 else random_rows(task, rng)
    found = []
    for row in candidates:
        right = answer(task, row)
        if right is not None:
            found.append((list(row), right))
        if len(found) == limit and ids**tokens > 20000:
            break
    return found


def random_rows(task, rng):
    tokens, ids, _ = shape(task)
    name, p = parse(task)
    for _ in range(2000000):
        if name != "seqcomp":
            yield [rng.randrange(ids) for _ in range(tokens)]
            continue
        digits, arguments, values = seqcomp_sizes(p)
        first, z0, w_id, places = seqcomp_ids(p)
        row = []
        for level in reversed(range(len(arguments))):
            order = list(range(arguments[level]))
            rng.shuffle(order)
            r = values[level + 1]
            row += [first[level] + (a * r if p["form"] == "pair" else 0) + rng.randrange(r) for a in order]
        row += [z0 + rng.randrange(values[0])]
        w = w_id + rng.randrange(places)
        yield [w, *row] if p["order"] == "first" else [*row, w]
