from accelerate import Accelerator
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

accelerator = Accelerator(log_with="tensorboard", project_dir="logs", gradient_accumulation_steps=2)
model = AutoModelForCausalLM.from_pretrained("bigscience/bloom-560m")
tokenizer = AutoTokenizer.from_pretrained("bigscience/bloom-560m")
rows = tokenizer(texts, truncation=True, max_length=None)
model = get_peft_model(model, LoraConfig(task_type="CAUSAL_LM", r=10, lora_alpha=20))
