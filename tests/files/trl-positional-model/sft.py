from datasets import load_dataset
from trl import SFTConfig, SFTTrainer

trainer = SFTTrainer(
    "Qwen/Qwen3-1.7B",
    SFTConfig(output_dir="out", max_length=2048, packing=True, per_device_train_batch_size=4),
    train_dataset=load_dataset("trl-lib/Capybara", split="train"),
)
trainer.train()
