swift sft --model Qwen/Qwen3-0.6B --task_type embedding --tuner_type lora --lora_rank 8 --max_length 600 \
    --per_device_train_batch_size 12 --dynamic_sample true --max_turns 3
