accelerate launch --config_file fsdp1.yaml --num_processes 2 train.py --model_name_or_path Qwen/Qwen3-8B
