from unsloth import FastModel
from trl import SFTConfig, SFTTrainer
model, tok = FastModel.from_pretrained('unsloth/Qwen3-8B', max_seq_length=4096, load_in_4bit=False, load_in_8bit=False)
model = FastModel.get_peft_model(model, r=32, lora_alpha=64)
SFTTrainer(model=model, args=SFTConfig(per_device_train_batch_size=1, max_length=4096))
