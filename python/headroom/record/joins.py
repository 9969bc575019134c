"""Operators that are one thing in pieces: attention piece by piece, and what is split and put together again."""

from .nodes import Template
from .trace import Op


def join_pieces(ops):
    """Attention that runs piece by piece, queries, keys and values split before it and its outputs joined behind it, as one operator."""
    joined, at = [], 0
    while at < len(ops):
        found = pieces_at(ops, at)
        if found is None:
            joined.append(ops[at])
            at += 1
            continue
        run, count = found
        splits, calls, whole = run[:3], run[3:-1], run[-1]
        inside = {number for op in run[:-1] for number in op.outputs}
        first = calls[0]
        op = Op("attention", [split.inputs[0] for split in splits], list(whole.outputs), [None], first.module, first.block)
        op.attributes = {**first.attributes, "pieces": len(calls)}
        op.input_keys, op.output_keys = [split.input_keys[0] for split in splits], whole.output_keys
        op.freed = [(number, block) for one in ops[at : at + count] for number, block in one.freed if number not in inside]
        joined.append(op)
        at += count
    return joined


def pieces_at(ops, at):
    """The operators of such an attention that begins at `at`, and how many they are."""
    run, i = [], at
    while len(run) < 3 and i < len(ops) and ops[i].name.startswith("split"):
        run.append(ops[i])
        i += 1
    if len(run) < 3 or len({len(op.outputs) for op in run}) != 1:
        return None
    for q, k, v in zip(*(op.outputs for op in run[:3])):
        while i < len(ops) and ops[i].name == "detach":
            i += 1
        if i >= len(ops) or ops[i].name != "attention" or ops[i].inputs[:3] != [q, k, v]:
            return None
        run.append(ops[i])
        i += 1
    outputs = [op.outputs[0] for op in run[3:]]
    if i >= len(ops) or ops[i].name != "cat" or ops[i].inputs != outputs:
        return None
    run.append(ops[i])
    return run, i + 1 - at


def of_one_gradient(template):
    """The template of pieces' gradients as one of the whole's."""
    name = lambda reference: "g0" if reference.startswith("g") else reference
    steps = [[f, list(dict.fromkeys(map(name, inputs))), outputs, freed] for f, inputs, outputs, freed in template.steps]
    return Template(steps, template.results)


def join_splits(ops):
    """Pieces that are put together again as they were: one copy, whose gradient is one copy. As many pieces as images make one program."""
    makers = {number: op for op in ops if op.name.startswith(("split", "unbind")) for number in op.outputs}
    readers = {}
    for op in ops:
        for number in op.inputs:
            readers.setdefault(number, []).append(op)
    gone, joined = [], []
    for op in ops:
        split = makers.get(op.inputs[0]) if op.name == "cat" and op.inputs else None
        whole = split is not None and op.inputs == split.outputs and all(len(readers[number]) == 1 for number in split.outputs)
        if whole and op.block == split.block:
            gone.append(split)
            op.freed = [*split.freed, *((number, block) for number, block in op.freed if number not in split.outputs)]
            op.inputs, op.input_keys, op.node = list(split.inputs), list(split.input_keys), split.node
            op.attributes = {"pieces_joined": True}
        joined.append(op)
    # By what they are and not by value: a class that loops over tokens has tens of thousands.
    left_out = {id(op) for op in gone}
    return [op for op in joined if id(op) not in left_out]
