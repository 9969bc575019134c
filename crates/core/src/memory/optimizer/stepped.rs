//! The tensors that an optimizer's step goes through.

use super::super::autograd::{ElementType, Label, LayerTag, NO_LAYER, Shape, Sym, Tape, Tensor, dims};
use super::super::parameter::Trainable;
use super::super::sharding::strategy;
use super::super::term::Term;
use crate::job::Job;
use crate::model::ModuleKind;
use std::rc::Rc;

/// Whether a tensor of this name can be a matrix inside a layer: those that GaLore, APOLLO and Muon treat as matrices, as
/// `optim_target_modules=["attn", "mlp"]` names them. Embeddings, heads and norms are updated by AdamW.
pub(super) fn is_inside_layers(name: &str) -> bool {
    const OUTSIDE: [&str; 6] = ["embed", "head", "wte", "wpe", "score", "classifier"];
    !OUTSIDE.iter().any(|part| name.contains(part))
}

/// Whether a trained tensor is the weight of an `nn.Embedding`.
pub(super) fn is_embedding(job: &Job, name: &str) -> bool {
    let embeds = |module: &crate::model::Module| {
        matches!(module.kind, ModuleKind::Embedding { .. }) && name.ends_with(&*module.name)
    };
    job.model.embeddings.iter().any(embeds)
}

/// A tensor in the optimizer's step, as this rank has it.
#[derive(Debug, Clone)]
pub(super) struct Stepped {
    pub(super) tag: LayerTag,
    pub(super) label: Label,
    pub(super) name: Rc<str>,
    pub(super) shape: Shape,
    pub(super) element: ElementType,
    /// Its number among the parameters that train; none for a flat partition of many.
    pub(super) number: Option<usize>,
}

impl Stepped {
    pub(super) fn of(tape: &Tape, job: &Job, parameter: &Trainable, number: usize) -> Self {
        Self {
            tag: parameter.tag,
            label: tape.label(Term::OptimizerTemporaries, &parameter.name),
            name: Rc::clone(&parameter.name),
            shape: strategy(&job.sharding).state_shape(parameter.tensor.shape()),
            element: if job.numerics.fp32_master {
                ElementType::F32
            } else {
                // Roots are as wide as what they are roots of.
                strategy(&job.sharding).state_element(parameter.tensor.element())
            },
            number: Some(number),
        }
    }

    /// A temporary.
    pub(super) fn temporary(&self, tape: &Rc<Tape>, shape: Shape, element: ElementType) -> Tensor {
        Tensor::new(tape, self.label, shape, element)
    }
}

/// What the step updates, in the order of the parameters.
pub(super) fn stepped(tape: &Tape, job: &Job, trainable: &[Trainable]) -> Vec<Stepped> {
    let flats = strategy(&job.sharding).flat_partitions(tape, trainable);
    if flats.is_empty() {
        let one = |(number, parameter)| Stepped::of(tape, job, parameter, number);
        return trainable.iter().enumerate().map(one).collect();
    }
    let label = tape.label(Term::OptimizerTemporaries, "flat");
    let name: Rc<str> = Rc::from("flat");
    let flat = |elements| Stepped {
        tag: NO_LAYER,
        label,
        name: Rc::clone(&name),
        shape: dims(&[(Sym::Share, elements)]),
        element: strategy(&job.sharding).state_element(ElementType::F32),
        number: None,
    };
    flats.into_iter().map(flat).collect()
}
