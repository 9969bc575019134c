python train.py --model_name_or_path mistralai/Mistral-7B-v0.1 --dataset_name lab/chat --dataset_text_field content \
  --max_length 2048 --packing True --bf16 True --use_4bit_quantization True --use_nested_quant True --use_peft_lora True --lora_r 8 \
  --lora_alpha 16 --lora_target_modules all-linear --per_device_train_batch_size 8 --gradient_checkpointing True
