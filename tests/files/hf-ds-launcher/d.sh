deepspeed --include localhost:0,1,2 --master_port 29501 train.py --deepspeed ds.json --model_name_or_path Qwen/Qwen3-4B --fp16
