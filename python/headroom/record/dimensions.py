"""Dimensions as expressions: from how each changes when one key of the config changes, and from its values in all recordings."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement


class Unexplained(Exception):
    """A dimension that no expression of the config's keys gives."""


class Explainer:
    """`settings`: for each recording the values of b, s and the config's keys; `changed`: what each changes against the first."""

    def __init__(self, settings, changed):
        self.settings, self.changed = settings, changed
        self.known = {}
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
        for build in (self._monomial, self._rounded, self._sum):
            found = build(values, names)
            if found is not None:
                return found
        raise Unexplained(f"{values} with {names}")

    def _terms(self, names, degree):
        """Products and quotients of the names, with their values; the plainest first."""
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

    def _rounded(self, values, names):
        """Rounded up to a multiple, or counted in pieces rounded up, times something, perhaps but a few."""
        for less in (0, 1, 2):
            found = self._rounded_up(tuple(value + less for value in values), names)
            if found is not None:
                return f"{found} - {less}" if less else found
        return None

    def _rounded_up(self, values, names):
        for name in names:
            if name not in ("s",):
                continue
            pieces = [other for other in self.vectors if other != name] + [str(n) for n in (16, 32, 64, 128, 256)]
            for piece in pieces:
                size = self.vectors.get(piece, (int(piece) if piece.isdigit() else 0,) * len(values))
                if any(v < 1 for v in size):
                    continue
                count = tuple(-(-self.vectors[name][i] // size[i]) for i in range(len(values)))
                for text, vector in ((f"ceil({name} / {piece})", count), (f"ceil({name} / {piece}) * {piece}", tuple(c * z for c, z in zip(count, size)))):
                    rest = [Fraction(value, v) for value, v in zip(values, vector)]
                    others = [n for n in names if n != name and n != piece]
                    for other, factors in [("1", (Fraction(1),) * len(values))] + self._terms(others, 3)[1:]:
                        factor = rest[0] / factors[0]
                        if factor.denominator == 1 and all(factor * f == r for f, r in zip(factors, rest)):
                            return scaled(text if other == "1" else f"{other} * {text}", factor)
        return None

    def _sum(self, values, names):
        terms = self._terms(names, 3 if len(names) <= 5 else 2)
        terms = [(text, vector) for text, vector in terms if all(v.denominator == 1 for v in vector)]
        factors = (1, 2, 3, -1, 4)
        by_value = {}
        for text, vector in terms:
            for factor in factors:
                by_value.setdefault(tuple(int(v) * factor for v in vector), scaled(text, Fraction(factor)))
        # A constant added to one term.
        for text, vector in terms[1:]:
            for factor in factors:
                rest = values[0] - factor * vector[0]
                if all(value - factor * v == rest for value, v in zip(values, vector)):
                    return f"{scaled(text, Fraction(factor))} + {rest}" if rest > 0 else f"{scaled(text, Fraction(factor))} - {-rest}"
        for text, vector in terms[1:]:
            for factor in factors:
                rest = tuple(int(value - factor * v) for value, v in zip(values, vector))
                if rest in by_value:
                    return f"{scaled(text, Fraction(factor))} + {by_value[rest]}"
        listed = list(by_value.items())
        if len(listed) > 400:
            return None
        for (one, first), (two, second) in combinations(listed, 2):
            rest = tuple(value - a - b for value, a, b in zip(values, one, two))
            if rest in by_value:
                return f"{first} + {second} + {by_value[rest]}"
        return None


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
    common = ["b", "s", "hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads", "head_dim", "vocab_size"]
    return (common.index(name) if name in common else len(common), name.count("."), len(name), name)


def prod(values):
    out = Fraction(1)
    for value in values:
        out *= value
    return out
