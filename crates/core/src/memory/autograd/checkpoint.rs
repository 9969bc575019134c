//! `torch.utils.checkpoint` with `use_reentrant=False`, as transformers calls it for each layer.

use super::backward::{Recording, backward};
use super::tape::Tape;
use super::tensor::{GradSource, Tensor};
use std::rc::Rc;

/// Runs `layer` on `input`, keeping only `input`; backward runs it again.
pub(in crate::memory) fn checkpoint(tape: &Rc<Tape>, input: &Tensor, layer: Rc<dyn Fn(&Tensor) -> Tensor>) -> Tensor {
    let packs_before = tape.packs();
    let was_saving = tape.set_saving(false);
    let output = layer(input);
    tape.set_saving(was_saving);
    let packs = tape.packs() - packs_before;
    let trains = output.requires_grad();
    if !trains {
        return output;
    }
    // The layer's own graph goes; one operator stands for it, reaching the weights when it runs the layer again.
    let anchor = if input.requires_grad() { input.clone() } else { input.detach().into_leaf(None) };
    let mut recording = Recording::begin(tape, &[&anchor]);
    recording.save(input);
    let output = output.detach();
    let wants_input = input.requires_grad();
    recording.finish(output, move |call| {
        let Some(input) = call.saved.first() else { return vec![None] };
        let leaf = if wants_input { input.detach().into_leaf(None) } else { input.detach() };
        call.tape.stop_after(Some(packs));
        let output = layer(&leaf);
        call.tape.stop_after(None);
        let root = output.source().cloned();
        drop(output);
        if let Some(root) = root {
            backward(call.tape, &root, call.grad.clone());
        }
        match leaf.source() {
            Some(GradSource::Leaf(leaf)) => vec![leaf.grad.take()],
            _ => vec![None],
        }
    })
}
