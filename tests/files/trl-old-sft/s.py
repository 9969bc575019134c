from transformers import AutoModelForCausalLM, TrainingArguments
from trl import SFTTrainer
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B", torch_dtype="auto")
trainer = SFTTrainer(
    model,
    args=TrainingArguments(output_dir="x", per_device_train_batch_size=2, fp16=True, evaluation_strategy="no"),
    max_seq_length=512,
    dataset_text_field="text",
    packing=True,
)
