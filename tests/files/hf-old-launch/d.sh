python -m torch.distributed.launch --nproc_per_node=4 --use_env run_clm.py --model_name_or_path Qwen/Qwen3-4B --bf16
