import argparse
from dataclasses import dataclass, field
from typing import Optional

from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, Trainer, TrainingArguments


@dataclass
class ScriptArguments:
    checkpoint: str = field(default="Qwen/Qwen2.5-0.5B", metadata={"help": "What to start from"})
    rank: Optional[int] = field(default=18)
    alpha: int = 36


parser = argparse.ArgumentParser()
parser.add_argument("--batch-size", type=int, default=7)
parser.add_argument("--steps", type=int, default=3)
args = parser.parse_args()
script_args = ScriptArguments()

model = AutoModelForCausalLM.from_pretrained(script_args.checkpoint, dtype="bfloat16")
model = get_peft_model(model, LoraConfig(r=script_args.rank, lora_alpha=script_args.alpha, target_modules=["q_proj"]))
training_args = TrainingArguments(
    output_dir="out",
    per_device_train_batch_size=args.batch_size,
    gradient_accumulation_steps=args.steps,
)
Trainer(model=model, args=training_args, train_dataset=rows).train()
