"""Writes the expected values of `model_tensors.rs` and `model_totals.rs`: what transformers builds from a config.

Needs torch and transformers 5.23; nothing is downloaded, models are built on the meta device.

    python list_parameters.py tensors < tensors.in.jsonl > tensors.jsonl
    python list_parameters.py totals  < totals.in.jsonl  > totals.jsonl

Input: one object a line; `config` is the config.json. Lines of `tensors` come back with every parameter of the model,
named as in the checkpoint but for the prefix before the layers; lines of `totals` with the number of parameters.
"""

import json
import re
import sys

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForMaskedLM

MASKED = {"bert", "roberta", "xlm-roberta", "distilbert"}


def build(config):
    rest = dict(config)
    config = AutoConfig.for_model(rest.pop("model_type"), **rest)
    auto = AutoModelForMaskedLM if config.model_type in MASKED else AutoModelForCausalLM
    with torch.device("meta"):
        return auto.from_config(config)


def short(name):
    name = re.sub(r"^(model\.decoder|model|transformer|gpt_neox|bert|roberta|distilbert)\.", "", name)
    return re.sub(r"^(h|encoder\.layer|transformer\.layer|layer)\.(\d+)\.", r"layers.\2.", name)


for line in sys.stdin:
    case = json.loads(line)
    model = build(case["config"])
    case["param_count"] = sum(p.numel() for p in model.parameters())
    if sys.argv[1] == "tensors":
        case["tensors"] = {short(name): list(p.shape) for name, p in model.named_parameters()}
    print(json.dumps(case))
