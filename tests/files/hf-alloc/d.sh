export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:512,expandable_segments:True
export CUDA_VISIBLE_DEVICES=0
cd /work
pip install transformers==5.23.0
python run_clm.py --model_name_or_path "/data/models/Qwen2.5-7B-Instruct/" --optim=adamw_torch_fused --activation_checkpointing
