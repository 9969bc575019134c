"""The plans that are exported: every scenario of the gallery, and as many generated ones as asked for, always the same."""

import random
import re

TRAINERS = {
    "trl": "trl", "trl-yaml": "trl", "transformers": "transformers",
    "llamafactory": "llamafactory", "axolotl": "axolotl", "ms-swift": "ms-swift",
}
# Tasks that each trainer has, as far as plans say them.
TASKS = {
    "trl": ["sft", "sft", "sft", "dpo", "grpo", "reward", "kto", "orpo", "cpo", "rloo"],
    "transformers": ["sft", "sft", "sequence_classification"],
    "llamafactory": ["sft", "sft", "dpo", "kto", "orpo", "reward"],
    "axolotl": ["sft", "sft", "dpo", "kto", "orpo", "grpo"],
    "ms-swift": ["sft", "sft", "dpo", "orpo", "kto", "reward", "sequence_classification", "grpo"],
}
MODELS = ["Qwen/Qwen3-4B", "Qwen/Qwen2.5-0.5B-Instruct", "meta-llama/Llama-3.1-8B", "mistralai/Mistral-7B-v0.1", "google/gemma-2-2b"]
OPTIMIZERS = [
    "adamw_torch", "adamw_torch_fused", "adamw_bnb_8bit", "paged_adamw_8bit", "paged_adamw_32bit", "adafactor", "sgd",
    "lion_32bit", "lion_8bit", "paged_lion_8bit", "rmsprop", "adagrad",
]
MODULES = [["q_proj", "v_proj"], ["q_proj", "k_proj", "v_proj", "o_proj"], ["gate_proj", "up_proj", "down_proj"]]


def scenarios(gallery):
    """(name, link) of every plan in the gallery's source."""
    with open(gallery, encoding="utf-8") as file:
        text = file.read()
    names = re.findall(r'\b(id|key|link): "([^"]*)"', text)
    scenario = key = ""
    for kind, value in names:
        if kind == "id":
            scenario = value
        elif kind == "key":
            key = value
        else:
            yield f"scenario-{scenario}-{key}", value


def some(draw, chance):
    return draw.random() < chance


def sharding(draw, plan):
    """GPUs, and who shards over them."""
    plan["num_gpus"] = draw.choice([1, 1, 2, 4, 8, 16])
    kind = draw.choice(["ddp", "deepspeed", "fsdp1", "fsdp2"])
    if plan["num_gpus"] == 1 and kind != "deepspeed":
        return
    of = plan["distributed"] = {"framework": kind}
    if kind == "deepspeed":
        stage = plan["zero_stage"] = draw.choice([1, 2, 2, 3, 3])
        if some(draw, 0.4):
            plan["offload_optimizer"] = "cpu"
        if stage == 3 and some(draw, 0.3):
            plan["offload_param"] = "cpu"
        if some(draw, 0.3):
            of["reduce_bucket_size"] = draw.choice(["auto", 50_000_000, 200_000_000])
        if some(draw, 0.3):
            of["overlap_comm"] = draw.choice([True, False])
        if stage == 3 and some(draw, 0.4):
            of["stage3_prefetch_bucket_size"] = draw.choice(["auto", 10_000_000])
            of["stage3_param_persistence_threshold"] = draw.choice(["auto", 100_000])
            of["stage3_max_live_parameters"] = 1_000_000_000
        if some(draw, 0.2):
            of["grad_accum_dtype"] = draw.choice(["float32", "bfloat16"])
    elif kind == "fsdp1":
        of["sharding_strategy"] = draw.choice(["full_shard", "shard_grad_op"])
        of["backward_prefetch"] = draw.choice(["backward_pre", "backward_post", "no_prefetch"])
        of["cpu_offload"] = some(draw, 0.2)
    elif kind == "fsdp2":
        of["reshard_after_forward"] = some(draw, 0.7)
        of["cpu_offload"] = some(draw, 0.2)
    elif some(draw, 0.3):
        of["bucket_cap_mb"] = draw.choice([50, 100])
        of["find_unused_parameters"] = some(draw, 0.5)


def method(draw, plan):
    """What trains."""
    plan["method"] = draw.choice(["full", "lora", "lora", "qlora"])
    if plan["method"] == "full":
        return
    plan["lora"] = {
        "r": draw.choice([4, 8, 16, 64]),
        "lora_alpha": draw.choice([8, 16, 32, 12.5]),
        "lora_dropout": draw.choice([0.0, 0.05, 0.1]),
        "target_modules": draw.choice(["all-linear", "all-linear", *MODULES]),
    }
    if some(draw, 0.15):
        plan["lora"]["modules_to_save"] = ["lm_head"]
    if plan["method"] == "qlora":
        of = plan["quantization"] = {"bits": draw.choice([4, 4, 8])}
        if of["bits"] == 4:
            of["quant_type"] = draw.choice(["nf4", "nf4", "fp4"])
            of["double_quant"] = some(draw, 0.5)


def reinforcement(draw, plan):
    """Generation of one step."""
    plan["rollout"] = {
        "num_generations": draw.choice([4, 8]),
        "max_completion_length": draw.choice([256, 1024]),
        "engine": draw.choice(["generate", "vllm"]),
    }
    if plan["rollout"]["engine"] == "vllm":
        plan["rollout"]["vllm_mode"] = "colocate"
        plan["rollout"]["vllm_gpu_memory_utilization"] = draw.choice([0.3, 0.5])
    if some(draw, 0.5):
        plan["beta"] = draw.choice([0.0, 0.04])


def generated(count):
    """(name, plan) of `count` plans; what a plan does not say is its trainer's own."""
    draw = random.Random(14)
    trainers = sorted(TASKS)
    for place in range(count):
        trainer = trainers[place % len(trainers)]
        task = draw.choice(TASKS[trainer])
        plan = {
            "model": draw.choice(MODELS), "gpu": draw.choice(["a100-80gb", "h100-80gb", "rtx-4090"]), "trainer": {"name": trainer}, "task": task,
            "per_device_train_batch_size": draw.choice([1, 2, 4, 8, 16]),
            "gradient_accumulation_steps": draw.choice([1, 2, 8]),
        }
        method(draw, plan)
        sharding(draw, plan)
        if task in ("grpo", "rloo"):
            reinforcement(draw, plan)
            gpus = plan["num_gpus"]
            each = plan["rollout"]["num_generations"]
            # Completions of a step are whole groups.
            if plan["per_device_train_batch_size"] * gpus * plan["gradient_accumulation_steps"] % each:
                plan["per_device_train_batch_size"] = each
        else:
            plan["max_length"] = draw.choice([256, 512, 1024, 2048, 4096])
        if task in ("dpo", "kto", "orpo", "cpo") and some(draw, 0.5):
            plan["beta"] = draw.choice([0.1, 0.25])
        if some(draw, 0.6):
            plan["optim"] = draw.choice(OPTIMIZERS)
        for key, chance in (("gradient_checkpointing", 0.6), ("use_liger_kernel", 0.15), ("expandable_segments", 0.3)):
            if some(draw, chance):
                plan[key] = some(draw, 0.6)
        if task == "sft" and some(draw, 0.2):
            plan["packing"] = True
        if some(draw, 0.4):
            plan["mixed_precision"] = draw.choice(["bf16", "bf16", "fp16", "no"])
        if some(draw, 0.3):
            plan["torch_dtype"] = draw.choice(["bfloat16", "float32"])
        if some(draw, 0.4):
            plan["attn_implementation"] = draw.choice(["sdpa", "eager", "flash_attention_2"])
        if some(draw, 0.2):
            plan["max_grad_norm"] = draw.choice([0.0, 0.3])
        yield f"generated-{place:03}", plan
