"""What a causal class does with hidden states behind its decoder."""

import torch

from .model import decoder_of, make_masks, names_of
from .trace import Trace


def head_of(model):
    """The head's name, its bias, and what happens to the logits."""
    decoder = decoder_of(model)
    head = model.get_output_embeddings()
    if head is None or decoder is model:
        return {"name": "lm_head", "bias": False, "softcaps": False, "scales": False}
    name = next((n for n, module in model.named_modules() if module is head), "lm_head")
    ran = []
    trace = Trace({**names_of(decoder), **make_masks(1, 16)})
    handle = decoder.register_forward_hook(lambda *_: ran.append(len(trace.ops)))
    try:
        with torch.device("meta"), torch.no_grad():
            ids = torch.zeros(1, 16, dtype=torch.long)
            trace.names[id(ids)] = ("input", "input_ids")
            with trace:
                model(input_ids=ids, use_cache=False)
    finally:
        handle.remove()
        trace.close()
    behind = [op.name for op in trace.ops[ran[-1] if ran else 0 :]]
    scales = any(n.startswith(("mul.", "div.")) for n in behind) and "tanh" not in behind
    return {"name": name, "bias": getattr(head, "bias", None) is not None, "softcaps": "tanh" in behind, "scales": scales}
