docker run --gpus 4 --env PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True lab/train:7 \
  bash -c "cd /work && accelerate launch sft.py --model_name_or_path Qwen/Qwen3-8B --max_length 4096 --per_device_train_batch_size 1 --gradient_checkpointing"
