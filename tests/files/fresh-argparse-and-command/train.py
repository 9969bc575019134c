import argparse
from transformers import Trainer, TrainingArguments, AutoModelForCausalLM
from peft import LoraConfig, get_peft_model
parser = argparse.ArgumentParser()
parser.add_argument("--model_name", type=str, default="Qwen/Qwen2.5-1.5B")
parser.add_argument("--batch_size", type=int, default=2, help="per device")
parser.add_argument("--grad_accum", type=int, default=16)
parser.add_argument("--lora_rank", type=int, default=32)
parser.add_argument("--bf16", action="store_true")
parser.add_argument("--gc", action="store_true", default=True)
args = parser.parse_args()
model = AutoModelForCausalLM.from_pretrained(args.model_name)
model = get_peft_model(model, LoraConfig(r=args.lora_rank, lora_alpha=args.lora_rank * 2, target_modules="all-linear"))
targs = TrainingArguments("out", per_device_train_batch_size=args.batch_size, gradient_accumulation_steps=args.grad_accum,
    gradient_checkpointing=args.gc, bf16=args.bf16)
Trainer(model, targs).train()
