python submit.py --cluster west --gpus 8 --budget lab \
  --description "one run" -- source /etc/profile \&\& pip list \&\& accelerate launch --num_processes 8 finetune.py \
  --model_name_or_path allenai/OLMo-2-1124-7B --per_device_train_batch_size 1 --gradient_accumulation_steps 4 --deepspeed_stage 3 --gradient_checkpointing
