nproc_per_node=4

CUDA_VISIBLE_DEVICES=0,1,2,3 \
NPROC_PER_NODE=$nproc_per_node \
swift sft --model Qwen/Qwen3-8B --tuner_type lora --quant_method bnb --quant_bits 4 --bnb_4bit_compute_dtype bfloat16 --bnb_4bit_quant_type nf4 --bnb_4bit_use_double_quant true --lora_rank 16 --max_length 4096 --gradient_checkpointing true --attn_impl flash_attn --packing true --gradient_accumulation_steps $(expr 16 / $nproc_per_node) --dataset d
