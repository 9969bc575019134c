from datasets import load_dataset
from peft import LoraConfig
from transformers import AutoModelForCausalLM
from trl import SFTConfig, SFTTrainer

model = AutoModelForCausalLM.from_pretrained("unsloth/Qwen3-4B-bnb-4bit", device_map={"": 0})
trainer = SFTTrainer(
    model=model,
    args=SFTConfig(output_dir="out", max_length=1024, per_device_train_batch_size=2),
    peft_config=LoraConfig(r=32, lora_alpha=32, target_modules="all-linear"),
    train_dataset=load_dataset("json", data_files="chats.jsonl")["train"],
)
trainer.train()
