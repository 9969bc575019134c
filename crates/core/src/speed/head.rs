//! Head and loss.

use super::Part;
use super::inputs::TimingInputs;
use super::linear::{linear, matmul, weight_gradient};
use super::tally::Passes;
use crate::job::LossImplementation;
use crate::model::{Model, Module, ModuleKind, Role};

/// Adds the head and the loss. `scored` tokens reach the head: all of them in training, the last of each sequence in generation.
pub(super) fn head(passes: &mut Passes, inputs: &TimingInputs, scored: f64) {
    let model = inputs.model;
    let tokens = inputs.tokens();
    let hidden = model.hidden_size as f64;
    if inputs.job.embeds() {
        // Each query by all documents of the batch.
        let queries = inputs.batch / inputs.job.plan.embedding.texts() as f64;
        let documents = inputs.job.plan.embedding_documents() as f64;
        matmul(passes, inputs, [queries, documents, hidden]);
        weight_gradient(passes, inputs, queries, hidden, documents);
        return;
    }
    if inputs.scores {
        // Reward and value models have one label; so has a plan that does not classify.
        let labels = inputs.job.plan.num_labels as f64;
        matmul(passes, inputs, [tokens, labels, hidden]);
        if !inputs.training {
            return;
        }
        weight_gradient(passes, inputs, tokens, hidden, labels);
        return;
    }
    let vocab = model.vocab_size as f64;
    let tied = model.head.iter().all(|module| matches!(module.kind, ModuleKind::Tensors { .. }));
    for module in &model.head {
        linear(passes, inputs, module, scored, true);
    }
    if tied {
        matmul(passes, inputs, [scored, vocab, hidden]);
        if token_embedding(model).is_some_and(|module| inputs.trains_base(module)) {
            weight_gradient(passes, inputs, scored, hidden, vocab);
        }
    }
    if inputs.training {
        loss(passes, inputs, [scored, vocab, hidden]);
    }
}

fn token_embedding(model: &Model) -> Option<&Module> {
    model.embeddings.iter().find(|module| module.role == Role::TokenEmbedding)
}

/// The loss over `scored` tokens of V = `vocab` columns. Whole logits: an fp32 copy, log-softmax, its gradient, and that in
/// the model's dtype again. Liger's fused kernel reads and writes each chunk twice in place and forms the head's gradients at
/// once. TRL's chunks and tiles are multiplied once more in backward.
fn loss(passes: &mut Passes, inputs: &TimingInputs, [scored, vocab, hidden]: [f64; 3]) {
    let (job, rates) = (inputs.job, &inputs.rates);
    let (a, logits) = (inputs.element(), scored * vocab);
    let loss = if job.plan.policy.use_liger_loss { LossImplementation::Liger } else { job.head_implementation() };
    let multiplied_again = match loss {
        LossImplementation::Liger => {
            passes.forward.traffic(rates, Part::Loss, logits * 4.0 * a, 8.0);
            return;
        }
        LossImplementation::FusedLmHead => {
            // A tile is written, upcast and reduced; backward makes it anew and its gradient of it.
            passes.forward.traffic(rates, Part::Loss, logits * (2.0 * a + 8.0), 4.0);
            passes.backward.traffic(rates, Part::Loss, logits * (4.0 * a + 8.0), 5.0);
            true
        }
        LossImplementation::CutCrossEntropy => {
            // Tiles stay on the chip; backward multiplies them once more.
            passes.forward.traffic(rates, Part::Loss, 0.0, 2.0);
            passes.backward.traffic(rates, Part::Loss, 0.0, 5.0);
            true
        }
        LossImplementation::ChunkedNll => true,
        LossImplementation::FullLogits => false,
    };
    if multiplied_again {
        passes.backward.matmul(rates, Part::Recomputation, [scored, vocab, hidden], inputs.precision);
    }
    if matches!(loss, LossImplementation::FusedLmHead | LossImplementation::CutCrossEntropy) {
        return;
    }
    let upcast = if a < 4.0 { 4.0 + a } else { 0.0 };
    let accelerate = if job.upcasts_outputs() { 2.0 * upcast } else { 0.0 };
    let scaled = if inputs.model.final_logit_softcapping { 6.0 * a } else { 0.0 };
    let forward = logits * (upcast + 12.0 + accelerate / 2.0 + scaled);
    passes.forward.traffic(rates, Part::Loss, forward, 6.0);
    passes.backward.traffic(rates, Part::Loss, logits * (4.0 + 12.0 + upcast + accelerate / 2.0 + scaled), 5.0);
    if multiplied_again {
        passes.backward.traffic(rates, Part::Recomputation, forward, 6.0);
    }
}
