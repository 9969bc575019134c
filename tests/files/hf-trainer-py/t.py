import os
os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
from transformers import (AutoModelForCausalLM, Trainer, TrainingArguments)
BATCH = 4
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-0.6B")
args = TrainingArguments("out", per_device_train_batch_size=BATCH, gradient_accumulation_steps=64 // BATCH,
    optim="adafactor", fp16=not torch.cuda.is_bf16_supported(), bf16=torch.cuda.is_bf16_supported(),
    torch_compile=False, learning_rate=2e-5, per_device_eval_batch_size=16)
trainer = Trainer(model=model, args=args)
