"""What has to be answered for a machine without GPUs: the classes are asked what they understand, not to train."""

import os
import re

import transformers.training_args as training_args
import yaml


def processes(folder):
    """How many processes the launcher would start."""
    path = os.path.join(folder, "accelerate.yaml")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return yaml.safe_load(file)["num_processes"]
    with open(os.path.join(folder, "launch.sh"), encoding="utf-8") as file:
        script = file.read()
    each = re.search(r"NPROC_PER_NODE=(\d+)", script)
    machines = re.search(r"NNODES=(\d+)", script)
    return int(each[1] if each else 1) * int(machines[1] if machines else 1)


def pretend(folder):
    """A GPU that has bf16, and a launcher that has started this process as one of those of `folder`."""
    import torch

    training_args.is_torch_bf16_gpu_available = lambda: True
    world = processes(folder)
    kind = training_args.TrainingArguments
    kind._setup_devices = property(lambda self: torch.device("cpu"))
    kind.parallel_mode = property(lambda self: training_args.ParallelMode.DISTRIBUTED)
    kind.world_size = property(lambda self: world)
    kind._n_gpu = 1
    kind.distributed_state = None
