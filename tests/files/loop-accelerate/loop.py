import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM
from torch.utils.data import DataLoader
accelerator = Accelerator(mixed_precision="bf16", gradient_accumulation_steps=4)
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen3-0.6B", dtype=torch.float32)
model.gradient_checkpointing_enable()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)
loader = DataLoader(ds, batch_size=6)
for step, batch in enumerate(loader):
    with accelerator.accumulate(model):
        loss = model(**batch).loss
