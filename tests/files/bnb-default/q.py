from transformers import AutoModelForCausalLM, BitsAndBytesConfig, TrainingArguments, Trainer
from peft import LoraConfig, get_peft_model
m = AutoModelForCausalLM.from_pretrained('Qwen/Qwen3-4B', quantization_config=BitsAndBytesConfig(load_in_4bit=True))
m = get_peft_model(m, LoraConfig())
Trainer(model=m, args=TrainingArguments('o'))
