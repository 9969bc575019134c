"""A block as it runs in fp32, written with the casts of its bf16 run: one to the dtype that a tensor has is no operator (`x.to(dtype)`
gives back `x`), so they change nothing where the block is run, and what both runs have in common is the same text in a program's file.
"""

from difflib import SequenceMatcher

from .fold import is_loop, made_by

CAST = "_to_copy"
# `x.reshape(...)` is a view, or a copy and this: which of the two depends on how a cast before it left `x` in memory.
RESHAPED = {"_unsafe_view": "view"}


def with_casts(narrow, wide):
    """`wide` with the casts of `narrow` in their places; as it is where the two cannot be told to be alike."""
    if narrow["takes"] != wide["takes"]:
        return wide
    try:
        said = Alignment(len(wide["takes"])).code(narrow, wide)
    except (KeyError, ValueError):
        return wide
    return said


class Alignment:
    """Numbers of both runs and what they become. Values of one storage have one root: what a cast that casts nothing gives is its input."""

    def __init__(self, takes):
        self.of_narrow = {number: number for number in range(takes)}
        self.of_wide = dict(self.of_narrow)
        self.root = dict(self.of_narrow)
        self.next = takes
        # Handles of each root that Python still holds.
        self.alive = {number: {number} for number in range(takes)}

    def code(self, narrow, wide):
        said = {**wide}
        at_narrow = at_wide = len(wide["takes"])
        for key in ("pre", "ops"):
            if key not in wide:
                if narrow.get(key):
                    raise ValueError
                continue
            said[key], at_narrow, at_wide = self.operators((narrow.get(key, []), at_narrow), (wide[key], at_wide))
        for key in ("gives", "ahead"):
            if key in wide:
                said[key] = {name: self.like(narrow.get(key, {}).get(name), number) for name, number in wide[key].items()}
        for key in ("leaves", "handed"):
            if key in wide:
                said[key] = [self.wide(number) for number in wide[key]]
        return said

    def wide(self, number):
        return number if number < 0 else self.of_wide[number]

    def like(self, narrow, wide):
        """What a value of the fp32 run becomes: what the bf16 run reads in its place, where that is the same storage."""
        own = self.wide(wide)
        if own < 0:
            return own
        held = self.alive[self.root[own]]
        other = self.of_narrow.get(narrow)
        return other if other in held else own if own in held else min(held)

    def same(self, narrow, wide):
        """The same, be it let go by now."""
        own, other = self.wide(wide), self.of_narrow.get(narrow)
        return other if own >= 0 and other is not None and self.root[other] == self.root[own] else own

    def carried(self, narrow, wide, inside):
        """The handle of a carried value that the loop's operators read: the one that each iteration has anew."""
        own = self.same(narrow, wide)
        if own < 0:
            return own
        read = {number for number in reads(inside) if number >= 0 and self.root[number] == self.root[own]}
        if len(read) > 1:
            raise ValueError
        return read.pop() if read else own

    def new(self, root=None):
        number, self.next = self.next, self.next + 1
        self.root[number] = number if root is None else self.root[root]
        self.alive.setdefault(self.root[number], set()).add(number)
        return number

    def operators(self, narrow, wide):
        """Operators of both, each list with the first number that it makes."""
        (ones, at_narrow), (others, at_wide) = narrow, wide
        name = lambda op: "loop" if is_loop(op) else RESHAPED.get(op["f"], op["f"])
        same = SequenceMatcher(None, [name(op) for op in ones], [name(op) for op in others], autojunk=False)
        said = []
        for tag, begin, end, other_begin, other_end in same.get_opcodes():
            pairs = [(one, None) for one in ones[begin:end]] + [(None, other) for other in others[other_begin:other_end]]
            if tag == "equal":
                pairs = list(zip(ones[begin:end], others[other_begin:other_end]))
            for one, other in pairs:
                if one is not None and other is not None and is_loop(one):
                    said.append(self.loop((one, at_narrow), (other, at_wide)))
                elif other is not None:
                    said.append(self.operator((one, at_narrow), (other, at_wide)))
                elif one["f"] == CAST and not is_loop(one) and one["i"][0] in self.of_narrow:
                    said.append(self.cast(one, at_narrow))
                at_narrow += 0 if one is None else made_by(one)
                at_wide += 0 if other is None else made_by(other)
        return said, at_narrow, at_wide

    def cast(self, one, at_narrow):
        """A cast of the bf16 run, which the fp32 run does not have."""
        source = self.of_narrow[one["i"][0]]
        number = self.of_narrow[at_narrow] = self.new(source)
        said = {**one, "i": [source, *(number if number < 0 else self.of_narrow[number] for number in one["i"][1:])]}
        freed = [self.of_narrow[n] for n in one.get("d", []) if n in self.of_narrow and self.root[self.of_narrow[n]] == self.root[number]]
        # Its storage goes with the last handle alone.
        self.drop(said, [n for n in freed if n != number])
        return said

    def operator(self, narrow, wide):
        """An operator of the fp32 run, perhaps with that of the bf16 run in its place."""
        (one, at_narrow), (other, at_wide) = narrow, wide
        if is_loop(other):
            raise ValueError
        reads = one["i"] if one is not None and len(one["i"]) == len(other["i"]) else [None] * len(other["i"])
        # Of the tensor whose dtype a cast takes nothing is read.
        held = 1 if other["f"] == CAST else len(reads)
        said = {**other, "i": [self.like(n, w) if i < held else self.wide(w) for i, (n, w) in enumerate(zip(reads, other["i"]))]}
        for i in range(len(other["o"])):
            number = self.of_wide[at_wide + i] = self.new()
            if one is not None and len(one["o"]) == len(other["o"]):
                self.of_narrow[at_narrow + i] = number
        # Every handle of what goes in the fp32 run; of what the bf16 run lets go its own, where others still hold the storage.
        gone = [self.of_wide[n] for n in other.get("d", []) if n >= 0]
        freed = [n for number in gone for n in sorted(self.alive[self.root[number]])]
        early = [self.of_narrow[n] for n in (one or {}).get("d", []) if n in self.of_narrow]
        for number in early:
            handles = self.alive[self.root[number]]
            if number not in freed and number in handles and len(handles) > 1:
                freed.append(number)
                handles.discard(number)
        order = [self.of_narrow.get(n) for n in (one or {}).get("d", [])]
        freed.sort(key=lambda n: order.index(n) if n in order else len(order))
        said.pop("d", None)
        self.drop(said, freed)
        return said

    def drop(self, said, freed):
        said.pop("d", None)
        for number in freed:
            self.alive[self.root[number]].discard(number)
        if freed:
            said["d"] = freed

    def loop(self, narrow, wide):
        (one, at_narrow), (other, at_wide) = narrow, wide
        collects = len(other.get("collect", []))
        if one["times"] != other["times"] or len(one["carry"]) != len(other["carry"]) or len(one.get("collect", [])) != collects:
            raise ValueError
        said = {**other}
        said["ops"], at_narrow, at_wide = self.operators((one["ops"], at_narrow), (other["ops"], at_wide))
        said["carry"] = [[self.carried(ones[0], others[0], said["ops"]), self.same(ones[1], others[1])] for ones, others in zip(one["carry"], other["carry"])]
        if collects:
            said["collect"] = [self.like(n, w) for n, w in zip(one["collect"], other["collect"])]
            for i in range(collects):
                self.of_narrow[at_narrow + i] = self.of_wide[at_wide + i] = self.new()
        return said



def reads(ops):
    """Every number that operators read, those of loops among them."""
    for op in ops:
        if is_loop(op):
            yield from reads(op["ops"])
            yield from (to for to, _ in op["carry"])
        else:
            yield from op["i"]
