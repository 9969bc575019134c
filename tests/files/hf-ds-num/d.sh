deepspeed --num_nodes 2 --num_gpus=8 train.py --deepspeed_config x.json --model_name_or_path Qwen/Qwen3-4B
