"""Recordings compared: what two have in common beside sizes."""

from .blocks_data import Size, Sizes
from .fold import is_loop


def blocks_of(said):
    return [said["before"], *said["layers"].values(), said["after"]]


def without_casts(block):
    """The operators of a block by name."""
    return [op["f"] for key in ("pre", "ops") for op in block.get(key, []) if op["f"] != "_to_copy" and not is_loop(op)]


def attach(block, mode, other):
    """Says how a block runs in another mode, where that differs from its own."""
    own = {key: other[key] for key in ("takes", "gives", "ops", "pre", "ahead", "leaves") if key in other}
    if own != {key: block[key] for key in ("takes", "gives", "ops", "pre", "ahead", "leaves") if key in block}:
        block[mode] = own


def outline(value):
    """Everything but sizes."""
    if isinstance(value, Sizes):
        return ("shape", len(value))
    if isinstance(value, Size):
        return "size"
    if isinstance(value, dict):
        return {key: outline(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [outline(item) for item in value]
    return value
