docker run --gpus all -e CUDA_VISIBLE_DEVICES=2,3 lab/train:7 torchrun --standalone --nproc_per_node=gpu train.py \
  --model_name_or_path meta-llama/Llama-3.2-3B --per_device_train_batch_size 4 --bf16
