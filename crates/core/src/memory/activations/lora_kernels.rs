//! axolotl's LoRA kernels (kernels/lora.py `LoRA_MLP`, `LoRA_QKV`, `LoRA_O`): several adapted projections as one operator, which
//! keeps its input and the adapters' copies in the input's dtype, and of the feed-forward part gate and up alone.

use super::super::autograd::{
    Call, ElementType, Gradients, Label, Recording, Shape, Sym, Tape, Tensor, cast, dims, dropout,
};
use super::super::term::Term;
use super::super::weights::{Adapter, BaseWeight, Projection};
use super::ForwardContext;
use std::rc::Rc;

/// Runs `projections` of the same `x` as one operator where axolotl's kernels serve them: all are adapted, and none is int8.
pub(super) fn run_together(
    context: &ForwardContext,
    projections: &[&Projection],
    x: &Tensor,
    term: Term,
) -> Option<Vec<Tensor>> {
    let parts = Part::of_all(context, projections)?;
    let dropped = drop_out(context, projections, x);
    let mut recording = Recording::begin(&context.tape, &inputs(x, dropped.as_ref(), projections));
    let outputs = projections.iter().map(|projection| multiply(context, projection, x, term)).collect();
    save(context, &mut recording, (x, dropped.as_ref()), projections);
    let (shape, drops) = (x.shape(), dropped.is_some());
    drop(dropped);
    let outputs = recording.finish_many(outputs, move |call| {
        let grads: Vec<AdapterGradients> = parts.iter().map(|part| part.adapter_gradients(call, shape)).collect();
        let of_x = call.grad_like(shape, call.grad.element());
        parts.iter().for_each(|part| part.pass_weight(call.tape));
        let of_dropped = drops.then(|| call.grad_like(shape, call.grad.element()));
        collect(of_x, of_dropped, drops, grads, &parts)
    });
    Some(outputs)
}

/// The gated feed-forward part as one operator: backward computes the product again, and the gradients of gate and up, into
/// the tensors that stood for something else before (kernels/swiglu.py `swiglu_backward`).
pub(super) fn run_gated(context: &ForwardContext, x: &Tensor, projections: [&Projection; 3]) -> Option<Tensor> {
    let parts = Part::of_all(context, &projections)?;
    let [gate, up, down] = projections;
    let term = Term::FeedForwardActivations;
    let dropped = drop_out(context, &projections[..1], x);
    let mut recording = Recording::begin(&context.tape, &inputs(x, dropped.as_ref(), &projections));
    let gate = multiply(context, gate, x, term);
    let up = multiply(context, up, x, term);
    let product = Tensor::new(&context.tape, context.label(term, "product"), gate.shape(), gate.element());
    let out = multiply(context, down, &product, term);
    save(context, &mut recording, (x, dropped.as_ref()), &projections);
    recording.save(&gate);
    recording.save(&up);
    let (shape, inner, drops) = (x.shape(), gate.shape(), dropped.is_some());
    drop((product, gate, up, dropped));
    let out = recording.finish(out, move |call| {
        let element = call.grad.element();
        let [gate, up, down] = parts.as_slice() else { return [].into() };
        // Becomes the product.
        let of_product = call.grad_like(inner, element);
        down.pass_weight(call.tape);
        let grads =
            [(gate, shape), (up, shape), (down, inner)].map(|(part, input)| part.adapter_gradients(call, input));
        let of_x = call.grad_like(shape, element);
        [up, gate].iter().for_each(|part| part.pass_weight(call.tape));
        let of_dropped = drops.then(|| call.grad_like(shape, element));
        drop(of_product);
        collect(of_x, of_dropped, drops, grads.into(), &parts)
    });
    Some(out)
}

/// What backward has to know of a projection.
#[derive(Debug, Clone, Copy)]
struct Part {
    label: Label,
    /// Shapes of A and B as they stand for whole matrices, and their dtype.
    adapter: [Shape; 2],
    element: ElementType,
    r: u64,
    weight: Option<Materialised>,
}

/// A 4-bit weight that is materialised for a matmul, its scales first dequantised beside it.
#[derive(Debug, Clone, Copy)]
struct Materialised {
    label: Label,
    weight: Shape,
    scales: Shape,
    element: ElementType,
}

/// Gradients of A and B, and the gradient times B, which waits for the input's.
struct AdapterGradients {
    of_matrices: [Tensor; 2],
    _low: Tensor,
}

impl Part {
    fn of_all(context: &ForwardContext, projections: &[&Projection]) -> Option<Vec<Self>> {
        let serves = context.fuses_adapters && context.groups.is_none() && context.zero3.is_none();
        let part = |projection: &&Projection| Self::of(context, projection);
        if serves { projections.iter().map(part).collect() } else { None }
    }

    fn of(context: &ForwardContext, projection: &Projection) -> Option<Self> {
        let Adapter { a, b, r, .. } = projection.adapter.as_ref()?;
        let label = context.label(Term::AdapterActivations, &projection.name);
        let weight = match projection.weight {
            BaseWeight::Plain(_) => None,
            BaseWeight::FourBit { .. } => Some(Materialised::of(context, projection)),
            BaseWeight::EightBit { .. } => return None,
        };
        Some(Self { label, adapter: [a.shape(), b.shape()], element: a.element(), r: *r, weight })
    }

    fn adapter_gradients(&self, call: &Call<'_>, input: Shape) -> AdapterGradients {
        let element = call.grad.element();
        let low = Tensor::new(call.tape, self.label, input.last(Sym::R, self.r), element);
        let of_matrices = self.adapter.map(|shape| call.grad_like(shape, element));
        // `A @ x.t()`
        call.tape.moment(self.label, input.last(Sym::R, self.r), element);
        AdapterGradients { of_matrices, _low: low }
    }

    fn pass_weight(&self, tape: &Rc<Tape>) {
        let weight = self.weight.map(|weight| weight.write_out(tape));
        tape.matmul_workspace();
        drop(weight);
    }
}

impl Materialised {
    fn of(context: &ForwardContext, projection: &Projection) -> Self {
        let Projection { name, d_in, d_out, .. } = projection;
        Self {
            label: context.label(Term::DequantizedWeights, name),
            weight: dims(&[(Sym::DOut, *d_out), (Sym::DIn, *d_in)]),
            scales: dims(&[(Sym::WeightBlocks, d_out.saturating_mul(*d_in) / 64)]),
            element: context.half,
        }
    }

    /// kernels/quantize.py `_ctypes_nf4_dequant`.
    fn write_out(self, tape: &Rc<Tape>) -> Tensor {
        let weight = Tensor::new(tape, self.label, self.weight, self.element);
        tape.moment(self.label, self.scales, ElementType::F32);
        weight
    }
}

/// One dropout for all projections of an input.
fn drop_out(context: &ForwardContext, projections: &[&Projection], x: &Tensor) -> Option<Tensor> {
    let Projection { name, adapter, .. } = projections.first()?;
    let probability = adapter.as_ref().map(|adapter| adapter.dropout).filter(|_| context.training)?;
    let (mask, out) = (context.label(Term::DropoutMasks, name), context.label(Term::AdapterActivations, name));
    (probability > 0.0).then(|| dropout(x, probability, mask, out))
}

fn inputs<'a>(x: &'a Tensor, dropped: Option<&'a Tensor>, projections: &[&'a Projection]) -> Vec<&'a Tensor> {
    let adapters = projections.iter().flat_map(|projection| &projection.adapter);
    [x].into_iter().chain(dropped).chain(adapters.flat_map(|adapter| [&adapter.a, &adapter.b])).collect()
}

/// `matmul_lora`: the adapter's product is added to the base's in place.
fn multiply(context: &ForwardContext, projection: &Projection, x: &Tensor, term: Term) -> Tensor {
    let tape = &context.tape;
    let weight = match &projection.weight {
        BaseWeight::FourBit { .. } => Some(Materialised::of(context, projection).write_out(tape)),
        _ => None,
    };
    let shape = x.shape().last(projection.sym, projection.d_out);
    let out = Tensor::new(tape, context.label(term, &projection.name), shape, x.element());
    tape.matmul_workspace();
    drop(weight);
    let copies = copies(context, projection, x.element());
    let low = projection.adapter.as_ref().map(|adapter| adapter.r).unwrap_or_default();
    let label = context.label(Term::AdapterActivations, &projection.name);
    tape.moment(label, x.shape().last(Sym::R, low), x.element());
    drop(copies);
    out
}

/// A and B in the input's dtype.
fn copies(context: &ForwardContext, projection: &Projection, element: ElementType) -> Vec<Tensor> {
    let label = context.label(Term::AdapterActivations, &projection.name);
    let copy = |matrix: &Tensor| {
        if matrix.element() == element {
            matrix.clone()
        } else {
            Tensor::new(&context.tape, label, matrix.shape(), element)
        }
    };
    projection.adapter.iter().flat_map(|adapter| [copy(&adapter.a), copy(&adapter.b)]).collect()
}

/// What every one of the operators keeps.
fn save(
    context: &ForwardContext,
    recording: &mut Recording,
    (x, dropped): (&Tensor, Option<&Tensor>),
    projections: &[&Projection],
) {
    recording.save(x);
    dropped.inspect(|dropped| recording.save(dropped));
    for projection in projections {
        copies(context, projection, x.element()).iter().for_each(|copy| recording.save(copy));
    }
}

/// Gradients in the order of [`inputs`]; the engine casts those of adapters to their parameters' dtype.
fn collect(
    of_x: Tensor,
    of_dropped: Option<Tensor>,
    drops: bool,
    grads: Vec<AdapterGradients>,
    parts: &[Part],
) -> Gradients {
    let of_inputs = [Some(of_x)].into_iter().chain(drops.then_some(of_dropped));
    let of_adapters = grads
        .into_iter()
        .zip(parts)
        .flat_map(|(grads, part)| grads.of_matrices.map(|grad| Some(cast(&grad, part.element, part.label))));
    of_inputs.chain(of_adapters).collect()
}
