swift sft --model Qwen/Qwen3-8B --dataset d
