"""notebook"""
get_ipython().system('pip install unsloth\\n!pip install transformers==4.57.3\\n!pip install --no-deps trl==0.25.1\\n')
from unsloth import FastLanguageModel
from trl import SFTConfig, SFTTrainer

model, tokenizer = FastLanguageModel.from_pretrained("unsloth/Qwen3-4B", max_seq_length=1100, load_in_4bit=True)
model = FastLanguageModel.get_peft_model(model, r=14, lora_alpha=14)
trainer = SFTTrainer(model=model, args=SFTConfig(per_device_train_batch_size=3), train_dataset=rows)
