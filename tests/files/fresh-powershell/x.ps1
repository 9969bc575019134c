$env:CUDA_VISIBLE_DEVICES = "0"
python train.py `
  --model_name_or_path Qwen/Qwen2.5-0.5B `
  --per_device_train_batch_size 4 `
  --gradient_accumulation_steps 2 `
  --bf16
