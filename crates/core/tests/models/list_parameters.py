"""Writes the expected values of `model_tensors.rs` and `model_totals.rs`: what transformers builds from a config.

Needs torch and transformers 5.23; nothing is downloaded, models are built on the meta device.

    python list_parameters.py tensors < tensors.in.jsonl > tensors.jsonl
    python list_parameters.py totals < totals.in.jsonl > totals.jsonl

Input: one object a line; `config` is the config.json. Lines of `tensors` come back with every parameter of the model,
named as in the checkpoint but for the prefix before the layers; lines of `totals` with the number of parameters and of
those that a token meets, the latter where the experts of the class are stacked. Of multimodal models the text part and the head are taken;
`whole_param_count` is the number of all parameters.

`id` is a checkpoint whose published figures the config has. "(class defaults)" behind it: the figures are those that the class of
transformers has without any, and which of them the checkpoint has is not known here.
"""

import json
import re
import sys

import torch
import transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText, AutoModelForMaskedLM, AutoModelForSeq2SeqLM

MASKED = {
    "bert", "roberta", "xlm-roberta", "camembert", "distilbert", "data2vec-text", "electra", "ernie", "eurobert", "megatron-bert", "modernbert",
    "mpnet", "nomic_bert", "roberta-prelayernorm", "roformer", "xlm-roberta-xl",
}
# Classes that no automatic class makes.
CLASSES = {
    "cohere_compass_text": "CohereCompassForCausalLM", "dots1": "Dots1ForCausalLM", "ministral": "MinistralForCausalLM",
    "mllama_text_model": "MllamaForCausalLM", "qwen2_5_omni_thinker": "Qwen2_5OmniThinkerForConditionalGeneration",
    "qwen3_omni_moe_thinker": "Qwen3OmniMoeThinkerForConditionalGeneration",
}
PREFIX = r"^(model\.decoder|model\.language_model|model|transformer|gpt_neox|bert|roberta|distilbert)\."


def build(config):
    rest = dict(config)
    config = AutoConfig.for_model(rest.pop("model_type"), **rest)
    auto = AutoModelForMaskedLM if config.model_type in MASKED else AutoModelForCausalLM
    if "vision_config" in rest:
        auto = AutoModelForImageTextToText
    if config.model_type == "t5":
        auto = AutoModelForSeq2SeqLM
    with torch.device("meta"):
        if config.model_type in CLASSES:
            return config, getattr(transformers, CLASSES[config.model_type])(config)
        return config, auto.from_config(config)


def short(name):
    name = re.sub(PREFIX, "", name)
    return re.sub(r"^(h|encoder\.layer|transformer\.layer|layer)\.(\d+)\.", r"layers.\2.", name)


def parameters(config, model):
    for name, parameter in model.named_parameters():
        if not hasattr(config, "vision_config") or any(part in name for part in ("language_model", "text_model", "lm_head")):
            yield name, parameter


def active(config, name, parameter):
    """Parameters that a token meets: of stacked experts, those it visits."""
    if ".experts." not in name:
        return parameter.numel()
    text = config.get_text_config()
    visited = next(getattr(text, key) for key in ("num_experts_per_tok", "moe_topk", "top_k_experts") if hasattr(text, key))
    return parameter.numel() // parameter.shape[0] * visited


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
        if all(".experts." in name for name, parameter in named if parameter.dim() == 3 and parameter.numel() > 1 << 22):
            case["active_param_count"] = sum(active(config, name, parameter) for name, parameter in named)
        if "vision_config" in case["config"]:
            case["whole_param_count"] = sum(parameter.numel() for parameter in model.parameters())
    print(json.dumps(case))
