"""What has to be answered for a machine without GPUs: the classes are asked what they understand, not to train."""

import transformers.training_args as training_args


def pretend():
    """A GPU that has bf16, and a launcher that has started this process as one of several."""
    import torch

    training_args.is_torch_bf16_gpu_available = lambda: True
    kind = training_args.TrainingArguments
    kind._setup_devices = property(lambda self: torch.device("cpu"))
    kind.parallel_mode = property(lambda self: training_args.ParallelMode.DISTRIBUTED)
    kind.world_size = property(lambda self: 1)
    kind._n_gpu = 1
    kind.distributed_state = None
