ray job submit --address="http://127.0.0.1:8265" -- python3 -m openrlhf.cli.train_ppo_ray \
   --actor.num_nodes 1 --actor.num_gpus_per_node 8 --vllm.num_engines 4 --vllm.tensor_parallel_size 2 --train.colocate_all \
   --vllm.gpu_memory_utilization 0.5 --vllm.enable_sleep --actor.model_name_or_path Qwen/Qwen3-8B --train.micro_batch_size 4 \
   --rollout.batch_size 512 --rollout.n_samples_per_prompt 8 --rollout.max_new_tokens 1024 --data.max_len 3072 \
   --algo.advantage.estimator group_norm --algo.kl.init_coef 0 --ds.zero_stage 3 --ds.param_dtype bf16 --actor.gradient_checkpointing_enable
