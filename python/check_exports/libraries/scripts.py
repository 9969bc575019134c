"""Scripts around transformers and TRL: run with the classes of the libraries, without a model, data or training."""

import dataclasses
import inspect
import os
import types

import transformers

from . import launch, machine
from .notation import call


class Stub:
    """Stands for a model, a tokenizer or data set."""

    config = types.SimpleNamespace()

    def map(self, *_, **__):
        return self


class Loader:
    """`AutoModelFor...` of which loading is noted."""

    def __init__(self, name, notes):
        self.name, self.notes = name, notes

    def from_pretrained(self, model, **keywords):
        self.notes["loads"].append((self.name, model, keywords))
        return Stub()


def trainer(kind, notes):
    """The trainer's class, which only checks what it is called with."""
    signature = inspect.signature(kind.__init__)

    class Noted:
        def __init__(self, **keywords):
            signature.bind(self, **keywords)
            notes["trainers"].append((kind.__name__, keywords))

        def train(self):
            notes["trained"] = True

    return Noted


def run(path):
    """Runs the script; what it made."""
    import builtins

    notes = {"loads": [], "trainers": [], "prepared": None, "adapted": False}
    real = builtins.__import__

    def noted(name, *rest):
        module = real(name, *rest)
        if name not in ("datasets", "transformers", "peft", "trl") and not name.startswith("trl."):
            return module
        shown = types.SimpleNamespace()
        for item in (rest[2] if len(rest) > 2 else ()) or ():
            setattr(shown, item, replaced(item, getattr(module, item), notes))
        return shown if len(rest) > 2 and rest[2] else module

    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    space = {"__name__": "__main__", "__builtins__": {**vars(builtins), "__import__": noted}}
    exec(code, space)
    notes["space"] = space
    return notes


def replaced(name, item, notes):
    if name == "load_dataset":
        return lambda *_, **__: Stub()
    if name.startswith("AutoModel"):
        return Loader(name, notes)
    if name == "AutoTokenizer":
        return types.SimpleNamespace(from_pretrained=lambda *_, **__: Stub())
    if name.startswith("DataCollator"):
        return lambda *_, **__: None
    if name.endswith("Trainer"):
        return trainer(item, notes)
    if name == "prepare_model_for_kbit_training":
        signature = inspect.signature(item)

        def prepare(model, **keywords):
            signature.bind(model, **keywords)
            notes["prepared"] = keywords
            return model

        return prepare
    if name == "get_peft_model":
        def adapt(model, config):
            notes["adapted"] = True
            return model

        return adapt
    return item


SKIPPED = {"output_dir", "run_name", "logging_dir", "hub_model_id", "push_to_hub_model_id", "distributed_state"}


def held(instance):
    """Every field of a configuration."""
    names = [field.name for field in dataclasses.fields(instance) if field.init and field.name not in SKIPPED]
    return {name: getattr(instance, name) for name in names if not callable(getattr(instance, name))}


def understood(folder, out):
    """Counts of what was loaded, by class."""
    machine.pretend(folder)
    at = os.getcwd()
    os.chdir(folder)
    try:
        notes = run("train.py")
    finally:
        os.chdir(at)
    if not notes.get("trained"):
        raise ValueError("the script does not train")
    text, counts = "import torch\n", {}
    for kind, model, keywords in notes["loads"]:
        keywords = dict(keywords)
        quantization = keywords.pop("quantization_config", None)
        if quantization is not None:
            counts["BitsAndBytesConfig"] = 1
            shown = {key: value for key, value in quantization.to_dict().items() if not key.startswith("_")}
            shown.pop("quant_method", None)
            text += "quantization_config = " + call("BitsAndBytesConfig", shown) + "\n"
        loaded = call(f"model = {kind}.from_pretrained", keywords, model)
        if quantization is not None:
            loaded = loaded[:-2] + "\n    quantization_config=quantization_config,\n)"
        text += loaded + "\n"
    if notes["prepared"] is not None:
        text += call("model = prepare_model_for_kbit_training", notes["prepared"]).replace("(\n    ", "(\n    model,\n    ", 1) + "\n"
    name, keywords = notes["trainers"][0]
    adapters = keywords.get("peft_config") or (notes["adapted"] and notes["space"]["peft_config"]) or None
    if adapters is not None:
        counts[type(adapters).__name__] = 1
        shown = {key: value for key, value in adapters.to_dict().items() if value not in (None, {}, [])}
        shown.pop("peft_type", None)
        text += "peft_config = " + call(type(adapters).__name__, shown) + "\n"
    if notes["adapted"]:
        text += "model = get_peft_model(model, peft_config)\n"
    args = keywords["args"]
    counts[type(args).__name__] = 1
    text += "args = " + call(type(args).__name__, held(args)) + "\n"
    for line in open(os.path.join(folder, "train.py"), encoding="utf-8"):
        if "tokenizer(row" in line:
            text += f"def tokenize(row):\n{line}"
    passed = [key for key in ("model", "args", "peft_config") if key in keywords]
    text += f"trainer = {name}({', '.join(f'{key}={key}' for key in passed)})\n"
    with open(os.path.join(out, "train.py"), "w", encoding="utf-8") as file:
        file.write(text)
    for key, count in launch.beside(folder, out, args, skip={"train.py"}).items():
        counts[key] = counts.get(key, 0) + count
    return counts
