//! From token ids to the first layer's input.

use super::activations::{ForwardContext, run_norm};
use super::autograd::{
    ElementType, Sym, Tensor, add, cast, dims, dropout, embedding, linear, mul_scalar, transpose_heads,
};
use super::term::Term;
use super::weights::{EmbeddingTable, LoadedModel, TableAdapter};
use crate::job::Job;
use crate::model::ModelKind;
use crate::plan::{Auto, Plan, TrainerName};
use std::rc::Rc;

/// The first layer's input, and what the model's `forward` holds in local variables until it returns.
pub(super) fn run_embeddings(
    context: &Rc<ForwardContext>,
    job: &Job,
    weights: &LoadedModel,
) -> Option<(Tensor, Vec<Tensor>)> {
    let (tape, model) = (&context.tape, &job.model);
    let stream = context.label(Term::ResidualStream, "embeddings");
    let table = weights.token_embedding.as_ref()?;
    let width = table.shape().width();
    let scaled_within = model.scales_embeddings && model.behaviour.scales_embeddings_within;
    let wants_gradient = requires_input_grads(&job.plan) && tape.grad_enabled();
    let want_gradient = |rows: Tensor| {
        let label = tape.label(Term::ActivationGradients, "inputs_embeds");
        if wants_gradient && !rows.requires_grad() { rows.into_leaf(Some(label)) } else { rows }
    };
    let look_up = || {
        context.embedding_module("embed_tokens", table, || {
            let rows = embedding(table, context.tokens(Sym::H, width), stream);
            let rows = if scaled_within { mul_scalar(&rows, stream) } else { rows };
            let rows = match &weights.token_adapter {
                Some(adapter) => add_adapter(context, adapter, rows, scaled_within),
                None => rows,
            };
            // DeepSpeed's hooks come behind the one that wants a gradient: backward fetches the table again.
            if context.zero3.is_some() { want_gradient(rows) } else { rows }
        })
    };
    let mut tokens = want_gradient(match &context.groups {
        Some(groups) => groups.run_embedding(look_up),
        None => look_up(),
    });
    if model.scales_embeddings && !scaled_within {
        tokens = mul_scalar(&tokens, stream);
    }
    let positions = tape.label(Term::BatchInputs, "position_ids");
    let count = || Tensor::new(tape, positions, dims(&[(Sym::S, context.length)]), ElementType::I64);
    // `torch.arange(s) + past_seen_tokens`.
    let range = count();
    let positions = count();
    drop(range);
    let mut held = vec![tokens.clone()];
    let mut hidden = tokens;
    for EmbeddingTable { table, is_position } in &weights.embeddings {
        let width = table.shape().width();
        // One row of positions serves every sequence, except where they are counted from the mask.
        let shape = if *is_position && !model.behaviour.positions_from_mask {
            dims(&[(Sym::S, context.length), (Sym::H, width)])
        } else {
            context.tokens(Sym::H, width)
        };
        let more = context.embedding_module("embeddings", table, || embedding(table, shape, context.passing()));
        hidden = add(&hidden, &more, stream);
        held.push(more);
    }
    for norm in &weights.embedding_norms {
        hidden = run_norm(context, norm, &hidden);
    }
    if context.drops_out {
        let mask = context.label(Term::DropoutMasks, "embeddings");
        hidden = dropout(&hidden, model.embedding_dropout, mask, stream);
    }
    for projection in &weights.embedding_projections {
        hidden = projection.run(context, &hidden, Term::ResidualStream);
    }
    if model.kind == ModelKind::Encoder {
        // Encoders embed in a module of its own, whose result the model's forward holds (modeling_bert.py `BertModel.forward`).
        held.clear();
        held.push(hidden.clone());
    }
    held.push(positions);
    Some((hidden, held))
}

/// What an adapter adds to rows of its table (peft tuners/lora/layer.py `Embedding.forward`): rows of A's transpose, times B's.
/// Autocast casts both anew, as it keeps no copy of a view. Where a class scales rows within its table, so does peft.
pub(super) fn add_adapter(context: &ForwardContext, adapter: &TableAdapter, rows: Tensor, scaled: bool) -> Tensor {
    let TableAdapter { a, b, rows: count, r } = adapter;
    let label = context.label(Term::AdapterActivations, "embed_tokens");
    let low =
        embedding(&transpose_heads(a, dims(&[(Sym::V, *count), (Sym::R, *r)])), context.tokens(Sym::R, *r), label);
    let transposed = transpose_heads(b, b.shape());
    let weight = context.cast_input(&transposed);
    let high = linear(&context.cast_input(&low), &weight, None, (Sym::H, rows.shape().width()), label);
    drop((low, weight, transposed));
    let mut update = mul_scalar(&high, context.passing());
    drop(high);
    if scaled {
        update = mul_scalar(&update, context.passing());
    }
    let stream = context.label(Term::ResidualStream, "embeddings");
    let (element, sum) = (rows.element(), add(&rows, &update, stream));
    drop((rows, update));
    cast(&sum, element, stream)
}

/// `enable_input_require_grads`: the token embedding's output becomes a leaf, so that gradients reach adapters through
/// frozen embeddings; its gradient lives until the loss goes. transformers switches it on with checkpointing
/// (modeling_utils.py `_activation_checkpointing_enable`), axolotl with every adapter (loaders/adapter.py `load_adapter`).
pub(super) fn requires_input_grads(plan: &Plan) -> bool {
    match plan.enable_input_require_grads {
        Auto::Set(on) => on,
        Auto::Auto => plan.gradient_checkpointing || plan.trainer.name == TrainerName::Axolotl,
    }
}
