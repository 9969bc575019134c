swift sft --model Qwen/Qwen2.5-1.5B --task_type seq_cls --num_labels 3 --tuner_type lora --max_length 512 --dataset d
