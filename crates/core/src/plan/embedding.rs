//! Training of embedding models: texts that belong together, and all others of the batch as negatives.

use super::{EmbeddingLoss, Plan, Task};

/// How an embedding model's vectors are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Embedding {
    /// What compares them.
    pub loss: EmbeddingLoss,
    /// n, hard negatives that come with each query, beside its positive.
    pub num_negatives: u64,
    /// Texts of one forward under GradCache, and rows of the similarity matrix at once (sentence-transformers'
    /// `mini_batch_size`).
    pub mini_batch_size: u64,
}

impl Default for Embedding {
    fn default() -> Self {
        Self { loss: EmbeddingLoss::InfoNce, num_negatives: 0, mini_batch_size: 32 }
    }
}

impl Embedding {
    /// Documents that come with a query: the positive and the hard negatives.
    pub const fn documents(&self) -> u64 {
        self.num_negatives.saturating_add(1)
    }

    /// Texts that come with a query, and itself.
    pub const fn texts(&self) -> u64 {
        self.documents().saturating_add(1)
    }
}

impl Plan {
    /// Documents of one batch of an embedding model, on one GPU.
    pub const fn embedding_documents(&self) -> u64 {
        self.per_device_train_batch_size.saturating_mul(self.embedding.documents())
    }

    /// Texts of one forward under GradCache: each of a query's texts is a column, and columns are cut by themselves.
    pub fn mini_batch(&self) -> u64 {
        self.embedding.mini_batch_size.clamp(1, self.per_device_train_batch_size.max(1))
    }

    /// Forwards with gradients that a batch is cut into: 1 but for GradCache.
    pub fn mini_batches(&self) -> u64 {
        if !self.caches_gradients() {
            return 1;
        }
        self.per_device_train_batch_size.div_ceil(self.mini_batch()).saturating_mul(self.embedding.texts())
    }

    /// Whether an embedding model's texts run in mini-batches, without gradients and then again with them.
    pub fn caches_gradients(&self) -> bool {
        self.task == Task::Embedding && self.embedding.loss == EmbeddingLoss::CachedMultipleNegativesRanking
    }
}
