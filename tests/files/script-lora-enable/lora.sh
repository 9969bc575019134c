#!/bin/bash
ROOT="$( cd "$( dirname "${BASH_SOURCE[0]}" )/.." && pwd )"
torchrun --nproc_per_node=4 src/train/train_sft.py \
    --use_liger True \
    --lora_enable True \
    --lora_rank 32 --lora_alpha 64 --lora_dropout 0.05 \
    --deepspeed ${ROOT}/configs/zero3.json \
    --model_id Qwen/Qwen2.5-VL-7B-Instruct \
    --bf16 True --per_device_train_batch_size 2 --gradient_accumulation_steps 8 \
    --gradient_checkpointing True
