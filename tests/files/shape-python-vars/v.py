from trl import SFTConfig, SFTTrainer
CFG = {'per_device_train_batch_size': 4, 'gradient_accumulation_steps': 2}
common = dict(max_length=2048, bf16=True)
args = SFTConfig(output_dir='x', **CFG, **common, optim=('adamw_' 'torch'))
args.gradient_checkpointing = False
SFTTrainer('Qwen/Qwen3-4B', args=args)
