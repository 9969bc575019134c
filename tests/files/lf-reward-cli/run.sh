#!/bin/bash
CUDA_VISIBLE_DEVICES=0,1,2,3 llamafactory-cli train \
    --stage rm \
    --do_train True \
    --model_name_or_path Qwen/Qwen2.5-7B-Instruct \
    --finetuning_type full \
    --template qwen \
    --dataset dpo_en_demo \
    --cutoff_len 1024 \
    --deepspeed ds_z2_config.json \
    --per_device_train_batch_size 2 \
    --gradient_accumulation_steps 4 \
    --bf16 True \
    --disable_gradient_checkpointing \
    --output_dir out
