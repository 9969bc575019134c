from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=3)
args = TrainingArguments(output_dir="out", per_device_train_batch_size=20)
Trainer(model=model, args=args, train_dataset=rows).train()
