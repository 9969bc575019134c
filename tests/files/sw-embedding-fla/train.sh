pip install ms-swift==4.6.0 flash-linear-attention==0.6.0

swift sft \
    --model Qwen/Qwen3-0.6B \
    --task_type embedding \
    --loss_type infonce \
    --tuner_type full \
    --per_device_train_batch_size 8 \
    --max_length 512
