from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss

model = CrossEncoder("FacebookAI/xlm-roberta-base", num_labels=1)
loss = BinaryCrossEntropyLoss(model)
args = CrossEncoderTrainingArguments(output_dir="reranker", per_device_train_batch_size=32, gradient_accumulation_steps=2, bf16=True)
CrossEncoderTrainer(model=model, args=args, train_dataset=None, loss=loss).train()
