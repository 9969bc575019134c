deepspeed --num_gpus=2 \
    --module swift.cli.sft \
    --model Qwen/Qwen2.5-32B-Instruct \
    --dataset "$DATA" \
    --output_dir "$OUT_DIR" \
    $EXTRA \
    --per_device_train_batch_size 1 \
    --gradient_accumulation_steps 16 \
    --max_length 4096 \
    --lora_rank 64 \
    --lora_alpha 128 \
    --lora_dropout 0.05 \
    --gradient_checkpointing true \
    --torch_dtype bfloat16 \
    --deepspeed default-zero3 \
    2>&1 | tee "$OUT_DIR/training.log"
