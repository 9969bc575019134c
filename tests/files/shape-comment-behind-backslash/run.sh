set -x
python3 -m verl.trainer.main_ppo \
    algorithm.adv_estimator=grpo \  # or rloo
    data.train_batch_size=512 \
    data.max_prompt_length=1024 \   # the longest of the set has 980
    data.max_response_length=2048 \
    actor_rollout_ref.model.path=Qwen/Qwen2.5-3B-Instruct \
    actor_rollout_ref.actor.ppo_mini_batch_size=128 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \
    actor_rollout_ref.rollout.name=vllm \
    actor_rollout_ref.rollout.n=8 \
    actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \
    trainer.n_gpus_per_node=4 trainer.nnodes=1
