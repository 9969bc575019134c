"""Python files with a module of the reader's own, as the command names them."""

import copy
import importlib
import importlib.util
import json
import os
import sys

import torch

from .own import SHORTEST, NotOwn, OwnConfig


def is_own(name):
    """Whether the command's argument is a Python file or `module:function`."""
    path, _, function = name.rpartition(":") if ":" in os.path.basename(name) else (name, "", "")
    return path.endswith(".py") or bool(function)


def read(name, config_file=None):
    """The config of a file's module: `FILE.py`, `FILE.py:FUNCTION` or `package.module:FUNCTION`."""
    path, function = name, "build"
    if ":" in os.path.basename(name):
        path, _, function = name.rpartition(":")
    import transformers

    module = loaded(path)
    factory = getattr(module, function, None)
    if not callable(factory):
        raise NotOwn(f"{path} has no function {function}: add `def {function}(config):`, which returns the module")
    said = getattr(module, "config", None)
    if config_file:
        with open(config_file, encoding="utf-8") as file:
            said = json.load(file)
    if not isinstance(said, dict):
        raise NotOwn(f"{path} has no dict called config: add one with the model's sizes, or name a JSON file with --config")
    said = copy.deepcopy(said)
    model_type = said.pop("model_type", None) or os.path.splitext(os.path.basename(path))[0].rpartition(".")[2]
    if model_type in transformers.CONFIG_MAPPING:
        raise NotOwn(f"{model_type} is the name of a class of transformers: call the file otherwise, or give the config a model_type of its own")
    nested = next((key for key, value in said.items() if isinstance(value, dict)), None)
    if nested:
        raise NotOwn(f"the config's {nested} is a dict: a config has numbers, texts, true, false and lists, one key each")
    kind = type("OwnConfig", (OwnConfig,), {"factory": staticmethod(factory), "model_type": model_type, "defaults": said})
    return settled(kind)


def loaded(path):
    """The Python module at a path or by name."""
    if not path.endswith(".py"):
        sys.path.insert(0, os.getcwd())
        return importlib.import_module(path)
    if not os.path.isfile(path):
        raise NotOwn(f"{path} is no file")
    name = f"headroom_own_{os.path.splitext(os.path.basename(path))[0]}"
    # What lies beside it can be imported as where it is run.
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location(name, path)
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def settled(kind):
    """A config of a file, once it is known which of its keys says how many layers there are, and how long its sequences may be."""
    base = kind()
    made = base.made()
    count = len(made.layers()[1])
    kind.count = count
    if "num_hidden_layers" not in base.values:
        kind.layers_key = next((key for key in base.values if counts_layers(kind, key, count)), None)
    made.calls_of_head()
    kind.length = longest(made) // 2
    return base


def longest(made):
    """The longest sequences that the module takes, of the sample's length and its halves: recordings are half as long, and as long."""
    length = made.length
    while length // 2 >= SHORTEST and not runs(made, length):
        length //= 2
    return length


def runs(made, length):
    try:
        positional, named, _ = made.inputs(made.batch, length)
        with torch.device("meta"), torch.no_grad():
            made.module(*positional, **named)
    except Exception:
        return False
    return True


def counts_layers(kind, key, count):
    """Whether one more in a key makes one layer more."""
    value = kind.defaults[key]
    if value != count or isinstance(value, bool):
        return False
    try:
        return len(kind(**{key: value + 1}).made().layers()[1]) == count + 1
    except Exception:
        return False
