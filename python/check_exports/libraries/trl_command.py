"""The YAML of `trl sft --config` and its siblings, through TRL's own parser."""

import os
import re

import yaml

from . import launch, machine
from .notation import plain
from .scripts import held


def classes(subcommand):
    """What the subcommand parses into (trl/scripts/*.py)."""
    import trl

    config = {"sft": "SFTConfig", "dpo": "DPOConfig", "reward": "RewardConfig", "grpo": "GRPOConfig", "rloo": "RLOOConfig", "kto": "KTOConfig"}
    return [trl.ScriptArguments, getattr(trl, config[subcommand]), trl.ModelConfig]


def understood(folder, out):
    """Counts of what was loaded, by class."""
    import trl

    machine.pretend(folder)
    with open(os.path.join(folder, "launch.sh"), encoding="utf-8") as file:
        subcommand = re.search(r"^trl (\w+) ", file.read(), flags=re.M)[1]
    at = os.getcwd()
    os.chdir(folder)
    try:
        parsed = trl.TrlParser(classes(subcommand)).parse_args_and_config(["--config", "config.yaml"])
    finally:
        os.chdir(at)
    shown, counts = {}, {}
    for instance in parsed:
        counts[type(instance).__name__] = 1
        shown.update(held(instance))
    with open(os.path.join(out, "config.yaml"), "w", encoding="utf-8") as file:
        yaml.safe_dump({key: plain(value) for key, value in shown.items() if value is not None}, file)
    counts.update(launch.beside(folder, out, parsed[1], skip={"config.yaml"}))
    return counts
