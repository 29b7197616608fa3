# SPDX-License-Identifier: MIT
"""All prompts of a task of a small size, with their answers, from the definition in docs/tasks.md alone."""
import itertools


def eva(entries, values):
    """A table of values, then the place that is asked for."""
    for table in itertools.product(range(values), repeat=entries):
        for place in range(entries):
            yield [*table, values + place], table[place]


def eva_pair(entries, keys, values):
    """Pairs of a key and a value, keys all different, then a key."""
    for order in itertools.permutations(range(keys), entries):
        for table in itertools.product(range(values), repeat=entries):
            for place in range(entries):
                prompt = [key * values + value for key, value in zip(order, table)]
                yield [*prompt, keys * values + order[place]], table[place]


def composition(first, second):
    """z_2, z_1, z_0, w: the answer is z_2(w, z_1(z_0)). z_1 has `first` entries, z_2 `second` blocks of as many."""
    values = first * second
    start_1, start_2 = 0, first
    start_0, start_w = first + values, first + values + first
    for outer in itertools.product(range(values), repeat=values):
        for inner in itertools.product(range(first), repeat=first):
            for place in range(first):
                for block in range(second):
                    prompt = [start_2 + v for v in outer] + [start_1 + v for v in inner] + [start_0 + place, start_w + block]
                    yield prompt, outer[block * first + inner[place]]


FORMS = {"eva": eva, "eva-pair": eva_pair, "composition": composition}
