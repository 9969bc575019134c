torchrun --standalone --nnodes=1 --nproc_per_node=4 -m verl.trainer.fsdp_sft_trainer \
    data.train_files=$HOME/data/gsm8k/train.parquet data.val_files=$HOME/data/gsm8k/test.parquet \
    data.prompt_key=extra_info data.response_key=extra_info optim.lr=1e-4 \
    data.train_batch_size=64 data.micro_batch_size_per_gpu=4 data.max_length=2048 model.partial_pretrain=Qwen/Qwen2.5-0.5B-Instruct \
    model.lora_rank=32 model.lora_alpha=16 model.target_modules=all-linear model.strategy=fsdp trainer.logger=console
