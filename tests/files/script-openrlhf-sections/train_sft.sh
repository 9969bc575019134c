set -x

read -r -d '' training_commands <<EOF
openrlhf.cli.train_sft \
   --data.max_len 4096 \
   --data.dataset lab/pairs \
   --train.batch_size 128 \
   --train.micro_batch_size 2 \
   --model.model_name_or_path meta-llama/Llama-3.1-8B \
   --ds.zero_stage 3 \
   --ds.param_dtype bf16 \
   --ds.attn_implementation flash_attention_2 \
   --ds.packing_samples \
   --ds.adam_offload \
   --ds.lora.rank 32 \
   --model.gradient_checkpointing_enable
EOF
    # --ds.use_liger_kernel

deepspeed --num_gpus 8 --module $training_commands
