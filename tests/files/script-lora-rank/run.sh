deepspeed --include localhost:0,1,2,5 fastchat/train/train_lora.py --model_name_or_path lmsys/vicuna-13b-v1.5 \
  --lora_r 8 --lora_alpha 16 --lora_dropout 0.05 --q_lora True --bf16 True --per_device_train_batch_size 2 \
  --model_max_length 2048 --gradient_checkpointing True
