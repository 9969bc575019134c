import fire, torch, transformers
from peft import LoraConfig, get_peft_model, prepare_model_for_kbit_training
from transformers import AutoModelForCausalLM, AutoTokenizer

def train(
    base_model: str = "huggyllama/llama-7b",
    data_path: str = "data.json",
    output_dir: str = "./out",
    batch_size: int = 128,
    micro_batch_size: int = 4,
    num_epochs: int = 3,
    learning_rate: float = 3e-4,
    cutoff_len: int = 256,
    lora_r: int = 8,
    lora_alpha: int = 16,
    lora_dropout: float = 0.05,
    lora_target_modules = ["q_proj", "v_proj"],
):
    gradient_accumulation_steps = batch_size // micro_batch_size
    model = AutoModelForCausalLM.from_pretrained(base_model, load_in_8bit=True, torch_dtype=torch.float16, device_map="auto")
    model = prepare_model_for_kbit_training(model)
    config = LoraConfig(r=lora_r, lora_alpha=lora_alpha, target_modules=lora_target_modules, lora_dropout=lora_dropout, bias="none", task_type="CAUSAL_LM")
    model = get_peft_model(model, config)
    trainer = transformers.Trainer(model=model, args=transformers.TrainingArguments(
        per_device_train_batch_size=micro_batch_size, gradient_accumulation_steps=gradient_accumulation_steps,
        warmup_steps=100, num_train_epochs=num_epochs, learning_rate=learning_rate, fp16=True, optim="adamw_torch", output_dir=output_dir))
    trainer.train()

if __name__ == "__main__":
    fire.Fire(train)
