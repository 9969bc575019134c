"""Masks as a class gets them: none where one kernel knows causality by itself, else those that whoever runs the program makes."""

import torch

from . import vision


def mask_maker(function, attention):
    """A mask as the attention wants it: none where one kernel knows causality by itself."""

    def make(config=None, inputs_embeds=None, **keywords):
        inputs_embeds = keywords.get("input_embeds") if inputs_embeds is None else inputs_embeds
        given = keywords.get("attention_mask")
        if isinstance(given, torch.Tensor) and given.dim() == 4:
            # Whoever calls the model made it (masking_utils.py `_preprocess_mask_arguments`; modeling_paligemma.py `PaliGemmaModel.forward`).
            return given
        if "recurrent" in function or "linear" in function:
            return None
        if inputs_embeds is not None and tuple(inputs_embeds.shape[:2]) != tuple(Masks.made[False].shape[::2]):
            # A tower's, where patches are padded: every image has a mask of its own. Tiles of one size are not.
            if keywords.get("attention_mask") is None or vision.is_tiled(config):
                return None
            count, length = inputs_embeds.shape[:2]
            dtype = torch.bfloat16 if attention == "eager" else torch.bool
            return torch.empty(count, 1, length, length, dtype=dtype, device="meta")
        if attention != "eager" and keywords.get("allow_is_causal_skip") is False:
            # The class wants a mask although its kernel knows causality: one for all sequences (masking_utils.py `sdpa_mask`).
            batch, length = inputs_embeds.shape[:2]
            return torch.empty(1, 1, length, length, dtype=torch.bool, device="meta").expand(batch, -1, -1, -1)
        if attention != "eager" and function == "create_bidirectional_sliding_window_mask":
            # No kernel knows a window on both sides (masking_utils.py `_ignore_bidirectional_mask_sdpa`), which sequences are longer than.
            batch, length = inputs_embeds.shape[:2]
            return torch.empty(1, 1, length, length, dtype=torch.bool, device="meta").expand(batch, -1, -1, -1)
        if attention != "eager" and keywords.get("block_sequence_ids") is not None:
            # Images see themselves whole: no kernel knows that without a mask, one of booleans for each sequence.
            batch, length = inputs_embeds.shape[:2]
            return torch.empty(batch, 1, length, length, dtype=torch.bool, device="meta")
        if function == "create_masks_for_generate":
            kinds = set(getattr(config, "layer_types", None) or ["full_attention"])
            return {kind: None if "linear" in kind else one(kind != "full_attention") for kind in kinds}
        return one("sliding" in function or "chunked" in function)

    def one(sliding):
        if attention != "eager":
            return None
        return masks[sliding]

    masks = Masks()
    return make


class Masks(dict):
    """Masks by whether they slide, made on first use by the runner."""

    made = {}

    def __missing__(self, sliding):
        return Masks.made[sliding]


def make_masks(batch, length):
    """One mask for whole causality and one for windows."""
    with torch.device("meta"):
        Masks.made = {s: torch.zeros(batch, 1, length, length, dtype=torch.bfloat16) for s in (False, True)}
    return {id(Masks.made[False]): ("input", "causal_mask"), id(Masks.made[True]): ("input", "sliding_mask")}
