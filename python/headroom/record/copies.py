"""Copies that PyTorch makes of several sequences and not of one: rows of a transposed tensor that become rows of one matrix follow each
other in memory where there is one sequence alone (aten `reshape`). They are recorded as `reshape`, which copies nothing there.
"""

from .fold import is_loop

# What follows such a copy, and what stands there without it.
BEHIND = {"_unsafe_view": ("_unsafe_view", "view", "_reshape_alias")}


def copies_of_many(many, one):
    """Places of such copies in a recording of several sequences; `one`: the same with one. None where they run other operators."""
    found = []
    for way, said in many["said"].items():
        other = one["said"][way]
        blocks = [("before", said["before"], other["before"]), ("after", said["after"], other["after"])]
        blocks += [(i, block, other["layers"][i]) for i, block in said["layers"].items()]
        for place, block, alone in blocks:
            for key in ("pre", "ops"):
                within = aligned(block.get(key, []), alone.get(key, []))
                if within is None:
                    return None
                found += [(way, place, key, path) for path in within]
    return found


def aligned(many, one):
    """Paths to copies among operators that `one` lacks; None where they differ otherwise."""
    found, at = [], 0
    for i, op in enumerate(many):
        other = one[at] if at < len(one) else None
        is_copy = op["f"] == "clone" and not is_loop(op)
        if is_copy and (other is None or other["f"] != "clone"):
            found.append((i,))
            continue
        if other is None or is_loop(op) != is_loop(other) or other["f"] not in BEHIND.get(op["f"], (op["f"],)):
            return None
        if is_loop(op):
            within = aligned(op["ops"], other["ops"])
            if within is None:
                return None
            found += [(i, *path) for path in within]
        at += 1
    return found if at == len(one) else None


def rename(said, places, is_of_sequences):
    """Calls those copies of merged recordings what they are; `is_of_sequences`: whether a shape's first dimension is b."""
    for way, place, key, path in places:
        ops = (said[way][place] if isinstance(place, str) else said[way]["layers"][place])[key]
        for step in path[:-1]:
            ops = ops[step]["ops"]
        if is_of_sequences(ops[path[-1]]["o"][0][0]):
            ops[path[-1]]["f"] = "reshape"
