"""Loops in a model's code: operators that repeat, one iteration after the other, become one `repeat`."""

from .blocks_data import Size


def fold(ops, first_free, templates, outside):
    """`ops` with its longest loop folded; `first_free`: the first number that an operator of the block makes; `outside`: numbers
    read when the block ends. Gives back the operators and what numbers became, or None."""
    run = longest_run(ops, templates)
    if run is None:
        return None
    start, length, count = run
    outputs = output_numbers(ops, first_free)
    made = [number for op in outputs[start : start + length] for number in op]
    width = len(made)
    if not width:
        return None
    base = made[0]
    last = base + width * (count - 1)
    carry = carried(ops, outputs, start, length, count, base, width)
    if carry is None:
        return None

    def rename(number):
        if number < base + width:
            return number
        if number >= base + width * count:
            return number - width * (count - 1)
        if number >= last:
            return number - width * (count - 1)
        return None

    body = [clean(op, lambda number: number if number < base + width else None) for op in ops[start : start + length]]
    loop = {"f": "repeat", "times": Size(count), "carry": carry, "ops": body}
    behind = []
    for op in ops[start + length * count :]:
        if any(rename(number) is None for number in numbers_read(op)):
            return None
        behind.append(clean(op, rename))
    if any(rename(number) is None for number in outside):
        return None
    return ops[:start] + [loop] + behind, rename


def numbers_read(op):
    """Every number that an operator reads, or a loop's first iteration."""
    if op["f"] != "repeat":
        return op["i"]
    return [to for to, _ in op["carry"]] + [number for inner in op["ops"] for number in numbers_read(inner)]


def clean(op, rename):
    if op["f"] == "repeat":
        return {**op, "carry": [[rename(to), rename(source)] for to, source in op["carry"]], "ops": [clean(inner, rename) for inner in op["ops"]]}
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
    """How many numbers an operator makes, or a loop, which makes those of one iteration."""
    return sum(made_by(inner) for inner in op["ops"]) if op["f"] == "repeat" else len(op["o"])


def form(op, templates):
    """What two iterations of an operator have in common."""
    node = op.get("n")
    template = templates[node[2]] if node else None
    return (op["f"], op.get("m"), repr(op["o"]), len(op["i"]), repr(node[:2]) if node else None, template)


def longest_run(ops, templates):
    """(start, length of one iteration, count) of the run of equal iterations that covers most, of at least three."""
    numbers = {}
    forms = [form(op, templates) if op["f"] != "repeat" else ("repeat", i) for i, op in enumerate(ops)]
    forms = [numbers.setdefault(one, len(numbers)) for one in forms]
    best = None
    for length in range(3, len(forms) // 3 + 1):
        start = 0
        while start + 3 * length <= len(forms):
            at = start
            while at + length < len(forms) and forms[at] == forms[at + length]:
                at += 1
            count = (at - start) // length + 1
            if count >= 3:
                covered = count * length
                if best is None or covered > best[1] * best[2]:
                    best = (start, length, count)
                start = at
            start += 1
    return best


def carried(ops, outputs, start, length, count, base, width):
    """[[read by the first iteration, made by the one before], ...]; None where iterations read something else."""
    carry = {}
    for k in range(1, count):
        for j in range(length):
            first, now = ops[start + j], ops[start + k * length + j]
            for one, other in zip(first["i"], now["i"]):
                own = other - k * width
                if one == other and other < base:
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
    return [[to, source] for to, source in sorted(carry.items())]
