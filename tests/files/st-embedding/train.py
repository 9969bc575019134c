from datasets import load_dataset
from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, SentenceTransformerTrainingArguments
from sentence_transformers.losses import CachedMultipleNegativesRankingLoss
from sentence_transformers.training_args import BatchSamplers

model = SentenceTransformer("Qwen/Qwen3-Embedding-0.6B", model_kwargs={"torch_dtype": "bfloat16", "attn_implementation": "sdpa"})
model.max_seq_length = 512
train = load_dataset("sentence-transformers/gooaq", split="train").select(range(100_000))
loss = CachedMultipleNegativesRankingLoss(model, mini_batch_size=16)
args = SentenceTransformerTrainingArguments(
    output_dir="qwen3-gooaq",
    num_train_epochs=1,
    per_device_train_batch_size=256,
    learning_rate=2e-5,
    bf16=True,
    batch_sampler=BatchSamplers.NO_DUPLICATES,
)
SentenceTransformerTrainer(model=model, args=args, train_dataset=train, loss=loss).train()
