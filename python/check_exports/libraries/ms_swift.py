"""ms-swift's command line, through its own parser."""

import json
import os
import shlex

from . import launch, machine
from .notation import plain
from .scripts import held


def understood(folder, out):
    """Counts of what was loaded, by class."""
    machine.pretend(folder)
    from swift.arguments import RLHFArguments, SftArguments
    from transformers import HfArgumentParser, TrainingArguments

    with open(os.path.join(folder, "launch.sh"), encoding="utf-8") as file:
        script = file.read().replace("\\\n", " ")
    words = shlex.split(script, comments=True)
    start = words.index("swift")
    subcommand, flags = words[start + 1], words[start + 2:]
    kind = {"sft": SftArguments, "rlhf": RLHFArguments}[subcommand]
    # What its checks need of a machine: a model's files, GPUs, a network.
    kind.__post_init__ = lambda self: None
    parsed, rest = HfArgumentParser([kind]).parse_args_into_dataclasses(flags, return_remaining_strings=True)
    if rest:
        raise ValueError(f"ms-swift does not know {rest}")
    shown = []
    for key, value in held(parsed).items():
        value = plain(value)
        if value is None or value == [] or value == {}:
            continue
        texts = [str(item) for item in value] if isinstance(value, list) else [str(value)]
        shown.append(f"--{key} " + " ".join(shlex.quote(text) for text in texts))
    before = script[: script.index("swift " + subcommand)]
    with open(os.path.join(out, "launch.sh"), "w", encoding="utf-8") as file:
        file.write(f"{before}swift {subcommand} " + " \\\n    ".join(shown) + "\n")
    path = os.path.join(folder, "fsdp.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            sharding = json.load(file)
        # As its `_init_fsdp` hands it on.
        taken = TrainingArguments(output_dir=out, **sharding)
        sharding["fsdp_config"] = {key: taken.fsdp_config[key.removeprefix("fsdp_")] for key in sharding["fsdp_config"]}
        with open(os.path.join(out, "fsdp.json"), "w", encoding="utf-8") as file:
            json.dump(plain(sharding), file)
    return {kind.__name__: 1, **launch.beside(folder, out, skip={"launch.sh", "fsdp.json"})}
