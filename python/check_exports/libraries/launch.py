"""Files beside a trainer's own: accelerate's YAML, DeepSpeed's JSON, a model's config; the rest is copied."""

import json
import os
import shutil

import yaml

from .notation import plain


def accelerate(path):
    """The configuration as accelerate's launcher holds it."""
    from accelerate.commands.config.config_args import load_config_from_file

    held = load_config_from_file(path).to_dict()
    return plain(held)


def deepspeed(path, arguments=None):
    """The configuration as DeepSpeed's own models hold it; "auto" stays, and is resolved by the Trainer's integration."""
    from deepspeed.runtime.precision_config import get_bfloat16_config, get_float16_config
    from deepspeed.runtime.zero.config import get_zero_config

    with open(path, encoding="utf-8") as file:
        stated = json.load(file)
    if arguments is not None:
        from transformers.integrations.deepspeed import HfTrainerDeepSpeedConfig

        resolved = HfTrainerDeepSpeedConfig(path)
        resolved.trainer_config_process(arguments)
        # What is still "auto" after this follows from the model's size.
        resolved.trainer_config_finalize(arguments, _Model(), 100)
        config = resolved.config
    else:
        config = without_auto(stated)
    zero, half, brain = get_zero_config(config), get_float16_config(config), get_bfloat16_config(config)
    held = dict(stated)
    held["zero_optimization"] = kept(stated["zero_optimization"], zero)
    held["fp16"] = kept(stated.get("fp16", {}), half)
    held["bf16"] = kept(stated.get("bf16", {}), brain)
    return plain(held)


class _Model:
    """A model of a size, for the sizes that follow from it."""

    class config:
        hidden_size = 1024


def without_auto(settings):
    return {
        key: without_auto(value) if isinstance(value, dict) else value
        for key, value in settings.items() if value != "auto"
    }


def kept(stated, model):
    """The stated keys as the model holds them. A key that the model does not have is an error."""
    known = dict(model)
    for name, field in type(model).model_fields.items():
        if field.alias:
            known[field.alias] = known[name]
    found = {}
    for key, value in stated.items():
        if key not in known:
            raise KeyError(f"DeepSpeed has no {key}")
        of = known[key]
        if value == "auto":
            found[key] = value
        elif isinstance(value, dict):
            found[key] = kept(value, of)
        else:
            found[key] = of
    return found


def model(path):
    """A model's config as transformers holds it."""
    from transformers import AutoConfig

    return AutoConfig.from_pretrained(os.path.dirname(path)).to_dict()


def beside(folder, out, arguments=None, skip=()):
    """Loads what it knows and copies the rest; how many files of which kind."""
    counts = {}
    for root, _, names in os.walk(folder):
        for name in names:
            if name in skip:
                continue
            path = os.path.join(root, name)
            to = os.path.join(out, os.path.relpath(path, folder))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if name == "accelerate.yaml":
                counts["accelerate"] = 1
                with open(to, "w", encoding="utf-8") as file:
                    yaml.safe_dump(accelerate(path), file)
            elif name == "ds_config.json":
                counts["deepspeed"] = 1
                with open(to, "w", encoding="utf-8") as file:
                    json.dump(deepspeed(path, arguments), file)
            elif name == "config.json":
                counts["config.json"] = 1
                with open(to, "w", encoding="utf-8") as file:
                    json.dump(plain(model(path)), file)
            else:
                shutil.copy(path, to)
    return counts
