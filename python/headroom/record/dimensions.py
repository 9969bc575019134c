"""Dimensions as expressions: from how each changes when one key of the config changes, and from its values in all recordings."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement

from . import chosen, of_card

# Names that move with what follows from them, which is tried first.
WHOLES = (
    ("images.side", "vision_config.image_size"), ("images.side", "vision_config.patch_size"),
    ("images.patches", "images.rows"), ("images.patches", "images.columns"),
)


class Unexplained(Exception):
    """A dimension that no expression of the config's keys gives; `names`: those that move it."""

    def __init__(self, values, names):
        super().__init__(f"a size that is {values[0]} follows from {' and '.join(names) or 'nothing'} in a way that no expression says: {values}")
        self.names = names


class Explainer:
    """`settings`: for each recording the values of b, s and the config's keys; `changed`: what each changes against the first."""

    def __init__(self, settings, changed):
        self.settings, self.changed = settings, changed
        self.known, self.terms = {}, {}
        names = set(settings[0])
        self.vectors = {name: tuple(setting[name] for setting in settings) for name in names}

    def expression(self, values):
        """An expression with these values, one a recording."""
        values = tuple(int(value) for value in values)
        if values not in self.known:
            self.known[values] = self._find(values)
        return self.known[values]

    def _find(self, values):
        if len(set(values)) == 1:
            return str(values[0])
        exact = [name for name, vector in self.vectors.items() if vector == values]
        if exact:
            return min(exact, key=preference)
        moves = {name for names, value in zip(self.changed, values) if value != values[0] for name in names}
        names = sorted(moves, key=preference)
        fewer = [name for name in names if not any(name.endswith(part) and whole in names for whole, part in WHOLES)]
        # What moved with one of them may have made up for it.
        beside = {name for changed in self.changed if set(changed) & moves for name in changed} - moves
        tries = [fewer, names, [*names, *sorted(beside, key=preference)]]
        for tried in (one for i, one in enumerate(tries) if one not in tries[:i]):
            for build in (self._monomial, self._shifted, self._of_expert, self._rounded, self._sum, self._with_pieces):
                found = build(values, tried)
                if found is not None:
                    return found
        found = self._factored(values, names) or of_card.expression(values, self.vectors)
        if found is not None:
            return found
        raise Unexplained(values, names)

    def _factored(self, values, names):
        """A sum times what else moves it: positions of all tiles, each with one more than its patches."""
        for text, vector in self._terms(names, 2)[1:]:
            rest = [Fraction(value) / v if v else Fraction(1, 2) for value, v in zip(values, vector)]
            if " / " in text or any(part.denominator != 1 for part in rest) or len(set(rest)) == 1:
                continue
            rest = tuple(int(part) for part in rest)
            moves = sorted({n for changed, part in zip(self.changed, rest) if part != rest[0] for n in changed}, key=preference)
            fewer = [name for name in moves if not any(name.endswith(part) and whole in moves for whole, part in WHOLES)]
            found = self._sum(rest, fewer) if len(fewer) <= 2 else None
            if found is not None:
                return f"{text} * ({found})"
        return None

    def _terms(self, names, degree):
        """Products and quotients of the names, with their values; the plainest first. Many sizes follow from the same names."""
        known = (tuple(names), degree)
        if known not in self.terms:
            self.terms[known] = self._terms_of(names, degree)
        return self.terms[known]

    def _terms_of(self, names, degree):
        terms = [("1", (Fraction(1),) * len(self.settings))]
        for size in range(1, degree + 1):
            for chosen in combinations_with_replacement(names, size):
                product = tuple(prod(Fraction(self.vectors[name][i]) for name in chosen) for i in range(len(self.settings)))
                terms.append((" * ".join(chosen), product))
        quotients = []
        for text, vector in terms:
            for name in names:
                if name in text.split(" * ") or any(self.vectors[name][i] == 0 for i in range(len(self.settings))):
                    continue
                quotients.append((quotient(text, name), tuple(v / self.vectors[name][i] for i, v in enumerate(vector))))
        if len(names) <= 4:
            # A grid of patches merged on both sides.
            squares = [name for name in names if any(part in name for part in ("merge", "kernel", "patch", "scale"))]
            for text, vector in list(quotients):
                for name in squares:
                    if text.endswith(f"/ {name}"):
                        quotients.append((f"{text} / {name}", tuple(v / self.vectors[name][i] for i, v in enumerate(vector))))
        # Tiles of each sequence's images.
        for text, vector in list(quotients):
            for name in names if text == "images.count / b" else ():
                if "tiles" in name:
                    quotients.append((f"{text} / {name}", tuple(v / self.vectors[name][i] for i, v in enumerate(vector))))
        return terms + quotients

    def _monomial(self, values, names):
        for text, vector in self._terms(names, 4 if len(names) <= 6 else 3):
            if any(v == 0 for v in vector):
                continue
            factor = Fraction(values[0]) / vector[0]
            if all(factor * v == value for v, value in zip(vector, values)):
                return scaled(text, factor)
        return None

    def _shifted(self, values, names):
        """One name, or half of it, and a constant, where nothing else moves it."""
        if len(names) != 1:
            return None
        for part in (Fraction(1), Fraction(1, 2)):
            rest = {value - part * own for value, own in zip(values, self.vectors[names[0]])}
            # Half of a window and the token itself.
            if len(rest) == 1 and (part == 1 or rest <= {1, 2}):
                return joined([(scaled(names[0], part), 1), ("1", int(rest.pop()))])
        return None

    def _of_expert(self, values, names):
        """The rows of an expert where routing is balanced (chosen.py)."""
        for key in (name for name in self.vectors if name in chosen.EXPERTS):
            for degree in (2, 3):
                for parts in combinations(sorted(set(names) - {key}, key=preference), degree):
                    if all(-(-prod(self.vectors[part][i] for part in parts) // self.vectors[key][i]) == value for i, value in enumerate(values)):
                        return f"ceil({' * '.join(parts)} / {key})"
        return None

    def _rounded(self, values, names):
        """Rounded up to a multiple, or counted in pieces rounded up, times something, perhaps but a few, or one more: states at the ends of
        all chunks, and before the first."""
        for less in (0, 1, 2, -1):
            found = self._rounded_up(tuple(value + less for value in values), names)
            if found is not None:
                return joined([(found, 1), ("1", -less)])
        return None

    def _rounded_up(self, values, names):
        for piece in (name for name in self.vectors if "multiple" in name):
            size = self.vectors[piece]
            for name in (other for other in names if other != piece):
                for part in (Fraction(2, 3), Fraction(1), Fraction(4, 3), Fraction(8, 3)):
                    whole = [int(part * v) for v in self.vectors[name]]
                    if all(-(-w // z) * z == value for w, z, value in zip(whole, size, values)):
                        return f"ceil({scaled(name, part)} / {piece}) * {piece}"
        if "s" not in names:
            return None
        # What moves the size is its piece before what does not; a piece alone before one with others.
        pieces = [other for other in names if other != "s"] + [other for other in self.vectors if other not in names and other != "s"]
        for with_others in (False, True):
            for piece in pieces + [str(n) for n in (16, 32, 64, 128, 256)]:
                found = self._in_pieces(values, names, piece, with_others)
                if found is not None:
                    return found
        return None

    def _in_pieces(self, values, names, piece, with_others):
        """Tokens counted in pieces rounded up, or as many as these are of, times something."""
        size = self.vectors.get(piece, (int(piece) if piece.isdigit() else 0,) * len(values))
        if any(v < 1 for v in size):
            return None
        count = tuple(-(-self.vectors["s"][i] // size[i]) for i in range(len(values)))
        for text, vector in ((f"ceil(s / {piece})", count), (f"ceil(s / {piece}) * {piece}", tuple(c * z for c, z in zip(count, size)))):
            rest = [Fraction(value, v) for value, v in zip(values, vector)]
            others = self._terms([n for n in names if n not in ("s", piece)], 3)[1:] if with_others else [("1", (Fraction(1),) * len(values))]
            for other, factors in others:
                factor = rest[0] / factors[0]
                if factor.denominator == 1 and all(factor * f == r for f, r in zip(factors, rest)):
                    return scaled(text if other == "1" else f"{other} * {text}", factor)
        return None

    def _sum(self, values, names):
        """Sums of up to three terms and a constant. What a constant adds is the same everywhere, so differences are compared."""
        moves = lambda vector: tuple(v - vector[0] for v in vector)
        wanted = moves(values)
        for degree, quotients in ((2, False), (3, True), (2, False)):
            terms = [t for t in self._terms(names, degree) if (quotients or " / " not in t[0]) and all(v.denominator == 1 for v in t[1])][1:]
            by_moves = {}
            for text, vector in terms:
                whole = tuple(int(v) for v in vector)
                for factor in (1, 2, 3, -1, 4):
                    by_moves.setdefault(tuple(factor * m for m in moves(whole)), (text, factor, factor * whole[0]))
            by_moves.pop((0,) * len(values), None)

            def said(*parts):
                rest = values[0] - sum(part[2] for part in parts)
                return joined([(text, factor) for text, factor, _ in parts] + [("1", rest)])

            if wanted in by_moves:
                return said(by_moves[wanted])
            for one, part in by_moves.items():
                rest = tuple(w - m for w, m in zip(wanted, one))
                if rest in by_moves:
                    return said(part, by_moves[rest])
            if len(by_moves) > 350:
                continue
            for (one, first), (two, second) in combinations(by_moves.items(), 2):
                rest = tuple(w - m - n for w, m, n in zip(wanted, one, two))
                if rest in by_moves:
                    return said(first, second, by_moves[rest])
        return None


    def _with_pieces(self, values, names):
        """The sequence and what stands for each so many of its tokens, and a constant: `s + s / 128 + 1`."""
        lengths = self.vectors.get("s", ())
        other = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if names != ["s"] or other is None:
            return None
        slope = Fraction(values[other] - values[0], lengths[other] - lengths[0])
        whole, rest = divmod(slope, 1)
        constants = {value - int(slope * length) for value, length in zip(values, lengths) if (slope * length).denominator == 1}
        if len(constants) != 1 or any((slope * length).denominator != 1 for length in lengths):
            return None
        pieces = (f"{rest.numerator} * s" if rest.numerator > 1 else "s") + f" / {rest.denominator}"
        return joined([("s", int(whole)), (pieces, 1), ("1", constants.pop())])


def joined(parts):
    """A sum; what is taken away comes last."""
    ordered = sorted((part for part in parts if part[1]), key=lambda part: part[1] < 0)
    text = ""
    for name, factor in ordered:
        one = scaled(name, Fraction(abs(factor)))
        text = one if not text else f"{text} {'-' if factor < 0 else '+'} {one}"
    return text


def quotient(text, name):
    """A product divided by a name; chunks and blocks of a sequence are counted up, since the last may be padded."""
    names = text.split(" * ")
    if "s" not in names or not any(part in name for part in ("chunk", "block_size")):
        return f"{text} / {name}"
    names.remove("s")
    return " * ".join([*names, f"ceil(s / {name})"])


def scaled(text, factor):
    if factor == 1:
        return text
    if factor.denominator == 1:
        return str(factor.numerator) if text == "1" else f"{factor.numerator} * {text}"
    top = text if factor.numerator == 1 else f"{factor.numerator} * {text}"
    names = top.split(" * ")
    if "s" in names and factor.denominator > 2:
        # Pieces of a sequence: the last may be padded.
        names.remove("s")
        return " * ".join([*names, f"ceil(s / {factor.denominator})"])
    return f"{top} / {factor.denominator}"


def preference(name):
    """Names people would choose come first."""
    common = ["b", "s", "hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "qk_rope_head_dim", "head_dim", "vocab_size"]
    return (common.index(name) if name in common else len(common), name.count("."), len(name), name)


def prod(values):
    out = Fraction(1)
    for value in values:
        out *= value
    return out
