#!/usr/bin/env bash
set -euo pipefail

prompt_len=$((1024 * 3))
answer_len=$((1 << 0))
answer_len=$((1024 * (2 + 4)))
group=12
root=${DATA_ROOT:-"${HOME}/rl"}
weights=${WEIGHTS:-"${root}/weights/Qwen3-4B"}
nodes=${NODES:-2}
budget=$(((prompt_len + answer_len) * 2))

DATA=(
    data.train_batch_size=96
    data.max_prompt_length=${prompt_len}
    data.max_response_length=${answer_len}
)

python3 -m verl.trainer.main_ppo \
    "${DATA[@]}" \
    algorithm.adv_estimator=grpo \
    algorithm.use_kl_in_reward=False \
    actor_rollout_ref.model.path="${weights}" \
    actor_rollout_ref.actor.use_kl_loss=True \
    actor_rollout_ref.actor.kl_loss_coef=0.002 \
    actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 \
    actor_rollout_ref.actor.ppo_max_token_len_per_gpu=${budget} \
    actor_rollout_ref.actor.fsdp_config.param_offload=True \
    actor_rollout_ref.rollout.n=${group} \
    actor_rollout_ref.rollout.name=vllm \
    trainer.n_gpus_per_node=8 \
    trainer.nnodes="${nodes}"
