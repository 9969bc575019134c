from trl.experimental.cpo import CPOConfig, CPOTrainer

args = CPOConfig(output_dir="out", beta=0.2, loss_type="simpo", cpo_alpha=0.0, max_length=800, per_device_train_batch_size=3)
trainer = CPOTrainer(model="Qwen/Qwen2.5-1.5B-Instruct", args=args, train_dataset=rows)
