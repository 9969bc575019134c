CUDA_VISIBLE_DEVICES=0 swift sft \
    --model Qwen/Qwen3-8B-AWQ \
    --tuner_type lora \
    --dataset my_chats.jsonl \
    --max_length 2048
