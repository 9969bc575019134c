import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, BitsAndBytesConfig
from peft import LoraConfig, prepare_model_for_kbit_training
from trl import SFTConfig, SFTTrainer

model_id = "Qwen/Qwen2.5-7B-Instruct"
max_seq_len = 2 * 1024

bnb_config = BitsAndBytesConfig(
    load_in_4bit=True,
    bnb_4bit_use_double_quant=True,
    bnb_4bit_quant_type="nf4",
    bnb_4bit_compute_dtype=torch.bfloat16,
)
model = AutoModelForCausalLM.from_pretrained(
    model_id, quantization_config=bnb_config, device_map={"": 0}, torch_dtype=torch.bfloat16,
    attn_implementation="flash_attention_2",
)
tokenizer = AutoTokenizer.from_pretrained(model_id)
model.config.use_cache = False

peft_config = LoraConfig(r=16, lora_alpha=32, lora_dropout=0.1, bias="none", task_type="CAUSAL_LM",
    target_modules=["q_proj", "k_proj", "v_proj", "o_proj"])

args = SFTConfig(
    output_dir="out", per_device_train_batch_size=4, gradient_accumulation_steps=2,
    optim="paged_adamw_32bit", max_length=max_seq_len, bf16=True, max_grad_norm=0.3,
    gradient_checkpointing=True, gradient_checkpointing_kwargs={"use_reentrant": False},
    learning_rate=2e-4, warmup_ratio=0.03, packing=False, dataset_text_field="text",
)
trainer = SFTTrainer(model=model, args=args, train_dataset=None, peft_config=peft_config)
