"""Programs as a file has them: references count backwards from the newest value, and what operators have in common stands once.

So the same operators on the same modules are the same text wherever they run, in another layer, another way or another program of the
file, and compress to nothing (PROGRAMS.md).
"""

import json

from . import packages

FORMAT = 2
# A block's other ways to run.
WAYS = ("eager", "wide", "wide_eager", *(way for name in packages.WAYS for way in (name, f"wide_{name}")))
# What of an attention is a dimension.
OF_ATTENTION = ("heads", "kv_heads", "width", "value_width", "window", "pieces", "mask_rows")


def text_of(programs):
    """The text of a file with a program, or a list of them for configs of several kinds."""
    return text_of_file(written(programs))


def written(programs):
    """The same as what JSON has."""
    tables = Tables()
    return whole(tables, [ProgramText(program, tables).program() for program in (programs if isinstance(programs, list) else [programs])])


def text_of_file(file):
    """The text of what `written` gives."""
    return json.dumps(file, separators=(",", ":"))


def whole(tables, said):
    """A file of programs, each with the dimensions that it reads."""
    for program, read in said:
        unread = [i for i in range(len(tables.dims)) if i not in read]
        if unread:
            program["unread"] = unread
    return {
        "format": FORMAT,
        "dims": list(tables.dims),
        "shapes": [list(shape) for shape in tables.shapes],
        "functions": [json.loads(text) for text in tables.functions],
        "programs": [program for program, _ in said],
    }


class Tables:
    """What all programs of a file refer to."""

    def __init__(self):
        self.dims, self.shapes, self.functions = {}, {}, {}

    def dim(self, text):
        return self.dims.setdefault(text, len(self.dims))

    def shape(self, dims):
        return self.shapes.setdefault(dims, len(self.shapes))

    def function(self, said):
        return self.functions.setdefault(json.dumps(said, separators=(",", ":")), len(self.functions))


class ProgramText:
    """One program, as it was recorded, with its references."""

    def __init__(self, recorded, tables):
        self.recorded, self.tables, self.read = recorded, tables, set()

    def dim(self, number):
        text = self.recorded["dims"][number]
        found = self.tables.dim(text)
        self.read.add(found)
        return found

    def shape(self, number):
        dims = tuple(self.dim(dim) for dim in self.recorded["shapes"][number])
        return self.tables.shape(dims)

    def program(self):
        """The program and which dimensions it reads."""
        blocks = ("layers", "before", "after")
        said = {key: value for key, value in self.recorded.items() if key not in ("format", "dims", "shapes", "backwards", *blocks)}
        if "inputs" in said:
            said["inputs"] = {name: [self.shape(shape), code] for name, (shape, code) in said["inputs"].items()}
        if "weight" in said["head"]:
            said["head"] = {**said["head"], "weight": self.shape(said["head"]["weight"])}
        order = self.order()
        said["layers"] = [self.block(self.recorded["layers"][i]) for i in order]
        renumbered = lambda kinds: {kind: order.index(layer) for kind, layer in kinds.items()}
        if "stacks" in said:
            said["stacks"] = [{**stack, "kinds": renumbered(stack["kinds"])} for stack in said["stacks"]]
        else:
            said["kinds"] = renumbered(said["kinds"])
        said |= {key: self.block(self.recorded[key]) for key in ("before", "after")}
        return said, self.read

    def order(self):
        """Long layers first, behind them those that are the same with operators before them, a tower's last: the file is smaller so."""
        layers = self.recorded["layers"]
        stacks = [stack["kinds"].values() for stack in self.recorded.get("stacks", [])]
        of_tower = {layer for kinds in stacks[:-1] for layer in kinds}
        return sorted(range(len(layers)), key=lambda i: (i in of_tower, "pre" in layers[i], -len(layers[i]["ops"])))

    def block(self, block):
        modules = [
            [name, kind, [[own, self.shape(shape), *rest] for own, shape, *rest in parameters]] for name, kind, parameters in block["modules"]
        ]
        # Of each parameter of the block its module, its place there, and its shape.
        owned = [(i, at, own[1]) for i, (_, _, parameters) in enumerate(modules) for at, own in enumerate(parameters)]
        ways = {way: Code(self, owned, block[way]).said() for way in WAYS if way in block}
        return {"modules": modules, **Code(self, owned, block).said(), **ways}

    def template(self, number, relative):
        """A backward with each shape as the operator's own tensors have it."""
        template = self.recorded["backwards"][number]
        steps = [[name, tensors, [[relative(shape), *rest] for shape, *rest in outputs], frees] for name, tensors, outputs, frees in template["t"]]
        results = [[result[0], relative(result[1])] if isinstance(result, list) else result for result in template["r"]]
        return {**template, "t": steps, "r": results}


class Code:
    """Operators of a block in one of its ways."""

    def __init__(self, writer, parameters, recorded):
        self.writer, self.parameters, self.recorded = writer, parameters, recorded
        self.takes = len(recorded["takes"])
        # Of each value its shape, where it is known.
        self.shapes = [None] * self.takes

    def said(self):
        recorded = self.recorded
        said = {"takes": recorded["takes"]}
        if "pre" in recorded:
            said["pre"] = self.operators(recorded["pre"])
        said["ops"] = self.operators(recorded["ops"])
        for key in ("gives", "ahead"):
            if key in recorded:
                said[key] = {name: self.reference(number) for name, number in recorded[key].items()}
        for key in ("leaves", "handed"):
            if key in recorded:
                said[key] = [self.reference(number) for number in recorded[key]]
        return said

    def reference(self, number, module=None):
        """How many values were made since, or what else it is."""
        if number < 0:
            owner, place, _ = self.parameters[-1 - number]
            return f"w{place}" if owner == module else f"p{-1 - number}"
        return f"x{number}" if number < self.takes else len(self.shapes) - 1 - number

    def shape_of(self, number):
        return self.parameters[-1 - number][2] if number < 0 else self.shapes[number]

    def operators(self, recorded):
        said, module = [], None
        for op in recorded:
            if op.get("m") != module:
                module = op.get("m")
                said.append(-1 if module is None else module)
            said.append(self.loop(op) if "ops" in op else self.operator(op))
        return said

    def loop(self, op):
        said = {"times": self.writer.dim(op["times"]), "ops": self.operators(op["ops"])}
        said["carry"] = [[self.reference(to), self.reference(source)] for to, source in op["carry"]]
        if "collect" in op:
            said["collect"] = [self.reference(number) for number in op["collect"]]
            self.shapes += [None] * len(op["collect"])
        return said

    def operator(self, op):
        module = op.get("m")
        tensors = [self.reference(number, module) for number in op["i"]]
        inputs = [self.shape_of(number) for number in op["i"]]
        outputs = [self.writer.shape(output[0]) for output in op["o"]]

        def relative(shape, made):
            return f"o{made.index(shape)}" if shape in made else f"i{inputs.index(shape)}" if shape in inputs else shape

        placed = [relative(shape, outputs[:i]) for i, shape in enumerate(outputs)]
        given = [shape for shape in placed if not isinstance(shape, str)]
        said = {"f": op["f"], "o": [[place if isinstance(place, str) else None, *output[1:]] for place, output in zip(placed, op["o"])]}
        if "n" in op:
            edges, saved, backward = op["n"]
            said |= {"n": [edges, saved], **self.writer.template(backward, lambda shape: relative(self.writer.shape(shape), outputs))}
        if "p" in op:
            said["p"] = op["p"]
        if "a" in op:
            dims = {key: self.writer.dim(dim) for key, dim in op["a"].items() if key in OF_ATTENTION and dim is not None}
            said["a"] = {**op["a"], **dims}
        self.shapes += outputs
        # Within one operator the order of what is freed is nothing to an allocator; the newest first is the smallest file.
        freed = sorted((self.reference(number, module) for number in op.get("d", [])), key=lambda place: (isinstance(place, str), place))
        whole = [self.writer.tables.function(said), tensors, given, freed]
        while len(whole) > 1 and not whole[-1]:
            whole.pop()
        return whole
