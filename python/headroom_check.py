"""Checks an estimate of Headroom against a real run.

Put this one file beside your training script; it needs torch alone.

With transformers.Trainer and everything built on it (TRL, LLaMA-Factory, ms-swift, axolotl):

    from headroom_check import HeadroomCheck
    trainer = SFTTrainer(..., callbacks=[HeadroomCheck()])
    trainer.train()

In a loop of your own:

    check = HeadroomCheck(plan={"model": "Qwen/Qwen3-4B", "task": "sft", "method": "lora", ...})
    for batch in batches:
        with check.step():
            ...forward, backward, optimizer step...

After `steps` optimizer steps it prints one line of JSON: the plan as far as the run shows it, and what PyTorch's caching
allocator counted, with what NVML says of the process where `pynvml` is installed. `headroom validate` reads such lines; a
line whose estimate is off is a report we want. Nothing is sent anywhere. The line holds no data, no paths and no names but
those of the model, the GPU and the libraries.
"""

import contextlib
import json
import math
import os
import sys
from importlib import metadata

import torch

try:
    from transformers import TrainerCallback
except ImportError:
    TrainerCallback = object

# Keys of a plan that are read off a run, by Headroom's names.
PLAN_KEYS = (
    "model.name", "model.config", "gpu.name", "gpu.memory_gib", "gpu.compute_capability", "num_gpus",
    "trainer.name", "trainer.version", "task", "method",
    "lora.r", "lora.target_modules", "lora.target_parameters", "lora.lora_dropout", "lora.modules_to_save", "lora.adapter_dtype",
    "quantization.bits", "quantization.quant_type", "quantization.double_quant",
    "quantization.bnb_4bit_quant_storage",
    "torch_dtype", "mixed_precision", "optim", "per_device_train_batch_size", "gradient_accumulation_steps", "max_length",
    "label_tokens", "padded_batch", "freeze", "images.per_sample", "images.height", "images.width",
    "gradient_checkpointing", "attn_implementation", "use_liger_kernel", "max_grad_norm", "expandable_segments",
    "packing", "padding_free", "activation_offloading", "torch_compile", "beta", "loss_type", "num_iterations",
    "steps_per_generation", "cpo_alpha", "reference.kind",
    "rollout.engine", "rollout.num_generations", "rollout.max_prompt_length", "rollout.max_completion_length",
    "rollout.vllm_mode", "rollout.vllm_gpu_memory_utilization", "rollout.vllm_tensor_parallel_size",
    "rollout.vllm_enable_sleep_mode",
    "zero_stage", "offload_optimizer", "offload_param", "distributed.framework", "distributed.overlap_comm",
    "distributed.contiguous_gradients", "distributed.round_robin_gradients", "distributed.reduce_bucket_size",
    "distributed.allgather_bucket_size", "distributed.stage3_prefetch_bucket_size",
    "distributed.stage3_param_persistence_threshold", "distributed.stage3_max_live_parameters",
    "distributed.stage3_max_reuse_distance", "distributed.sub_group_size", "distributed.reshard_after_forward",
    "distributed.sharding_strategy", "distributed.cpu_offload", "distributed.dp_replicate_size",
    "software.torch", "software.transformers", "software.peft", "software.bitsandbytes",
    "software.flash_linear_attention", "software.causal_conv1d", "software.mamba_ssm",
)

# Which class of arguments belongs to which trainer and task; the first that matches a class or one of its bases.
TASKS = {
    "SFTConfig": ("trl", "sft"), "DPOConfig": ("trl", "dpo"), "GRPOConfig": ("trl", "grpo"),
    "RewardConfig": ("trl", "reward"), "KTOConfig": ("trl", "kto"), "ORPOConfig": ("trl", "orpo"),
    "CPOConfig": ("trl", "cpo"), "RLOOConfig": ("trl", "rloo"), "TrainingArguments": ("transformers", "sft"),
}
# Trainers that bring classes of arguments of their own, by the package that defines them.
PACKAGES = {"llamafactory": "llamafactory", "swift": "ms-swift", "axolotl": "axolotl"}
# Arguments that are keys of a plan by the same name.
SETTINGS = ("packing", "padding_free", "activation_offloading", "torch_compile", "num_iterations", "steps_per_generation",
            "cpo_alpha")
# The same of generation; those of vLLM where it generates.
GENERATION = ("num_generations", "max_completion_length")
VLLM = ("vllm_mode", "vllm_gpu_memory_utilization", "vllm_tensor_parallel_size", "vllm_enable_sleep_mode")
# Settings of DeepSpeed's `zero_optimization` that are keys of `distributed` by the same name.
ZERO = ("overlap_comm", "contiguous_gradients", "round_robin_gradients", "reduce_bucket_size", "allgather_bucket_size",
        "stage3_prefetch_bucket_size", "stage3_param_persistence_threshold", "stage3_max_live_parameters",
        "stage3_max_reuse_distance", "sub_group_size")
# Parts of models that see, by names of their modules.
PARTS = {
    "vision_tower": {"visual", "vision_tower", "vision_model"},
    "multi_modal_projector": {"multi_modal_projector"},
    "language_model": {"language_model"},
}
DTYPES = {torch.bfloat16: "bfloat16", torch.float16: "float16", torch.float32: "float32"}
GIB = 2**30


def version_of(package):
    """Version of an installed package without what a build adds, or None."""
    try:
        return metadata.version(package).split("+")[0]
    except metadata.PackageNotFoundError:
        return None


def put(plan, key, value):
    """Sets the dotted key of a plan unless there is nothing to say."""
    if key not in PLAN_KEYS:
        raise KeyError(key)
    if value is None or value == [] or value == {}:
        return
    *sections, last = key.split(".")
    for section in sections:
        plan = plan.setdefault(section, {})
    plan[last] = value


def merged(read, given):
    """The plan that was read off the run under the one that was given, which wins."""
    out = dict(read)
    for key, value in given.items():
        both = isinstance(value, dict) and isinstance(out.get(key), dict)
        out[key] = merged(out[key], value) if both else value
    return out


def world_size():
    return int(os.environ.get("WORLD_SIZE", "1"))


def read_gpu(plan):
    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    put(plan, "gpu.name", properties.name)
    put(plan, "gpu.memory_gib", properties.total_memory / GIB)
    put(plan, "gpu.compute_capability", f"{properties.major}.{properties.minor}")
    put(plan, "num_gpus", world_size())
    put(plan, "expandable_segments", "expandable_segments:true" in allocator_settings())


def allocator_settings():
    names = ("PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_HIP_ALLOC_CONF")
    return ",".join(os.environ.get(name, "") for name in names).lower()


def read_software(plan):
    for package in ("torch", "transformers", "peft", "bitsandbytes", "flash-linear-attention", "causal-conv1d", "mamba-ssm"):
        put(plan, f"software.{package.replace('-', '_')}", version_of(package))


def plain(value):
    """`value` as JSON can hold it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        # Mamba's `time_step_limit`: JSON has no infinity, and no shape depends on it.
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value).replace("torch.", "")


def read_model(plan, model):
    """Model, quantisation and adapters."""
    config = getattr(model, "config", None)
    if hasattr(config, "to_diff_dict"):
        shown = plain(config.to_diff_dict())
        quantization = shown.pop("quantization_config", None) or {}
        # Paths of a machine say nothing about shapes.
        for key in ("_name_or_path", "name_or_path", "auto_map"):
            shown.pop(key, None)
        shown.setdefault("model_type", config.model_type)
        shown["vocab_size"] = config.get_text_config().vocab_size if hasattr(config, "get_text_config") else config.vocab_size
        put(plan, "model.config", shown)
        put(plan, "model.name", os.path.basename(str(getattr(config, "_name_or_path", "")).rstrip("/")) or config.model_type)
        put(plan, "attn_implementation", getattr(config, "_attn_implementation", None))
        read_quantization(plan, quantization)
    read_adapters(plan, model)
    if getattr(config, "vision_config", None) is not None:
        put(plan, "freeze", [part for part, names in PARTS.items() if is_frozen(model, names)])
    bases = [p.dtype for name, p in model.named_parameters() if "lora_" not in name and p.dtype in DTYPES]
    linear = [p.dtype for name, p in model.named_parameters()
              if "lora_" not in name and p.dim() == 2 and p.dtype in DTYPES and "embed" not in name]
    # What k-bit preparation raises to fp32 says nothing of the dtype that the rest was loaded in.
    put(plan, "torch_dtype", DTYPES.get((linear or bases or [None])[0]))


def is_frozen(model, names):
    """Whether modules of one of these names are there and nothing in them trains."""
    trains = [p.requires_grad for name, p in model.named_parameters() if names & set(name.split("."))]
    return bool(trains) and not any(trains)


def read_quantization(plan, quantization):
    bits = 4 if quantization.get("load_in_4bit") else 8 if quantization.get("load_in_8bit") else None
    put(plan, "quantization.bits", bits)
    if bits == 4:
        put(plan, "quantization.quant_type", quantization.get("bnb_4bit_quant_type"))
        put(plan, "quantization.double_quant", bool(quantization.get("bnb_4bit_use_double_quant")))
        # FSDP and ZeRO-3 shard 4-bit weights in the group's own dtype only.
        storage = str(quantization.get("bnb_4bit_quant_storage") or "").removeprefix("torch.")
        put(plan, "quantization.bnb_4bit_quant_storage", storage or None)


def read_adapters(plan, model):
    adapters = getattr(model, "peft_config", None)
    if not adapters:
        put(plan, "method", "full")
        return
    lora = next(iter(adapters.values()))
    put(plan, "method", "qlora" if "quantization" in plan else "lora")
    put(plan, "lora.r", getattr(lora, "r", None))
    put(plan, "lora.lora_dropout", float(getattr(lora, "lora_dropout", 0.0)))
    targets = getattr(lora, "target_modules", None)
    if isinstance(targets, str) and targets != "all-linear":
        # A regular expression: what it has matched.
        targets = {name.rsplit(".", 1)[-1] for name, module in model.named_modules() if getattr(module, "lora_A", None)}
    put(plan, "lora.target_modules", targets if isinstance(targets, str) else sorted(targets or []))
    put(plan, "lora.target_parameters", sorted(getattr(lora, "target_parameters", None) or []))
    put(plan, "lora.modules_to_save", sorted(getattr(lora, "modules_to_save", None) or []))
    held = [p.dtype for name, p in model.named_parameters() if "lora_" in name]
    put(plan, "lora.adapter_dtype", DTYPES.get(held[0]) if held else None)


class Batches:
    """The largest of what the batches hold: rows, positions of a row, tokens that count in the loss, images."""

    def __init__(self):
        self.longest = self.rows = self.labels = 0
        self.padded, self.images = False, {}

    def watch(self, loader):
        """Looks at what `loader` puts together, on the host. Worker processes would not tell."""
        # accelerate's loaders hold the one that iterates.
        loader = getattr(loader, "base_dataloader", loader)
        collate = getattr(loader, "collate_fn", None)
        if collate is None or getattr(loader, "num_workers", 0):
            return

        def seen(examples):
            batch = collate(examples)
            if hasattr(batch, "get"):
                self.look(batch)
            return batch

        loader.collate_fn = seen

    def look(self, batch):
        """At a batch on the host."""
        ids, mask = batch.get("input_ids"), batch.get("attention_mask")
        if not (torch.is_tensor(ids) and ids.dim() == 2):
            return
        self.size(ids)
        if torch.is_tensor(mask) and mask.dim() == 2:
            self.padded |= not bool(mask.all())
        labels, answer = batch.get("labels"), batch.get("completion_mask")
        # Nothing predicts the first token of a row.
        if torch.is_tensor(labels) and labels.shape == ids.shape:
            self.labels = max(self.labels, int((labels[:, 1:] != -100).sum()))
        elif torch.is_tensor(answer) and answer.shape == ids.shape:
            self.labels = max(self.labels, int(answer[:, 1:].sum()))
        grid, pixels = batch.get("image_grid_thw"), batch.get("pixel_values")
        if torch.is_tensor(grid) and grid.dim() == 2 and len(grid):
            largest = max(grid.tolist(), key=math.prod)
            self.images = {"count": len(grid), "patches_high": largest[1], "patches_wide": largest[2]}
        elif torch.is_tensor(pixels) and pixels.dim() == 4:
            self.images = {"count": len(pixels), "height": pixels.shape[2], "width": pixels.shape[3]}

    def size(self, ids):
        self.longest, self.rows = max(self.longest, ids.shape[1]), max(self.rows, ids.shape[0])

    def read(self, plan, config):
        """Keys of the plan that follow from them."""
        batch = plan.get("per_device_train_batch_size", 1)
        # Rows that hold several sequences: packed ones, and a batch laid out without padding.
        flat = self.rows == 1 < batch and bool(plan.get("packing") or plan.get("padding_free"))
        length = -(-self.longest // batch) if flat else self.longest
        answer = plan.get("rollout", {}).get("max_completion_length")
        if answer:
            # Prompt and answer are one sequence.
            put(plan, "rollout.max_prompt_length", max(length - answer, 0) or None)
            return
        put(plan, "max_length", length or None)
        sequences = batch if flat else max(self.rows, 1)
        if not flat and self.labels < sequences * (self.longest - 1):
            put(plan, "label_tokens", -(-self.labels // sequences) or None)
        put(plan, "padded_batch", self.padded or None)
        if self.images:
            patch = getattr(getattr(config, "vision_config", None), "patch_size", None) or 0
            side = lambda pixels, patches: self.images.get(pixels) or self.images.get(patches, 0) * patch or None
            put(plan, "images.per_sample", max(1, self.images["count"] // sequences))
            put(plan, "images.height", side("height", "patches_high"))
            put(plan, "images.width", side("width", "patches_wide"))


def read_arguments(plan, args):
    """What the trainer's own arguments say."""
    trainer, task = next((TASKS[base.__name__] for base in type(args).__mro__ if base.__name__ in TASKS), ("custom", "sft"))
    package = type(args).__module__.split(".")[0]
    trainer = PACKAGES.get(package, trainer)
    put(plan, "trainer.name", trainer)
    if trainer != "custom":
        put(plan, "trainer.version", version_of({"llamafactory": "llamafactory"}.get(trainer, trainer)))
    put(plan, "task", task)
    for key in ("per_device_train_batch_size", "gradient_accumulation_steps", "gradient_checkpointing", "max_grad_norm",
                "use_liger_kernel", *SETTINGS):
        put(plan, key, getattr(args, key, None))
    read_task(plan, args)
    optim = getattr(args, "optim", None)
    put(plan, "optim", getattr(optim, "value", optim))
    put(plan, "mixed_precision", "bf16" if getattr(args, "bf16", False) else "fp16" if getattr(args, "fp16", False) else "no")
    read_sharding(plan, args)


def read_task(plan, args):
    """What preference and reinforcement tasks are set to."""
    if plan["task"] == "sft":
        return
    put(plan, "beta", getattr(args, "beta", None))
    loss = getattr(args, "loss_type", None)
    put(plan, "loss_type", ",".join(loss) if isinstance(loss, (list, tuple)) else loss)
    if getattr(args, "precompute_ref_log_probs", False):
        put(plan, "reference.kind", "precomputed")
    for key in GENERATION:
        put(plan, f"rollout.{key}", getattr(args, key, None))
    if getattr(args, "use_vllm", False):
        put(plan, "rollout.engine", "vllm")
        for key in VLLM:
            put(plan, f"rollout.{key}", getattr(args, key, None))


def read_zero(plan, zero):
    """DeepSpeed's settings; `auto` is said as such."""
    put(plan, "zero_stage", int(zero.get("stage", 0)))
    for key in ZERO:
        value = zero.get(key)
        put(plan, f"distributed.{key}", int(value) if isinstance(value, float) else value)
    for key in ("offload_optimizer", "offload_param"):
        device = (zero.get(key) or {}).get("device")
        put(plan, key, "cpu" if device in ("cpu", "nvme") else device)


def read_fsdp(plan, args):
    """FSDP's version, strategy and copies. Since transformers 5 the second version is what `fsdp_config` means."""
    config = getattr(args, "fsdp_config", None) or {}
    newer = int((version_of("transformers") or "0").split(".")[0]) >= 5
    flat = not str(config.get("version", 2 if newer else 1)).startswith("2")
    put(plan, "distributed.framework", "fsdp1" if flat else "fsdp2")
    put(plan, "distributed.cpu_offload", bool(config.get("cpu_offload")) or None)
    mesh = getattr(args, "parallelism_config", None)
    copies = int(getattr(mesh, "dp_replicate_size", None) or 1)
    if flat:
        # The environment alone: what `fsdp_config` says of it reaches FSDP1 as `reshard_after_forward`, before which accelerate
        # 1.15 takes its own default of `sharding_strategy`.
        strategy = os.environ.get("FSDP_SHARDING_STRATEGY", "").lower()
        put(plan, "distributed.sharding_strategy", strategy if strategy.replace("_", "").isalpha() else None)
        if strategy.startswith("hybrid"):
            copies = max(1, world_size() // int(os.environ.get("LOCAL_WORLD_SIZE", world_size())))
    else:
        put(plan, "distributed.reshard_after_forward", bool(config.get("reshard_after_forward", True)))
    put(plan, "distributed.dp_replicate_size", copies if copies > 1 else None)


def read_sharding(plan, args):
    if getattr(args, "deepspeed", None):
        config = getattr(getattr(args, "hf_deepspeed_config", None), "config", None) or {}
        put(plan, "distributed.framework", "deepspeed")
        read_zero(plan, config.get("zero_optimization") or {})
    elif getattr(args, "fsdp", None):
        read_fsdp(plan, args)
    elif world_size() > 1:
        put(plan, "distributed.framework", "ddp")


def besides_pytorch():
    """What the driver counts of this process besides PyTorch's memory (context, kernels, handles), bytes; None where NVML or the
    process is not to be seen (another namespace of process ids, another vendor)."""
    try:
        import pynvml

        pynvml.nvmlInit()
        gpu = pynvml.nvmlDeviceGetHandleByPciBusId(pci_address().encode())
        used = {process.pid: process.usedGpuMemory for process in pynvml.nvmlDeviceGetComputeRunningProcesses(gpu)}[os.getpid()]
        return max(0, used - torch.cuda.memory_reserved())
    except Exception:  # Whatever is missing, the line goes without it.
        return None


def pci_address():
    """Of the current device, by which NVML knows it whatever CUDA_VISIBLE_DEVICES says."""
    gpu = torch.cuda.get_device_properties(torch.cuda.current_device())
    return f"{gpu.pci_domain_id:08x}:{gpu.pci_bus_id:02x}:{gpu.pci_device_id:02x}.0"


class HeadroomCheck(TrainerCallback):
    """Counts the allocator's peaks of the first `steps` optimizer steps and prints one line.

    steps: how many; the last one is what the estimate is compared with, so at least 3, since optimizer states appear in the
    first. plan: keys that win over what is read off the run. out: where the line goes.
    """

    def __init__(self, steps=4, plan=None, out=None):
        self.wanted, self.given, self.out = max(3, int(steps)), dict(plan or {}), out or sys.stdout
        self.read, self.counted, self.batches, self.hook, self.config = {}, [], Batches(), None, None
        self.done = not torch.cuda.is_available()
        if self.done:
            print("headroom_check: no CUDA device, nothing to count", file=sys.stderr)

    # The run of a loop of one's own.

    @contextlib.contextmanager
    def step(self):
        """Around everything that one optimizer step does."""
        self.begin()
        yield
        self.end()

    def begin(self):
        if not self.done:
            torch.cuda.synchronize()
            torch.cuda.reset_peak_memory_stats()

    def end(self):
        if self.done:
            return
        torch.cuda.synchronize()
        self.counted.append((torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()))
        if len(self.counted) >= self.wanted:
            self.report()

    # The Trainer's events.

    def on_train_begin(self, args, state, control, model=None, train_dataloader=None, **_):
        if self.done:
            return
        read_arguments(self.read, args)
        if model is not None:
            inner = getattr(model, "module", model)
            read_model(self.read, inner)
            self.config = getattr(inner, "config", None)
            self.hook = inner.register_forward_pre_hook(self.see, with_kwargs=True)
        self.batches.watch(train_dataloader)

    def see(self, module, args, kwargs):
        """The longest sequence that reached the model in training: what generates makes it longer than the batches are."""
        ids = kwargs.get("input_ids", args[0] if args else None)
        if module.training and torch.is_tensor(ids) and ids.dim() == 2:
            self.batches.size(ids)

    def on_step_begin(self, args, state, control, **_):
        self.begin()

    def on_step_end(self, args, state, control, **_):
        self.end()

    def report(self):
        """Prints the line."""
        self.done = True
        if self.hook is not None:
            self.hook.remove()
        read_gpu(self.read)
        read_software(self.read)
        self.batches.read(self.read, self.config)
        plan = merged(self.read, self.given)
        if int(os.environ.get("RANK", "0")) != 0:
            return
        name = plan.get("model")
        name = name.get("name", "model") if isinstance(name, dict) else name or "model"
        trainer = plan.get("trainer", {}).get("name", "custom")
        measured = {
            "allocated_bytes": self.counted[-1][0],
            "reserved_bytes": max(reserved for _, reserved in self.counted),
        }
        besides = besides_pytorch()
        if besides is not None:
            measured["device_bytes"] = measured["reserved_bytes"] + besides
        line = {
            "id": f"reported-{trainer}-{plan.get('task', 'sft')}-{name}".lower().replace("/", "-").replace(" ", "-"),
            "group": "reported",
            "source": "headroom_check.py on a real GPU",
            "plan": plan,
            "measured": measured,
        }
        print(json.dumps(line), file=self.out, flush=True)
