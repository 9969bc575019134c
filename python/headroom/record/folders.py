"""A folder with a `config.json` and the Python files of its class, as a model comes with its weights where transformers has no class of it
(`auto_map`, "remote code"). Its code runs, on this machine: the folder was named for that.
"""

import glob
import os

from .blocks_data import Unrecordable

# What such a config calls a class that is a causal model, best first; other tasks' classes have no head of tokens.
MODELS = ("AutoModelForCausalLM", "AutoModelForMaskedLM", "AutoModelForSeq2SeqLM", "AutoModel")


def config_of(folder, said):
    """The config of the class that comes with `folder`, whose `config.json` says `said`; its class is known to transformers from then on."""
    import transformers

    names = named_in(folder, said)
    if "AutoConfig" not in names or not any(name in names for name in MODELS):
        raise Unrecordable(
            f"this transformers has no class of model_type {said.get('model_type')!r}, and its config.json names none in auto_map: install the release that has it, "
            "or put configuration_*.py and modeling_*.py beside it"
        )
    config_class = loaded(folder, names["AutoConfig"])
    config = config_class(**{key: value for key, value in said.items() if key not in ("model_type", "auto_map")})
    model_type = said.get("model_type") or config_class.model_type
    # What a file says goes before what the code says.
    config_class.model_type = model_type
    if model_type not in transformers.CONFIG_MAPPING:
        transformers.CONFIG_MAPPING.register(model_type, config_class)
    for auto in (name for name in MODELS if name in names):
        model_class = loaded(folder, names[auto])
        # The config's class may lie twice in memory, where two files import it by different names.
        model_class.config_class = config_class
        getattr(transformers, auto).register(config_class, model_class, exist_ok=True)
    return config


def named_in(folder, said):
    """File and class of each kind, by `auto_map`; where that is missing, the classes of the folder's files by their names."""
    names = {kind: name for kind, name in (said.get("auto_map") or {}).items() if isinstance(name, str) and "--" not in name}
    if names:
        return names
    found = {}
    for path in sorted(glob.glob(os.path.join(folder, "*.py"))):
        with open(path, encoding="utf-8") as file:
            classes = [line.split("(")[0].removeprefix("class ").strip(" :\n") for line in file if line.startswith("class ")]
        of_file = os.path.basename(path).removesuffix(".py")
        for name in classes:
            if name.endswith("Config"):
                found.setdefault("AutoConfig", f"{of_file}.{name}")
            if name in (said.get("architectures") or []):
                kind = next((kind for kind in MODELS if name.endswith(kind.removeprefix("AutoModel"))), "AutoModelForCausalLM")
                found[kind] = f"{of_file}.{name}"
    return found


def loaded(folder, name):
    from transformers.dynamic_module_utils import get_class_from_dynamic_module

    try:
        return get_class_from_dynamic_module(name, folder)
    except OSError as error:
        raise Unrecordable(f"auto_map names {name}, and {(str(error).splitlines() or ['it cannot be read'])[0][:160]}") from None
