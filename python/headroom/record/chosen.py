"""Rows that a model's code chooses by values, which `meta` has none of: the tokens of a mixture's expert, by `torch.where`, `nonzero` or a mask.

Routing is taken to be balanced: of `tokens` tokens that choose `per_token` of `experts` experts each has as many rows (rounded up), and every expert has
some. Of a mask that no expert is chosen by (a padding mask without padding) every row is meant.
"""

from dataclasses import dataclass

import torch

# What configs call the number of experts, and how many of them a token chooses.
EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "num_moe_experts", "n_experts")
PER_TOKEN = (
    "num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "moe_k", "top_k", "num_selected_experts", "n_activated_experts",
    "num_activated_experts", "experts_per_token",
)
_kept = []


@dataclass
class Routing:
    tokens: int
    per_token: int
    experts: int
    # Within a layer of the model: before them masks are of positions.
    within: object

    def rows(self, mask):
        """How many rows of `mask` are not zero."""
        if not self.within() or list(mask.shape) == [self.experts]:
            return mask.numel()
        if mask.numel() == self.tokens * self.experts:
            # Of each token the experts that it chose.
            return self.tokens * self.per_token
        if mask.numel() in (self.tokens, self.tokens * self.per_token):
            return -(-self.tokens * self.per_token // self.experts)
        return mask.numel()


# Of the forward that is being recorded.
_routing = None


def routes(config, tokens, within):
    """From here on rows are chosen as a batch of `tokens` tokens does it by `config`."""
    global _routing
    said = {} if config is None else config.to_dict()
    found = [next((said[key] for key in keys if isinstance(said.get(key), int) and said[key] > 0), None) for keys in (EXPERTS, PER_TOKEN)]
    _routing = Routing(tokens, found[1], found[0], within) if None not in found else None


def is_within():
    """Whether a layer of a mixture runs, whose masks choose its experts' tokens."""
    return _routing is not None and _routing.within()


def prepare():
    """Gives `nonzero` a size, and has masks read through it, as a GPU does (aten/src/ATen/native/IndexingUtils.h `expandTensors`). Once for a process."""
    own = torch.library.Library("aten", "IMPL", "Meta")
    _kept.append(own)
    own.m.impl("nonzero", "Meta", nonzero)
    real_get, real_set = torch.Tensor.__getitem__, torch.Tensor.__setitem__
    torch.Tensor.__getitem__ = lambda tensor, index: real_get(tensor, numbers(index))
    torch.Tensor.__setitem__ = lambda tensor, index, value: real_set(tensor, numbers(index), value)


def nonzero(mask):
    rows = mask.numel() if _routing is None else _routing.rows(mask)
    return mask.new_empty((rows, mask.dim()), dtype=torch.long)


def numbers(index):
    """An index whose masks are numbers of rows."""
    if is_mask(index):
        return index.nonzero().unbind(1)
    if isinstance(index, tuple) and any(is_mask(one) for one in index):
        return tuple(number for one in index for number in (one.nonzero().unbind(1) if is_mask(one) else (one,)))
    return index


def is_mask(index):
    return isinstance(index, torch.Tensor) and index.dtype == torch.bool and index.device.type == "meta" and index.dim() > 0
