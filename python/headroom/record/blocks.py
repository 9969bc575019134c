"""A model's trace as blocks of a program, sizes still as numbers: `Size` for a dimension, `Sizes` for a shape."""

import torch

from .blocks_data import Size, Sizes
from .fold import fold
from .model import Run
from .nodes import attach, describe, dtype_code, exact_code, gradients, template_of


class Unrecordable(Exception):
    """What a program cannot say of this model."""


class Recording:
    """Both runs of a model, operator by operator side by side."""

    def __init__(self, model, attention, batch, length, only=None, masks=False):
        self.plain = Run(model, attention, batch, length, False, masks)
        self.graph = Run(model, attention, batch, length, True, masks)
        attach(self.graph)
        self.pairs, self.clones = align(self.plain.trace.ops, self.graph.trace.ops)
        self.begin_first_layer()
        self.trace = self.plain.trace
        self.decoder = self.plain.decoder
        self.modules = dict(self.decoder.named_modules())
        self.layers = len(self.plain.exits)
        self.only = only
        self.scope = {}
        nodes = [self.pairs[i].node for i, op in enumerate(self.trace.ops) if self.wants(op.block) and self.pairs[i].node is not None]
        self.received = gradients(self.graph, nodes)

    def begin_first_layer(self):
        """What the model's own loop runs before each layer, it runs before the first one, too."""
        ops = self.plain.trace.ops
        second = [op.name for op in ops if op.block == ("between", 1)]
        before = [i for i, op in enumerate(ops) if op.block == "before"]
        if not second or [ops[i].name for i in before[-len(second) :]] != second:
            return
        for i in before[-len(second) :]:
            for op in (ops[i], self.pairs[i]):
                op.block = ("between", 0)
                op.freed = [(number, ("between", 0)) for number, _ in op.freed]

    def wants(self, block):
        """Whether backward templates of a block are asked for."""
        index = block[1] if isinstance(block, tuple) else block
        return self.only is None or not isinstance(index, int) or index in self.only

    # -- names of values that cross blocks

    def users(self):
        """For each value the blocks that read it."""
        readers = {}
        for op in self.trace.ops:
            for number in op.inputs:
                readers.setdefault(number, set()).add(owner(op.block))
        return readers

    def blocks(self):
        """before, layers, after."""
        readers = self.users()
        before = Block(self, "before", "", readers)
        layers = [Block(self, i, f"{self.plain.prefix}.{i}.", readers) for i in range(self.layers)]
        after = Block(self, "after", "", readers)
        return before, layers, after


def owner(block):
    """Operators between two layers belong to the one that follows."""
    return block[1] if isinstance(block, tuple) else block


def align(plain, graph):
    """For each operator of the run without a graph the one with it. With a graph, outputs that are saved are detached, and what an
    operator overwrites and its backward reads is cloned before."""
    pairs, clones, at = [], {}, 0
    for i, op in enumerate(plain):
        while at < len(graph) and graph[at].name in ("detach", "clone") and (graph[at].name, graph[at].block) != (op.name, op.block):
            if graph[at].name == "clone":
                clones[i] = graph[at]
            at += 1
        if at >= len(graph) or graph[at].name != op.name:
            found = graph[at].name if at < len(graph) else "nothing"
            raise Unrecordable(f"with a graph the model runs {found} where it runs {op.name} without one")
        pairs.append(graph[at])
        at += 1
    return pairs, clones


class Block:
    """One block as nested lists."""

    def __init__(self, recording, place, prefix, readers):
        self.recording, self.place, self.prefix = recording, place, prefix
        self.trace = recording.trace
        self.local = {}
        self.takes = []
        self.modules, self.parameters = self.list_modules()
        self.module_at = {entry[0]: i for i, entry in enumerate(self.modules)}
        run = recording.plain
        if place == "before":
            self.first, self.last = None, run.entries[0]
        elif place == "after":
            self.first, self.last = run.exits[recording.layers - 1], run.hidden
        else:
            self.first, self.last = run.entries[place], run.exits[place]
        if self.first is not None:
            self.take(self.first, "hidden_states")
        indices = [i for i, op in enumerate(self.trace.ops) if owner(op.block) == place]
        self.pre = [i for i in indices if isinstance(self.trace.ops[i].block, tuple)]
        self.ops_at = [i for i in indices if not isinstance(self.trace.ops[i].block, tuple)]
        self.made = {n for i in indices for n in self.trace.ops[i].outputs}
        # What is taken has the first numbers.
        for i in indices:
            for number in self.trace.ops[i].inputs:
                self.find(number)
        for i in indices:
            if i in self.recording.clones:
                self.local[("clone", i)] = len(self.local)
            for number in self.trace.ops[i].outputs:
                self.local.setdefault(number, len(self.local))
        self.given = self.gives(readers)

    def list_modules(self):
        """Every module below the prefix with parameters or buffers of its own, and each parameter's number."""
        listed, parameters = [], {}
        layer_prefix = self.recording.plain.prefix + "."
        for name, module in self.recording.modules.items():
            inside = f"{name}.".startswith(self.prefix) if self.prefix else not f"{name}.".startswith(layer_prefix)
            if not inside:
                continue
            if not self.prefix and not self.used_here(name):
                continue
            own = []
            for kind, tensors in (("parameter", module.named_parameters(recurse=False)), ("buffer", module.named_buffers(recurse=False))):
                for own_name, tensor in tensors:
                    entry = [own_name, Sizes(tensor.shape)]
                    code = dtype_of(tensor)
                    if code != "h" or kind == "buffer":
                        entry.append(code)
                    if kind == "buffer":
                        entry.append("buffer")
                    full = f"{name}.{own_name}" if name else own_name
                    parameters[(kind, full)] = -1 - len(parameters)
                    own.append(entry)
            if own:
                listed.append([name[len(self.prefix):], class_of(module), own])
        return listed, parameters

    def used_here(self, name):
        """Whether a module outside the layers is first run in this block."""
        for op in self.trace.ops:
            inside = op.module == name or any(
                self.trace.values[n].origin[0] in ("parameter", "buffer") and self.trace.values[n].origin[1].rpartition(".")[0] == name
                for n in op.inputs
            )
            if inside:
                return owner(op.block) == self.place or (isinstance(owner(op.block), int) and self.place == "before")
        return self.place == "before"

    def take(self, number, name):
        if number not in self.local:
            self.local[number] = len(self.local)
            self.takes.append(name)

    def find(self, number):
        """The local number of a value that an operator reads."""
        if number in self.local:
            return self.local[number]
        value = self.trace.values[number]
        kind = value.origin[0]
        if kind in ("parameter", "buffer") and value.origin in self.parameters:
            return self.parameters[value.origin]
        if number in self.made:
            return None
        if kind == "input":
            self.take(number, value.origin[1])
        elif kind in ("parameter", "buffer"):
            self.take(number, f"{kind}:{value.origin[1]}")
        else:
            self.take(number, self.recording.scope.setdefault(number, f"g{len(self.recording.scope)}"))
        return self.local[number]

    def gives(self, readers):
        given = {"hidden_states": self.last}
        dead = {n for i in self.pre + self.ops_at for n, block in self.trace.ops[i].freed if owner(block) == self.place}
        for number in sorted(self.made):
            used = any(reader != self.place for reader in readers.get(number, ()))
            outlives = self.place == "before" and number not in dead
            if (used or outlives) and number != self.last:
                given[self.recording.scope.setdefault(number, f"g{len(self.recording.scope)}")] = number
        return given

    # -- as data

    def data(self, templates):
        """The block; backward templates go into `templates` and are named by their place there."""
        block = {"modules": self.modules, "takes": list(self.takes), "gives": {}, "ops": []}
        if self.pre:
            block["pre"] = [said for i in self.pre for said in self.said(i, templates)]
        block["ops"] = [said for i in self.ops_at for said in self.said(i, templates)]
        block["gives"] = {name: self.read(number) for name, number in self.given.items()}
        while True:
            first_free = len(self.takes) + sum(len(op["o"]) for op in block.get("pre", []))
            folded = fold(block["ops"], first_free, templates.content_of, block["gives"].values())
            if folded is None:
                return block
            block["ops"], rename = folded
            block["gives"] = {name: rename(number) for name, number in block["gives"].items()}

    def read(self, number):
        found = self.local.get(number)
        return self.parameters[self.trace.values[number].origin] if found is None else found

    def said(self, at, templates):
        """An operator, perhaps with the clone of what it overwrites before it."""
        said = self.op(at, templates)
        clone = self.recording.clones.get(at)
        if clone is None:
            return [said]
        place = self.local[("clone", at)]
        value = self.recording.graph.trace.values[clone.outputs[0]]
        before = {"f": "clone", "i": [said["i"][0]], "o": [[Sizes(value.shape), "p"]]}
        if "m" in said:
            before["m"] = said["m"]
        said["i"] = [*said["i"], place]
        said["d"] = [*said.get("d", []), place]
        return [before, said]

    def op(self, at, templates):
        op, twin = self.trace.ops[at], self.recording.pairs[at]
        outputs = []
        for number, alias in zip(op.outputs, op.aliases):
            value = self.trace.values[number]
            code = "p" if op.name in ("linear", "attention") else dtype_code(self.trace, op, value)
            outputs.append([Sizes(value.shape), code] + ([] if alias is None else [alias]))
        said = {"f": op.name}
        if op.module is not None and op.module.startswith(self.prefix) and op.module[len(self.prefix):] in self.module_at:
            said["m"] = self.module_at[op.module[len(self.prefix):]]
        said["i"] = [self.read(number) for number in op.inputs]
        said["o"] = outputs
        if op.name == "attention":
            said["a"] = attention_attributes(op.attributes, self.trace, op)
        if twin.node is not None and self.recording.wants(op.block):
            clone = self.recording.clones.get(at)
            if clone is not None:
                twin.input_keys = [*twin.input_keys, *clone.output_keys]
            node = describe(twin, self.recording.graph.trace)
            received = self.recording.received.get(twin.node)
            if received is not None:
                said["n"] = [node.edges, node.saved, templates.add(template_of(twin.node, received, node.renamed))]
        freed = [self.read(n) for n, block in op.freed if owner(block) == self.place and n in self.local]
        freed = [number for number in freed if number not in {self.read(n) for n in self.given.values()}]
        if freed:
            said["d"] = freed
        return said


def attention_attributes(attributes, trace, op):
    said = {key: Size(attributes[key]) for key in ("heads", "kv_heads", "width", "value_width")}
    if attributes["window"] is not None:
        said["window"] = Size(attributes["window"])
    said["causal"] = attributes["causal"]
    if attributes["masked"]:
        said["masked"] = True
    said["token_major"] = attributes["token_major"]
    return said


def dtype_of(tensor):
    if not tensor.dtype.is_floating_point:
        return {torch.int64: "l", torch.int32: "i"}.get(tensor.dtype, "b")
    return exact_code(tensor.dtype)


def class_of(module):
    return type(module).__name__


class Templates:
    """Distinct templates in the order of their first use."""

    def __init__(self):
        self.listed = []
        # For each its content as a number, so that equal ones are told quickly.
        self.contents, self.content_of = {}, []

    def add(self, template):
        steps = [[name, inputs, [[Sizes(shape), code] for shape, code in outputs], freed] for name, inputs, outputs, freed in template.steps]
        results = [None if r is None else [r[0], Sizes(r[1])] for r in template.results]
        self.listed.append({"t": steps, "r": results})
        self.content_of.append(self.contents.setdefault(repr(self.listed[-1]), len(self.contents)))
        return len(self.listed) - 1
