"""Files with programs of several releases of transformers: what a new recording makes of the file that is there.

A program holds from the release that it was recorded with until the next that has others; older plans take the oldest there is
(PROGRAMS.md). So a recording changes a file only where it is another program than the one that holds under its release.
"""

import json
import re

from .written import OF_ATTENTION, WAYS, Tables, whole


def release_of(program):
    """The release of a program as numbers: `5.23.0.dev0` is `(5, 23, 0)`."""
    said = program.get("versions", {}).get("transformers", "")
    numbers = re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", said)
    return tuple(int(number or 0) for number in numbers.groups()) if numbers else ()


def by_release(file):
    """The programs of a file, those of each release together, oldest first."""
    found = {}
    for program in file["programs"]:
        found.setdefault(release_of(program), []).append(program)
    return dict(sorted(found.items()))


def under(file, release):
    """The programs of a file that hold under a release."""
    found = by_release(file)
    return found[max((one for one in found if one <= release), default=min(found))]


def with_recording(file, recording):
    """A file with what was recorded anew, under the release that it was recorded with: `file` itself where that changes nothing."""
    release = release_of(recording["programs"][0])
    if file["format"] != recording["format"]:
        return recording
    if is_same(alone(file, under(file, release)), recording):
        return file
    files = {one: (file, programs) for one, programs in by_release(file).items()}
    files[release] = (recording, recording["programs"])
    kept = []
    for _, (source, programs) in sorted(files.items()):
        # A release whose program is that of the one before needs none of its own.
        if not kept or not is_same(alone(*kept[-1]), alone(source, programs)):
            kept.append((source, programs))
    return together(kept)


def is_same(one, other):
    """Whether two files with programs of one release have the same, whatever they were recorded with and however they are numbered."""
    plain = lambda file: json.dumps([file[key] for key in ("dims", "shapes", "functions")] + [
        {key: value for key, value in program.items() if key != "versions"} for program in file["programs"]
    ])
    return plain(alone(one, one["programs"])) == plain(alone(other, other["programs"]))


def alone(file, programs):
    """A file with some of another's programs and nothing that only others read."""
    return together([(file, programs)])


def together(parts):
    """A file of programs of several files; what they have in common stands once."""
    tables = Tables()
    return whole(tables, [Retabled(file, tables).program(program) for file, programs in parts for program in programs])


class Retabled:
    """Programs of one file in the tables of another, numbered in the order in which a recording is written."""

    def __init__(self, file, tables):
        self.file, self.tables, self.read = file, tables, set()

    def dim(self, number):
        found = self.tables.dim(self.file["dims"][number])
        self.read.add(found)
        return found

    def shape(self, number):
        return self.tables.shape(tuple(self.dim(dim) for dim in self.file["shapes"][number]))

    def place(self, shape):
        """A shape, or what says whose it is."""
        return self.shape(shape) if isinstance(shape, int) else shape

    def function(self, number):
        said = self.file["functions"][number]
        said = {**said, "o": [[self.place(shape), *rest] for shape, *rest in said["o"]]}
        if "t" in said:
            outputs = lambda made: [[self.place(shape), *rest] for shape, *rest in made]
            said["t"] = [[name, tensors, outputs(made), frees] for name, tensors, made, frees in said["t"]]
            said["r"] = [[result[0], self.place(result[1])] if isinstance(result, list) else result for result in said["r"]]
        if "a" in said:
            said["a"] = {key: self.dim(value) if key in OF_ATTENTION and value is not None else value for key, value in said["a"].items()}
        return self.tables.function(said)

    def operators(self, ops):
        return [self.operator(op) for op in ops]

    def operator(self, op):
        if isinstance(op, int):
            return op
        if isinstance(op, dict):
            return {**op, "times": self.dim(op["times"]), "ops": self.operators(op["ops"])}
        function, *rest = op
        if len(rest) > 1:
            rest[1] = [self.shape(shape) for shape in rest[1]]
        return [self.function(function), *rest]

    def block(self, block):
        said = dict(block)
        if "modules" in block:
            said["modules"] = [
                [name, kind, [[own, self.shape(shape), *rest] for own, shape, *rest in parameters]] for name, kind, parameters in block["modules"]
            ]
        said |= {way: self.block(block[way]) for way in WAYS if way in block}
        return said | {key: self.operators(block[key]) for key in ("pre", "ops") if key in block}

    def program(self, program):
        """The program and which dimensions it reads."""
        self.read = set()
        said = {key: value for key, value in program.items() if key != "unread"}
        if "inputs" in said:
            said["inputs"] = {name: [self.shape(shape), code] for name, (shape, code) in said["inputs"].items()}
        if "weight" in said["head"]:
            said["head"] = {**said["head"], "weight": self.shape(said["head"]["weight"])}
        said["layers"] = [self.block(block) for block in said["layers"]]
        said |= {key: self.block(said[key]) for key in ("before", "after")}
        return said, self.read
