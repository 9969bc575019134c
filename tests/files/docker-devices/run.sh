sudo docker run --rm -it --gpus '"device=1,3,5"' --ipc=host -m 256g -v /srv/data:/data -e TOKENIZERS_PARALLELISM=false lab/train:7 \
  deepspeed finetune.py --model_name_or_path Qwen/Qwen2.5-7B --per_device_train_batch_size 2 --bf16 True --deepspeed configs/ds_z2_config.json
