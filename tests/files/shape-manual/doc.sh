> CUDA_VISIBLE_DEVICES=0,1 NPROC_PER_NODE=2 swift sft \
    --model Qwen/Qwen3-8B \
    --num_labels <num-labels> \
    --max_length 3000 \
    --deepspeed zero3 \
    ...
