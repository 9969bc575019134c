swift rlhf --rlhf_type dpo --model Qwen/Qwen3-4B --beta 0.1 --tuner_type lora --dataset d --max_length 1024 --torch_dtype float16
