"""Sizes that kernels choose by how many multiprocessors a GPU has, as expressions."""

from itertools import combinations_with_replacement

from .packages import MULTIPROCESSORS


def expression(values, vectors):
    """An expression with these values, one a recording; `vectors`: the values of each name. None where none is known."""
    if MULTIPROCESSORS not in vectors:
        return None
    return programs_of_norm(values, vectors) or heads_by_program(values, vectors)


def ceil(one, other):
    return -(-one // other)


def candidates(vectors, part):
    """Names that have a part in them, which are no zeros, with their values."""
    return [(name, vector) for name, vector in sorted(vectors.items()) if part in name and all(v > 0 for v in vector)]


def programs_of_norm(values, vectors):
    """Rows of partial sums of a norm's weight gradient: each multiprocessor has one, more where a group of the norm is narrow
    (mamba_ssm/ops/triton/layernorm_gated.py `_layer_norm_bwd`)."""
    cards = vectors[MULTIPROCESSORS]
    groups = [("1", (1,) * len(cards)), *candidates(vectors, "group")]
    for name, vector in groups:
        if all(ceil(card, of) == value for card, of, value in zip(cards, vector, values)):
            return MULTIPROCESSORS if name == "1" else f"ceil({MULTIPROCESSORS} / {name})"
    named = [(one, vector) for one, vector in candidates(vectors, "") if one not in ("b", "s", MULTIPROCESSORS)]
    pairs = [(f"{one} * {other}", tuple(a * b for a, b in zip(v, w))) for (one, v), (other, w) in combinations_with_replacement(named, 2)]
    for name, vector in groups:
        for width, wide in [*named, *pairs]:
            narrow = [w // of for w, of in zip(wide, vector)]
            if 0 in narrow:
                continue
            more = [1 + min(512 // one, 1) + 2 * min(256 // one, 1) for one in narrow]
            if all(ceil(card * by, of) == value for card, by, of, value in zip(cards, more, vector, values)):
                group = width if name == "1" else f"({width} / {name})"
                return f"ceil({MULTIPROCESSORS} * (1 + min(512 / {group}, 1) + 2 * min(256 / {group}, 1)) / {name})"
    return None


def heads_by_program(values, vectors):
    """Parts of a sum over the heads of a group: each program takes several heads where all programs have more to do than the
    multiprocessors (mamba_ssm/ops/triton/ssd_chunk_state.py `_chunk_state_bwd_db`, ssd_chunk_scan.py `_chunk_scan_bwd_dC`, `_chunk_scan_bwd_dcb`)."""
    cards, b, s = vectors[MULTIPROCESSORS], vectors["b"], vectors["s"]
    groups = [*candidates(vectors, "group"), ("1", (1,) * len(cards))]
    for heads, count in candidates(vectors, "head"):
        for name, of in groups:
            for chunk, size in candidates(vectors, "chunk"):
                found = []
                for i, card in enumerate(cards):
                    shared = count[i] // of[i]
                    taken = max(min(ceil(b[i] * ceil(s[i], size[i]) * count[i], card), shared), 1)
                    found.append(ceil(shared, taken))
                if tuple(found) == tuple(values):
                    shared = heads if name == "1" else f"{heads} / {name}"
                    return f"ceil({shared} / max(min(ceil(b * ceil(s / {chunk}) * {heads} / {MULTIPROCESSORS}), {shared}), 1))"
    return None
