import torch
from liger_kernel.transformers import AutoLigerKernelForCausalLM
from transformers import AutoTokenizer, Trainer, TrainingArguments

tok = AutoTokenizer.from_pretrained("Qwen/Qwen3-4B")
model = AutoLigerKernelForCausalLM.from_pretrained("Qwen/Qwen3-4B", dtype=torch.bfloat16)


def encode(rows):
    return tok(rows["text"], truncation=True, padding="max_length", max_length=1536)


args = TrainingArguments("out", per_device_train_batch_size=2, bf16=True, gradient_checkpointing=True)
Trainer(model, args, train_dataset=load().map(encode)).train()
