MODEL_PATH=Qwen/Qwen3-VL-4B-Instruct  # or a folder

python3 -m verl.trainer.main \
    config=config.yaml \
    worker.actor.model.model_path=${MODEL_PATH} \
    worker.actor.model.lora.rank=64 \
    worker.actor.model.freeze_vision_tower=true \
    trainer.n_gpus_per_node=4
