from accelerate import ParallelismConfig
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-8B")
args = TrainingArguments(
    "out",
    bf16=True,
    per_device_train_batch_size=2,
    fsdp=True,
    fsdp_config={"version": 2, "transformer_layer_cls_to_wrap": "Qwen3DecoderLayer"},
    parallelism_config=ParallelismConfig(dp_replicate_size=2, dp_shard_size=4),
)
Trainer(model=model, args=args, train_dataset=data).train()
