"""Loops in a model's code: operators that repeat, one iteration after the other, become one `repeat`."""

import numpy

from .blocks_data import Size


def fold(ops, first_free, templates, outside):
    """`ops` with its longest loop folded; `first_free`: the first number that an operator of the block makes; `outside`: numbers
    read when the block ends. Gives back the operators and what numbers became, or None."""
    run = longest_run(ops, templates)
    if run is None:
        return None
    start, length, count = run
    made = [number for op in output_numbers(ops, first_free)[start : start + length] for number in op]
    if not made:
        return None
    loop = Loop(made[0], len(made), count)
    carry = carried(ops, start, length, count, loop)
    if carry is None:
        return None
    behind = ops[start + length * count :]
    if not loop.collect(behind):
        return None
    fresh = {to for to, _ in carry if to < loop.base}
    if any(number in fresh for op in behind for number in numbers_read(op)) or any(number in fresh for number in outside):
        return None
    behind = [loop.clean_behind(op, templates) for op in behind]
    if None in behind or any(loop.rename(number) is None for number in outside):
        return None
    body = [clean(op, loop.in_first) for op in ops[start : start + length]]
    said = {"f": "repeat", "times": Size(count), "carry": carry, "ops": body}
    if loop.lists:
        said["collect"] = list(loop.lists)
    return ops[:start] + [said] + behind, loop.rename


class Loop:
    """The numbers of a loop: those of its first iteration begin at `base`, each iteration makes `width`."""

    def __init__(self, base, width, count):
        self.base, self.width, self.count = base, width, count
        self.end = base + width * count
        # Of each value that all iterations add to a list, by its number in the first: the number of the list.
        self.lists = {}

    def in_first(self, number):
        return number if number < self.base + self.width else None

    def rename(self, number):
        """What a number means behind the loop: values of its last iteration have those of the first."""
        if number < self.base:
            return number
        if number >= self.end:
            return number - self.width * (self.count - 1) + len(self.lists)
        if number >= self.end - self.width:
            return number - self.width * (self.count - 1)
        return None

    def iteration(self, number):
        """(iteration, number in the first one) of a value of the loop."""
        if not self.base <= number < self.end:
            return None
        at, place = divmod(number - self.base, self.width)
        return at, self.base + place

    def list_at(self, inputs, i):
        """The value of which `inputs` from i on has every iteration's in turn."""
        found = self.iteration(inputs[i])
        if found is None or found[0] != 0:
            return None
        whole = [found[1] + k * self.width for k in range(self.count)]
        return found[1] if inputs[i : i + self.count] == whole else None

    def collect(self, behind):
        """Finds the lists that operators behind the loop read; whether they read nothing else of earlier iterations."""
        for op in behind:
            numbers, i = numbers_read(op), 0
            while i < len(numbers):
                place = self.list_at(numbers, i) if not is_loop(op) else None
                if place is not None:
                    self.lists.setdefault(place, len(self.lists))
                    i += self.count
                elif self.rename(numbers[i]) is None:
                    return False
                else:
                    i += 1
        first = self.base + self.width
        self.lists = {place: first + i for i, place in enumerate(sorted(self.lists))}
        return True

    def clean_behind(self, op, templates):
        """An operator behind the loop with its new numbers."""
        if is_loop(op):
            return clean(op, self.rename)
        said, places, i = dict(op, i=[]), [], 0
        while i < len(op["i"]):
            place = self.list_at(op["i"], i)
            places += [len(said["i"])] * (self.count if place is not None else 1)
            said["i"].append(self.rename(op["i"][i]) if place is None else self.lists[place])
            i += self.count if place is not None else 1
        if len(said["i"]) < len(op["i"]) and not gather(said, places, templates):
            return None
        freed = []
        for number in op.get("d", []):
            at = self.iteration(number)
            if at is not None and at[0] == 0 and at[1] in self.lists:
                freed.append(self.lists[at[1]])
            elif self.rename(number) is not None:
                freed.append(self.rename(number))
        said.pop("d", None)
        if freed:
            said["d"] = freed
        return said


def gather(op, places, templates):
    """Says of an operator that reads a list what it said of each of its tensors; `places`: where each of its inputs is now.
    Whether it says the same of all."""
    if any(len(output) > 2 and places.count(places[output[2]]) > 1 for output in op["o"]):
        return False
    op["o"] = [output if len(output) < 3 else [*output[:2], places[output[2]]] for output in op["o"]]
    if "n" not in op:
        return True
    edges, saved, number = op["n"]
    moved = [f"i{places[int(name[1:])]}" if name[0] == "i" else name for name in saved]
    if len(set(moved)) != len(moved):
        return False
    results, kept, new = templates.listed[number]["r"], {}, []
    for edge, result in zip(edges, results):
        edge = None if edge is None else places[edge]
        if edge is not None and edge in kept:
            if repr(kept[edge]) != repr(result):
                return False
            continue
        kept[edge] = result
        new.append((edge, result))
    template = templates.with_results(number, [result for _, result in new])
    op["n"] = [[edge for edge, _ in new], moved, template]
    return True


def is_loop(op):
    """Whether it is a loop; ATen has an operator called repeat."""
    return "ops" in op


def numbers_read(op):
    """Every number that an operator reads, or a loop's first iteration."""
    if not is_loop(op):
        return op["i"]
    return [to for to, _ in op["carry"]] + [number for inner in op["ops"] for number in numbers_read(inner)]


def clean(op, rename):
    if is_loop(op):
        said = {**op, "carry": [[rename(to), rename(source)] for to, source in op["carry"]], "ops": [clean(inner, rename) for inner in op["ops"]]}
        if "collect" in op:
            said["collect"] = [rename(number) for number in op["collect"]]
        return said
    said = dict(op)
    said["i"] = [rename(number) for number in op["i"]]
    if None in said["i"]:
        # Read from the iteration before: a carried value's number stands for it.
        said["i"] = list(op["i"])
    freed = [rename(number) for number in op.get("d", [])]
    freed = [number for number in freed if number is not None]
    said.pop("d", None)
    if freed:
        said["d"] = freed
    return said


def output_numbers(ops, first_free):
    numbers, at = [], first_free
    for op in ops:
        count = made_by(op)
        numbers.append(list(range(at, at + count)))
        at += count
    return numbers


def made_by(op):
    """How many numbers an operator makes, or a loop, which makes those of one iteration and its lists."""
    if not is_loop(op):
        return len(op["o"])
    return sum(made_by(inner) for inner in op["ops"]) + len(op.get("collect", []))


def form(op, templates):
    """What two iterations of an operator have in common."""
    node = op.get("n")
    template = templates.content_of[node[2]] if node else None
    return (op["f"], op.get("m"), repr(op["o"]), len(op["i"]), repr(node[:2]) if node else None, template)


def longest_run(ops, templates):
    """(start, length of one iteration, count) of the run of equal iterations that covers most, of at least three."""
    numbers = {}
    forms = [form(op, templates) if not is_loop(op) else ("repeat", i) for i, op in enumerate(ops)]
    forms = numpy.array([numbers.setdefault(one, len(numbers)) for one in forms])
    best = None
    for length in range(3, len(forms) // 3 + 1):
        equal = numpy.concatenate(([0], forms[:-length] == forms[length:], [0]))
        starts, ends = numpy.flatnonzero(numpy.diff(equal) == 1), numpy.flatnonzero(numpy.diff(equal) == -1)
        counts = (ends - starts) // length + 1
        for start, count in zip(starts[counts >= 3].tolist(), counts[counts >= 3].tolist()):
            if best is None or count * length > best[1] * best[2]:
                best = (start, length, count)
    return best


def carried(ops, start, length, count, loop):
    """[[read by the first iteration, made by the one before], ...]; None where iterations read something else."""
    base, width, carry, same = loop.base, loop.width, {}, set()
    for k in range(1, count):
        for j in range(length):
            first, now = ops[start + j], ops[start + k * length + j]
            for one, other in zip(first["i"], now["i"]):
                own = other - k * width
                if one == other and other < base:
                    same.add(one)
                    continue
                if one >= base and own == one:
                    continue
                before = other - (k - 1) * width
                if one < base and base <= before < base + width:
                    if carry.setdefault(one, before) != before:
                        return None
                    continue
                return None
    # What is carried is read as the first iteration reads it: nothing else may be read under that number.
    if same & set(carry):
        return None
    return [[to, source] for to, source in sorted(carry.items())]
