//! The forward of a model whose class was recorded: what runs before its layers and behind them.

use super::activations::{ForwardContext, prepare_masks, run_between, run_recorded};
use super::autograd::{Tensor, custom};
use super::embeddings::add_adapter;
use super::term::Term;
use super::weights::LoadedModel;
use crate::job::Job;
use crate::model::{Owner, Role};
use std::rc::Rc;

/// The first layer's input.
pub(super) fn run_before(context: &Rc<ForwardContext>, job: &Job, weights: &LoadedModel) -> Option<Tensor> {
    let (tape, before) = (&context.tape, &weights.before);
    let table = weights.token_embedding.as_ref()?;
    let name =
        job.model.embeddings.iter().find(|module| module.role == Role::TokenEmbedding).map(|module| &module.name)?;
    let modules = &before.block()?.modules;
    let module = modules.iter().position(|owner| owner.name == *name)?;
    // peft tuners/lora/layer.py `Embedding._get_embed_scale`
    let scales = |owner: &Owner| owner.parameters.iter().any(|parameter| parameter.name == "embed_scale");
    let scales = modules.get(module).is_some_and(scales);
    share_parameters(context, weights);
    let wants_gradient = context.input_grads.tokens && tape.grad_enabled();
    let want_gradient = |rows: Tensor| {
        let label = tape.label(Term::ActivationGradients, "inputs_embeds");
        if wants_gradient && !rows.requires_grad() { rows.into_leaf(Some(label)) } else { rows }
    };
    let on_embedding = |run: &dyn Fn() -> Option<Tensor>| {
        let missing = || custom(tape, &[], |_| table.detach(), |_| [].into());
        let look_up = || {
            context.embedding_module("embed_tokens", table, || {
                let rows = run().unwrap_or_else(missing);
                let rows = match &weights.token_adapter {
                    Some(adapter) => add_adapter(context, adapter, rows, scales),
                    None => rows,
                };
                // DeepSpeed's hooks come behind the one that wants a gradient: backward fetches the table again.
                if context.zero3.is_some() { want_gradient(rows) } else { rows }
            })
        };
        let rows = want_gradient(match &context.groups {
            Some(groups) => groups.run_embedding(look_up),
            None => look_up(),
        });
        // Before positions are turned into cosine and sine (modeling_llama.py `LlamaModel.forward`).
        if context.masks.borrow().is_empty() {
            prepare_masks(context, &job.model, rows.element());
        }
        Some(rows)
    };
    run_recorded(context, before, None, Some((module, &on_embedding)))
}

/// Layers read some parameters and buffers of what runs before or behind them by name.
fn share_parameters(context: &ForwardContext, weights: &LoadedModel) {
    for block in [&weights.before, &weights.after] {
        for (name, tensor) in block.named_tensors() {
            context.scope.borrow_mut().put(&name, tensor);
        }
    }
}

/// What the head reads; of a class with layers before its head what these read, where the task puts another head there. `held`: what the
/// decoder's forward holds until it returns, before those layers.
pub(super) fn run_after(
    context: &Rc<ForwardContext>,
    job: &Job,
    weights: &LoadedModel,
    (x, mut held): (&Tensor, Option<Tensor>),
) -> Option<Tensor> {
    let after = &weights.after;
    // Where nothing runs behind a decoder's last layer, its layers' result is the decoder's.
    let decoded = run_between(context, after, x).or_else(|| after.of.program.has_head_layers().then(|| x.clone()));
    if decoded.is_some() {
        drop(held.take());
    }
    let out = match decoded {
        Some(decoded) if job.lacks_head_layers() || job.pools_before_head_layers() => Some(decoded),
        Some(decoded) => run_recorded(context, after, Some(&decoded), None),
        None => run_recorded(context, after, Some(x), None),
    };
    let scope = context.scope.take();
    // `encoder_last_hidden_state` of the outputs (modeling_t5.py `T5ForConditionalGeneration.forward`).
    let encoder_output = after.of.program.encoder_output().and_then(|name| scope.get(name).cloned());
    context.encoder_output.replace(encoder_output);
    drop((scope, held));
    out
}
