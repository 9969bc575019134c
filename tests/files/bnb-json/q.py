from transformers import AutoModelForCausalLM, BitsAndBytesConfig, TrainingArguments, Trainer
from peft import LoraConfig, get_peft_model
q = BitsAndBytesConfig(load_in_8bit=True)
m = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B', quantization_config=q)
m = get_peft_model(m, LoraConfig(r=4, target_modules='all-linear'))
Trainer(model=m, args=TrainingArguments(output_dir='o', per_device_train_batch_size=1))
