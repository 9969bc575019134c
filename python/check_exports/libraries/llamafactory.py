"""LLaMA-Factory's YAML, through its own parser of hparams."""

import os

import yaml

from . import launch, machine
from .notation import plain
from .scripts import held


def understood(folder, out):
    """Counts of what was loaded, by class."""
    machine.pretend(folder)
    import torch
    from llamafactory.hparams import parser

    # A GPU that this machine has not.
    torch.cuda.is_available = lambda: True
    parser.is_torch_bf16_gpu_available = lambda: True
    parser.check_version = lambda *_, **__: None
    with open(os.path.join(folder, "train.yaml"), encoding="utf-8") as file:
        stated = yaml.safe_load(file)
    at = os.getcwd()
    os.chdir(folder)
    try:
        parsed = parser.get_train_args(dict(stated))
    finally:
        os.chdir(at)
    if parsed[1].packing:
        # hparams/data_args.py takes one token off; data/processor/supervised.py pads rows with one more.
        parsed[1].cutoff_len += 1
    shown, counts = {}, {}
    for instance in parsed:
        counts[type(instance).__name__] = 1
        shown.update(held(instance))
    with open(os.path.join(out, "train.yaml"), "w", encoding="utf-8") as file:
        yaml.safe_dump({key: plain(value) for key, value in shown.items() if value is not None}, file)
    counts.update(launch.beside(folder, out, parsed[2], skip={"train.yaml"}))
    return counts
