from transformers import AutoModelForSequenceClassification, TrainingArguments, Trainer
model = AutoModelForSequenceClassification.from_pretrained('Qwen/Qwen2.5-0.5B', num_labels=4)
args = TrainingArguments(output_dir='o', per_device_train_batch_size=32, bf16=True)
Trainer(model=model, args=args)
