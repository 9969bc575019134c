torchrun --nproc_per_node=4 train.py --model_name_or_path Qwen/Qwen3-4B --per_device_train_batch_size 1 --max_length 1536 --bf16 --my_own_flag 3
