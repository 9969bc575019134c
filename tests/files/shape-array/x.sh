ARGS=(
  --model_name_or_path Qwen/Qwen3-4B # the model
  --per_device_train_batch_size 3
)
EXTRA="--bf16 --optim adafactor"
torchrun --standalone --nproc_per_node=gpu run_clm.py "${ARGS[@]}" $EXTRA
