python3 -m verl.trainer.main_ppo algorithm.adv_estimator=gae data.train_batch_size=512 data.max_prompt_length=1024 data.max_response_length=512 \
 actor_rollout_ref.model.path=deepseek-ai/deepseek-llm-7b-chat actor_rollout_ref.actor.ppo_mini_batch_size=128 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=8 \
 actor_rollout_ref.actor.fsdp_config.param_offload=False actor_rollout_ref.rollout.tensor_model_parallel_size=4 actor_rollout_ref.rollout.name=vllm actor_rollout_ref.rollout.gpu_memory_utilization=0.4 \
 critic.model.path=deepseek-ai/deepseek-llm-7b-chat critic.ppo_micro_batch_size_per_gpu=16 algorithm.kl_ctrl.kl_coef=0.001 trainer.n_gpus_per_node=8 trainer.nnodes=1
