"""Recordings compared: what two have in common beside sizes."""

from .aligned import with_casts
from .blocks_data import Size, Sizes
from .fold import is_loop

# A softmax whose caller says the dtype that its tensor has (`kernels.softmax`).
SAYS_DTYPE = "_softmax.dtype"
# What of a block is its run in one mode.
OF_A_WAY = ("takes", "gives", "ops", "pre", "ahead", "leaves", "handed")


def blocks_of(said):
    return [said["before"], *said["layers"].values(), said["after"]]


def without_casts(block):
    """The operators of a block by name, those of a loop as a list of their own."""

    def names(ops):
        return [names(op["ops"]) if is_loop(op) else op["f"] for op in ops if is_loop(op) or op["f"] != "_to_copy"]

    return [names(block.get(key, [])) for key in ("pre", "ops")]


def with_plain_softmax(run, narrow):
    """A run in fp32 whose softmax is its narrow run's: a caller that says fp32 says there the dtype that the tensor has, which it does not in 16 bits."""

    def of(value):
        if isinstance(value, dict):
            return {key: "_softmax" if key == "f" and item == SAYS_DTYPE else of(item) for key, item in value.items()}
        return [of(item) for item in value] if isinstance(value, list) else value

    return run if SAYS_DTYPE in flat(without_casts(narrow)) else {key: of(item) if key in ("pre", "ops", "ahead") else item for key, item in run.items()}


def flat(names):
    """Names of operators within loops, too."""
    return [one for name in names for one in (flat(name) if isinstance(name, list) else [name])]


def attach(block, modes):
    """Says how a block runs in other modes, where that differs from its own; in fp32 with the casts of its other run, which cast nothing."""
    own = {key: block[key] for key in OF_A_WAY if key in block}
    runs = {mode: {key: other[key] for key in OF_A_WAY if key in other} for mode, other in modes.items()}
    for mode, run in runs.items():
        if mode.startswith("wide"):
            narrow = runs.get(mode.partition("_")[2], own)
            run = with_plain_softmax(run, narrow)
            if without_casts(run) == without_casts(narrow):
                # The narrow run serves. What it frees where a cast's result goes may differ: 0.05 % of a step in fp32 at most (LoRA on
                # Qwen3.5's mixtures), and nothing in bf16.
                continue
            run = with_casts(narrow, run)
        if run != own:
            block[mode] = run


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
