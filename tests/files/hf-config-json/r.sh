python run_clm.py --model_name_or_path ./my-model --bf16
