accelerate launch --config_file accelerate.yaml train.py --model_name_or_path Qwen/Qwen3-8B --per_device_train_batch_size 2
