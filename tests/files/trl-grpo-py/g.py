from datasets import load_dataset
from trl import GRPOConfig, GRPOTrainer

dataset = load_dataset("trl-lib/tldr", split="train")

def reward_len(completions, **kwargs):
    return [-abs(20 - len(completion)) for completion in completions]

training_args = GRPOConfig(
    output_dir="Qwen2-0.5B-GRPO",
    logging_steps=10,
    per_device_train_batch_size=8,
    num_generations=8,
    max_prompt_length=256,
    max_completion_length=1024,
    use_vllm=True,
    vllm_mode="colocate",
    vllm_gpu_memory_utilization=0.25,
    beta=0.0,
    bf16=True,
    model_init_kwargs={"torch_dtype": "bfloat16", "attn_implementation": "flash_attention_2"},
)
trainer = GRPOTrainer(
    model="Qwen/Qwen2.5-0.5B-Instruct",
    reward_funcs=reward_len,
    args=training_args,
    train_dataset=dataset,
)
trainer.train()
