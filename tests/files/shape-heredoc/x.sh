cat > ds.json <<EOF
{"zero_optimization": {"stage": 3}, "bf16": {"enabled": "auto"}}
EOF
deepspeed --num_gpus 2 run_clm.py --deepspeed ds.json --model_name_or_path Qwen/Qwen3-4B --bf16
