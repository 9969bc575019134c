"""`python -m headroom.record.guard --programs DIR [MODEL_TYPE ...] [--add]`: keys of a config that change a class's parameters and that
its program reads nowhere, so that their other values would be counted wrongly. With `--add` each becomes a condition of the program,
and a config with another value is refused.

Every key that is true or false, a number or null is changed alone, and the model built on `meta`; nothing runs.
"""

import argparse
import copy
import json
import os
import re

from . import flags, vision
from .model import build, prepare
from .shorter import fewer_layers
from .variants import TOGETHER, part_of, value_of, with_value

# Keys of no matter: what a fine-tuning script says and no checkpoint, ids, counts of layers, and the last layer with mixtures, which is the
# last layer in every checkpoint.
NO_MATTER = (
    *flags.NO_MATTER, "num_labels", "pruned_heads", "problem_type", "_token_id", "_token_index", "chunk_size_feed_forward", "is_composition",
    "is_gated_act", "num_hidden_layers", "n_layer", "num_layers", "depth", "vocab_size", "_end_index", "dtype", "transformers_version",
)
# Words that a class knows, of which a checkpoint has one.
WORDS = {"norm_type": ("layer_norm", "rms_norm")}
# Which layer of a tower gives its features, and which of its patches.
OF_TOWERS = ("vision_feature_layer", "vision_feature_select_strategy")
# What null is tried as: a width that every class can split.
SOME_WIDTH = 64


def keys_of(config):
    """Every such key: the text part's by its own name, the tower's as `vision_config.key`."""
    if vision.has_images(config):
        tower = [f"vision_config.{key}" for key in keys_of(config.vision_config)]
        return [*own_keys(config), *tower, *own_keys(config.text_config)]
    return own_keys(config)


def own_keys(config):
    said = config.to_dict()
    plain = (key for key, value in sorted(said.items()) if value is None or isinstance(value, (bool, int, float)) or key in WORDS)
    return [key for key in plain if not key.startswith("_") and not any(part in key for part in NO_MATTER)]


def others_than(value, key):
    """Values to try in place of one."""
    words = WORDS.get(key.rpartition(".")[2])
    if words:
        return [word for word in words if word != value]
    if value is None:
        return [SOME_WIDTH, True]
    if isinstance(value, bool):
        return [not value]
    if value == 0:
        return [1, 2] if isinstance(value, int) else []
    return [value * 2, None, 0]


def parameters(config, class_name):
    """Sizes of parameters, and names of buffers."""
    model = build(copy.deepcopy(config), "eager", class_name)
    # Buffers are of sizes that sequences decide, too: that there are some is the model's.
    sizes = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    return sizes, {name for name, _ in model.named_buffers()}


def changing(config, class_name=None, known=()):
    """Keys but those in `known` whose change alone changes the parameters of a config's model."""
    keys = [key for key in dict.fromkeys(keys_of(config)) if key not in known and not goes_with(config, key, known)]
    return moved_by(keys, config, class_name)


def goes_with(config, key, known):
    """Whether a key is of the same value as one that is read, and no model is made where they differ: a tower's output and the text's width."""
    value = value_of(config, key)
    groups = (group for group in TOGETHER if key in group)
    return any(other in known and value_of(config, other) == value for group in groups for other in group)


def moved_by(keys, config, class_name):
    base = parameters(config, class_name)
    found = []
    for key in keys:
        for value in others_than(value_of(config, key), key):
            try:
                part, name = part_of(config, key)
                if part is None or not hasattr(part, name):
                    break
                moved = parameters(with_value(config, key, value), class_name) != base
            except Exception:
                # No such model.
                continue
            if moved:
                found.append(key)
                break
    return found


def read_by(programs, text=None):
    """Keys that a file's programs read in any way; `text`: the file's dims."""
    names = set(re.findall(r"[A-Za-z_][\w.]*", " ".join(text or [])))
    for program in programs:
        names |= set(re.findall(r"[A-Za-z_][\w.]*", " ".join(map(str, (program.get("derived") or {}).values()))))
        rest = {key: program.get(key) for key in ("features", "stacks", "head", "when")}
        names |= set(re.findall(r"[A-Za-z_][\w.]*", json.dumps(rest)))
        for block in [program["before"], program["after"], *program["layers"]]:
            for _, _, owned in block["modules"]:
                names |= {item["if"] for own in owned for item in own if isinstance(item, dict) and "if" in item}
    return names


def conditions(config, class_name, known):
    """What a config has to say of keys that its program does not read, and what the class takes them to be."""
    found = changing(config, class_name, known)
    asked = [{"key": key, "is": settled(value_of(config, key))} for key in found]
    defaults = {key: default_of(config, key) for key in found}
    if vision.has_images(config):
        # A text part of another class is another program; so are other features of the tower.
        read = {"text_config.model_type": lambda whole: whole.text_config.model_type}
        read |= {key: lambda whole, key=key: getattr(whole, key) for key in OF_TOWERS if hasattr(config, key)}
        asked += [{"key": key, "is": value(config)} for key, value in read.items()]
        defaults |= {key: value(type(config)()) for key, value in read.items()}
    if getattr(config, "audio_config", None) is not None:
        # Whose modules are counted where a config has them, as wide as they are here.
        for key in changing_audio(config, class_name):
            asked.append({"key": key, "is": settled(value_of(config, key))})
            defaults[key] = value_of(config, key)
    return asked, {key: value for key, value in defaults.items() if value is not None}


def settled(value):
    """What a condition says of a value: a width that is null is none."""
    return 0 if value is None else value


def changing_audio(config, class_name):
    keys = [f"audio_config.{key}" for key in (*own_keys(config.audio_config), "num_hidden_layers")]
    return moved_by(keys, config, class_name)


def default_of(config, key):
    """What the class takes a key to be, where that is no null."""
    part, name = part_of(config, key)
    try:
        value = value_of(type(part)(), name)
    except Exception:
        return None
    return value if isinstance(value, (bool, int, float, str)) else None


def main():
    from .families import CLASSES, configs_of

    parser = argparse.ArgumentParser(prog="python -m headroom.record.guard", description=__doc__)
    parser.add_argument("--programs", required=True)
    parser.add_argument("--add", action="store_true")
    parser.add_argument("model_types", nargs="*")
    given = parser.parse_args()
    prepare()
    for name in given.model_types or sorted(file.removesuffix(".json") for file in os.listdir(given.programs)):
        path = os.path.join(given.programs, f"{name}.json")
        with open(path, encoding="utf-8") as file:
            said = json.load(file)
        known = read_by(said["programs"], said["dims"])
        values = {}
        try:
            for config in configs_of(name):
                few = fewer_layers(config)
                for key in changing(few, CLASSES.get(config.model_type), known):
                    values.setdefault(key, []).append((value_of(few, key), default_of(few, key)))
        except Exception as error:
            print(f"{name}: not built: {type(error).__name__} {error}", flush=True)
            continue
        for key, listed in values.items():
            print(f"{name}: {key} {', '.join(sorted({repr(value) for value, _ in listed}))} changes parameters, and no program reads it", flush=True)
        if not values:
            print(f"{name}: all read", flush=True)
        alike = {key: listed[0] for key, listed in values.items() if all(one == listed[0] for one in listed)}
        if not given.add or not alike:
            continue
        for program in said["programs"]:
            program["when"] = [*program.get("when", []), *({"key": key, "is": settled(value)} for key, (value, _) in sorted(alike.items()))]
            config = {**program["config"], **{key: default for key, (_, default) in alike.items() if default is not None}}
            program["config"] = dict(sorted(config.items()))
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps(said, separators=(",", ":"), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
