"""Writes the expected values of `model_tensors.rs` and `model_totals.rs`: what transformers builds from a config.

Needs torch and transformers 5.23; nothing is downloaded, models are built on the meta device.

    python list_parameters.py tensors < tensors.in.jsonl > tensors.jsonl
    python list_parameters.py totals < totals.in.jsonl > totals.jsonl

Input: one object a line; `config` is the config.json. Lines of `tensors` come back with every parameter of the model,
named as in the checkpoint but for the prefix before the layers; lines of `totals` with the number of parameters and of
those that a token meets. Of multimodal models the text part and the head are taken.
"""

import json
import re
import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoModelForMaskedLM
from transformers import MllamaForCausalLM

MASKED = {"bert", "roberta", "xlm-roberta", "camembert", "distilbert"}
PREFIX = r"^(model\.decoder|model\.language_model|model|transformer|gpt_neox|bert|roberta|distilbert)\."


def build(config):
    rest = dict(config)
    config = AutoConfig.for_model(rest.pop("model_type"), **rest)
    auto = AutoModelForMaskedLM if config.model_type in MASKED else AutoModelForCausalLM
    if "vision_config" in rest:
        auto = AutoModelForImageTextToText
    with torch.device("meta"):
        if config.model_type == "mllama_text_model":
            return config, MllamaForCausalLM(config)
        return config, auto.from_config(config)


def short(name):
    name = re.sub(PREFIX, "", name)
    return re.sub(r"^(h|encoder\.layer|transformer\.layer|layer)\.(\d+)\.", r"layers.\2.", name)


def parameters(config, model):
    for name, parameter in model.named_parameters():
        if not hasattr(config, "vision_config") or "language_model" in name or "lm_head" in name:
            yield name, parameter


def active(config, name, parameter):
    """Parameters that a token meets: of stacked experts, those it visits."""
    if ".experts." not in name:
        return parameter.numel()
    return parameter.numel() // parameter.shape[0] * config.get_text_config().num_experts_per_tok


def rotary_dim(config, model):
    """Rotated dimensions of a head: two for each frequency. None where the model rotates none, or by other means.

    Falcon builds the frequencies even when ALiBi takes their place.
    """
    if getattr(config, "alibi", False):
        return None
    for name, buffer in model.named_buffers():
        if name.endswith("inv_freq") and "original" not in name and "visual" not in name and "vision" not in name:
            return 2 * buffer.numel()
    return None


for line in sys.stdin:
    case = json.loads(line)
    config, model = build(case["config"])
    named = list(parameters(config, model))
    case["param_count"] = sum(parameter.numel() for _, parameter in named)
    if sys.argv[1] == "tensors":
        case["rotary_dim"] = rotary_dim(config, model)
        case["tensors"] = {short(name): list(parameter.shape) for name, parameter in named}
    else:
        case["active_param_count"] = sum(active(config, name, parameter) for name, parameter in named)
    print(json.dumps(case))
