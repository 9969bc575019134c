CONFIG=$(ls configs/*.yaml | head -1)
accelerate launch --config_file $CONFIG train.py --model_name_or_path Qwen/Qwen3-4B --per_device_train_batch_size 2
