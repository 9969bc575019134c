from transformers import AutoModelForSeq2SeqLM, DataCollatorForSeq2Seq, Seq2SeqTrainer, Seq2SeqTrainingArguments

model = AutoModelForSeq2SeqLM.from_pretrained("google/flan-t5-base")
args = Seq2SeqTrainingArguments(output_dir="out", per_device_train_batch_size=8, gradient_accumulation_steps=2, bf16=True, predict_with_generate=True)
trainer = Seq2SeqTrainer(model=model, args=args, data_collator=DataCollatorForSeq2Seq(tokenizer, model=model), train_dataset=rows)
