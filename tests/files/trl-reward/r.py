from trl import RewardTrainer, RewardConfig
trainer = RewardTrainer(model='Qwen/Qwen3-1.7B', args=RewardConfig(max_length=512, per_device_train_batch_size=16, gradient_checkpointing=False), train_dataset=d)
