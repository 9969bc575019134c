MAX_PIXELS=1003520 NPROC_PER_NODE=2 swift sft --model Qwen/Qwen2.5-VL-7B-Instruct --tuner_type full --torch_dtype bfloat16 \
  --freeze_vit true --freeze_llm false --freeze_aligner false --vit_gradient_checkpointing false \
  --per_device_train_batch_size 1 --gradient_accumulation_steps 4 --max_length 4096
