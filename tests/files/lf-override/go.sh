llamafactory-cli train t.yaml learning_rate=1e-5 per_device_train_batch_size=4 lora_rank=32
