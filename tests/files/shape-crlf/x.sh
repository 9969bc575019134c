llamafactory-cli train \
  --stage sft \
  --model_name_or_path Qwen/Qwen3-4B \
  --cutoff_len 512
