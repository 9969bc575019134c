#!/bin/bash
BASE="Qwen/Qwen2.5-1.5B"
ROWS=""

while [[ "$1" != "" ]]; do
    case $1 in
        -m | --model ) shift
            BASE=$1
            ;;
        -d | --data ) shift
            ROWS=$1
            ;;
    esac
    shift
done

CUDA_VISIBLE_DEVICES=2 python finetune.py \
    --model_name_or_path $BASE \
    --data_path $ROWS \
    --per_device_train_batch_size 3 \
    --gradient_accumulation_steps $(expr 24 / 3) \
    --model_max_length 768 \
    --bf16 True
