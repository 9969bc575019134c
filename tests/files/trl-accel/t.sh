trl sft --accelerate_config zero3 --num_processes 4 --model_name_or_path Qwen/Qwen3-8B --dataset_name d --max_length 4096
