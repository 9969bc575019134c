NPROC_PER_NODE=4 \
CUDA_VISIBLE_DEVICES=4,5,6,7 \
megatron sft \
    --model Qwen/Qwen3-8B \
    --tuner_type lora \
    --lora_rank 20 \
    --lora_alpha 40 \
    --tensor_model_parallel_size 2 \
    --sequence_parallel true \
    --micro_batch_size 2 \
    --global_batch_size 32 \
    --recompute_granularity full \
    --lr 1e-4 \
    --no_save_optim true \
    --packing true \
    --max_length 5120 \
    --attention_backend flash
