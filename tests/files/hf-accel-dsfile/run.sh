accelerate launch --config_file a.yaml train.py --model_name_or_path Qwen/Qwen3-8B
