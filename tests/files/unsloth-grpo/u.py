from unsloth import FastLanguageModel
from trl import GRPOConfig, GRPOTrainer
model, tok = FastLanguageModel.from_pretrained(model_name='Qwen/Qwen3-4B', max_seq_length=1024, load_in_4bit=True, fast_inference=True, max_lora_rank=32, gpu_memory_utilization=0.6)
model = FastLanguageModel.get_peft_model(model, r=32, target_modules=['q_proj','v_proj'], lora_alpha=32, use_gradient_checkpointing=True)
args = GRPOConfig(per_device_train_batch_size=1, gradient_accumulation_steps=1, num_generations=6, max_prompt_length=256, max_completion_length=200, optim='paged_adamw_8bit')
GRPOTrainer(model=model, args=args)
