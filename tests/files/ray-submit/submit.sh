ray job submit --address=http://10.0.0.2:8265 --runtime-env=env.yaml --no-wait \
  -- \
  python3 -m verl.trainer.main_ppo algorithm.adv_estimator=grpo data.train_batch_size=256 \
  data.max_prompt_length=1024 data.max_response_length=2048 actor_rollout_ref.model.path=Qwen/Qwen3-8B \
  actor_rollout_ref.actor.ppo_mini_batch_size=64 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \
  actor_rollout_ref.rollout.n=8 actor_rollout_ref.rollout.gpu_memory_utilization=0.6 trainer.n_gpus_per_node=8 trainer.nnodes=2
