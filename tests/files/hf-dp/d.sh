CUDA_VISIBLE_DEVICES=0,1 python run_clm.py --model_name_or_path Qwen/Qwen3-4B --per_device_train_batch_size 2
