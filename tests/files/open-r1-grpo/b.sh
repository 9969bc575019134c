export NCCL_DEBUG=INFO
gpu_num=$(echo $CUDA_VISIBLE_DEVICES | awk -F ',' '{print NF}')
torchrun --nproc_per_node=8 \
    --nnodes=1 \
    src/open_r1/grpo.py \
    --model_name_or_path Qwen/Qwen2.5-7B-Instruct \
    --max_prompt_length 512 --max_completion_length 1024 \
    --per_device_train_batch_size 4 --gradient_accumulation_steps 4 \
    --bf16 --torch_dtype bfloat16 --num_generations 8 \
    --use_vllm true --vllm_gpu_memory_utilization 0.7 \
    --deepspeed local_scripts/zero3.json --gradient_checkpointing false \
    --attn_implementation flash_attention_2 --reward_funcs accuracy format
