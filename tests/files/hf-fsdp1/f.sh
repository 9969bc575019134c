torchrun --nproc_per_node=8 run_clm.py --model_name_or_path Qwen/Qwen2.5-7B --fsdp 'shard_grad_op auto_wrap' --bf16
