//! An embedding model's step: texts to vectors in one forward or several, and each query against all documents of the batch.
//!
//! A loop of one's own reads all texts in one forward. sentence-transformers reads the queries in one and their documents in
//! another (6.2 base/losses/merged_forward.py `embed_columns`), or, with cached gradients, every column in mini-batches
//! (base/losses/gradcache.py).

use super::super::activations::ForwardContext;
use super::super::autograd::{
    Dim, ElementType, GradSource, Sym, Tape, Tensor, backward, cast, contiguous, custom, dims, unary_saving_output,
};
use super::super::loss::{
    HeadOutput, SentenceEmbeddings, info_nce, mark_backward, masked_pool, normalize, pool, ranking, scalar, surrogate,
};
use super::super::parameter::Trainable;
use super::super::phase::Phase;
use super::super::step::{Update, forward, forward_context};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::preference::resident;
use crate::job::Job;
use crate::plan::EmbeddingLoss;
use std::rc::Rc;

/// Mini-batches with gradients that run: the first makes the weights' gradients, the last adds to them, and those between
/// are as the last.
const REPLAYED: u64 = 2;

/// One step.
pub(super) fn update(tape: &Rc<Tape>, job: &Job, policy: &LoadedModel) -> Vec<Trainable> {
    let companions = resident(tape, job, policy);
    let update = Update { tape, job, weights: policy, trainable: &policy.trainable, after: &|| () };
    update.run(inputs(tape, job), Vec::new, |context| {
        let model = Model { job, weights: policy, context };
        match job.plan.embedding.loss {
            EmbeddingLoss::InfoNce => model.one_forward(),
            EmbeddingLoss::MultipleNegativesRanking => model.forward_of_each_side(),
            EmbeddingLoss::CachedMultipleNegativesRanking => model.cached(),
        }
    });
    drop(companions);
    policy.trainable.clone()
}

/// Token ids of all texts, and their mask where sentence-transformers hands one on or anything is padded.
fn inputs(tape: &Rc<Tape>, job: &Job) -> Vec<Tensor> {
    let masks = job.plan.padded_batch || job.plan.embedding.loss != EmbeddingLoss::InfoNce;
    let tokens = dims(&[(Sym::B, job.batches.sequences_per_forward), (Sym::S, job.batches.tokens_per_sequence)]);
    let new = |name| Tensor::new(tape, tape.label(Term::BatchInputs, name), tokens, ElementType::I64);
    let names: &[&str] = if masks { &["input_ids", "attention_mask"] } else { &["input_ids"] };
    names.iter().map(|name| new(name)).collect()
}

/// The model that trains, in the forward of a micro-batch.
struct Model<'a> {
    job: &'a Job,
    weights: &'a LoadedModel,
    context: &'a Rc<ForwardContext>,
}

impl Model<'_> {
    /// A forward over `rows` texts, in the micro-batch's.
    fn of_rows(&self, rows: u64) -> Rc<ForwardContext> {
        let outer = self.context;
        if outer.batch == rows {
            return Rc::clone(outer);
        }
        let mut context = forward_context(&outer.tape, self.job, true);
        context.batch = rows;
        context.groups.clone_from(&outer.groups);
        context.zero3.clone_from(&outer.zero3);
        context.backward_begins = Rc::clone(&outer.backward_begins);
        Rc::new(context)
    }

    /// Hidden states of `context`'s texts. A pooler runs and its result goes, as nothing reads it.
    fn hidden(&self, context: &Rc<ForwardContext>) -> Option<Tensor> {
        let hidden = forward(context, self.job, self.weights)?;
        context.tape.enter(Phase::Loss);
        if let Some(pooler) = &self.weights.pooler {
            let first = dims(&[(Sym::B, context.batch), (Sym::One, 1)]).with(Dim::new(Sym::H, hidden.shape().width()));
            let dense = pooler.run(context, &hidden.view(first), Term::SentenceEmbeddings);
            drop(unary_saving_output(&dense, context.label(Term::SentenceEmbeddings, "pooler")));
        }
        Some(mark_backward(context, &hidden))
    }

    /// Vectors of `rows` texts as a sentence-transformer gives them, and the hidden states that its features still hold.
    fn encode(&self, rows: u64) -> Option<(Tensor, Tensor)> {
        let context = self.of_rows(rows);
        let mut hidden = self.hidden(&context)?;
        let mut pooled = masked_pool(&context, self.job.plan.pooling, &hidden);
        // Autocast ends with the model's forward.
        context.autocast.replace(false);
        context.leave_autocast();
        if self.job.upcasts_outputs() {
            // accelerate converts all that the forward gives back, and only vectors are read.
            let label = context.label(Term::SentenceEmbeddings, "fp32");
            let wide = cast(&hidden, ElementType::F32, label);
            pooled = cast(&pooled, ElementType::F32, label);
            drop(wide);
        }
        hidden = hidden.detach();
        Some((pooled, hidden))
    }

    /// All texts in one forward, with the loss of one's own.
    fn one_forward(&self) -> Option<HeadOutput> {
        let context = self.context;
        let hidden = self.hidden(context)?;
        let pooled = pool(context, self.job.plan.pooling, &hidden);
        let embeddings = normalize(context, &pooled);
        drop(pooled);
        let loss = info_nce(context, &embeddings, self.job.plan.per_device_train_batch_size);
        // Variables of the function that gives the loss.
        drop((embeddings, hidden));
        Some(HeadOutput { loss, kept: None })
    }

    /// The queries in one forward, their documents in another.
    fn forward_of_each_side(&self) -> Option<HeadOutput> {
        let tape = &self.context.tape;
        let queries = self.job.plan.per_device_train_batch_size;
        let columns = self.job.plan.embedding.documents();
        let (query_vectors, of_queries) = self.encode(queries)?;
        tape.enter(Phase::Forward);
        // Several columns are joined into one batch, whose features go with it.
        let joined = (columns > 1).then(|| self.joined_inputs());
        let (document_vectors, of_documents) = self.encode(self.job.plan.embedding_documents())?;
        let of_documents = (columns == 1).then_some(of_documents);
        drop(joined);
        let embeddings = SentenceEmbeddings { queries: query_vectors, documents: document_vectors };
        let loss = ranking(self.context, &embeddings, queries);
        drop((embeddings, of_documents, of_queries));
        Some(HeadOutput { loss, kept: None })
    }

    /// Token ids and mask of all documents, copied into one batch (`merge_feature_batches`).
    fn joined_inputs(&self) -> Vec<Tensor> {
        let Self { job, context, .. } = self;
        let rows = job.plan.embedding_documents();
        let tokens = dims(&[(Sym::Documents, rows), (Sym::S, context.length)]);
        let new = |name| Tensor::new(&context.tape, context.label(Term::BatchInputs, name), tokens, ElementType::I64);
        ["input_ids", "attention_mask"].map(new).into()
    }

    /// GradCache: all vectors without a graph, the loss and its gradient of them, and each mini-batch once more with its part
    /// of that gradient (`CachedLossMixin.forward_cached`, `_backward_hook`).
    fn cached(&self) -> Option<HeadOutput> {
        let Self { job, context, .. } = self;
        let tape = &context.tape;
        let plan = &job.plan;
        let (queries, rows) = (plan.per_device_train_batch_size, plan.mini_batch());
        let vector = {
            tape.set_grad_enabled(false);
            let vector = self.encode(rows).map(|(vector, _)| vector);
            tape.set_grad_enabled(true);
            vector?
        };
        tape.enter(Phase::Loss);
        let label = context.label(Term::SentenceEmbeddings, "cached");
        let leaf = |symbol, count| {
            let shape = dims(&[(symbol, count)]).with(Dim::new(Sym::H, vector.shape().width()));
            let gradient = context.label(Term::SentenceEmbeddings, "cached gradient");
            Tensor::new(tape, label, shape, vector.element()).into_leaf(Some(gradient))
        };
        let vectors = [leaf(Sym::B, queries), leaf(Sym::Documents, plan.embedding_documents())];
        drop(vector);
        self.gradients_of_vectors(&vectors, queries.div_ceil(rows), rows);
        let cache: Vec<Tensor> = vectors.iter().filter_map(gradient).collect();
        drop(vectors);
        for _ in 1..plan.mini_batches().min(REPLAYED) {
            tape.enter(Phase::Forward);
            let stand_in = self.replayed(rows)?;
            self.backwards(&stand_in);
        }
        tape.enter(Phase::Forward);
        let last = self.replayed(rows)?;
        // The cache is held by the hook on the loss.
        let loss = custom(
            tape,
            &[&last],
            |_| scalar(context),
            move |call| {
                let _ = &cache;
                [Some(call.grad.clone())].into()
            },
        );
        Some(HeadOutput { loss, kept: None })
    }

    /// The loss of so many mini-batches of queries, each with its backward. Those after the second are like it.
    fn gradients_of_vectors(&self, vectors: &[Tensor; 2], batches: u64, rows: u64) {
        let [queries, documents] = vectors;
        let copy = |x: &Tensor| contiguous(x, x.shape(), self.context.label(Term::SentenceEmbeddings, "joined"), false);
        let embeddings = SentenceEmbeddings { queries: copy(queries), documents: copy(documents) };
        for _ in 0..batches.min(REPLAYED) {
            let loss = ranking(self.context, &embeddings, rows);
            self.backwards(&loss);
        }
    }

    /// One mini-batch with its graph, and what stands for its loss.
    fn replayed(&self, rows: u64) -> Option<Tensor> {
        let (vectors, features) = self.encode(rows)?;
        drop(features);
        Some(surrogate(self.context, &vectors))
    }

    fn backwards(&self, loss: &Tensor) {
        let tape = &self.context.tape;
        tape.enter(Phase::LossBackward);
        if let Some(source) = loss.source() {
            let label = tape.label(Term::LogitsGradients, "loss");
            backward(tape, source, Tensor::new(tape, label, dims(&[(Sym::One, 1)]), ElementType::F32));
        }
    }
}

/// The gradient that has come to a leaf.
fn gradient(vectors: &Tensor) -> Option<Tensor> {
    match vectors.source() {
        Some(GradSource::Leaf(leaf)) => leaf.grad.take(),
        _ => None,
    }
}
