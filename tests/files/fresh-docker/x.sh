docker run --gpus '"device=0,1"' --shm-size 16g -v $PWD:/w -e PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True img:latest \
  accelerate launch --num_processes=2 train.py --model_name_or_path=meta-llama/Llama-3.2-3B --per_device_train_batch_size=2 --bf16=true --gradient_checkpointing=true
