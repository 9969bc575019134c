//! Operators along a dimension, mostly the last: means, sums, maxima, softmax, layer norm.
//!
//! Left out: the partial sums of `layer_norm`'s weight gradients, which PyTorch splits above 65,536 rows.

use crate::autograd::{Gradients, Recording, Tensor};
use crate::label::Label;
use crate::shape::{ElementType, Shape, Symbol};

/// `aten::mean.dim` over the last dimension, kept: backward spreads the gradient out again.
pub fn mean_last(x: &Tensor, label: Label) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape().last(Symbol::ONE, 1), x.element());
    let shape = x.shape();
    recording.finish(out, move |call| [Some(call.grad_like(shape, call.grad.element()))].into())
}

/// `aten::sum.dim_IntList` over a dimension before the last, which leaves `shape`: backward sees the gradient expanded, as a view.
pub fn sum_to(x: &Tensor, shape: Shape, label: Label) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, shape, x.element());
    let whole = x.shape();
    recording.finish(out, move |call| [Some(call.grad.view(whole))].into())
}

/// `aten::_softmax` into `element`: saves its result; backward multiplies gradient and result first
/// (aten/src/ATen/native/cuda/SoftMax.cu, softmax_backward_cuda_out).
pub fn softmax(x: &Tensor, element: ElementType, label: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape(), element).with_head_major(x.head_major());
    recording.save(&out);
    let from = x.element();
    recording.finish(out, move |call| {
        let grad = call.grad_like(call.grad.shape(), from).with_head_major(true);
        drop(call.like_grad());
        [Some(grad)].into()
    })
}

/// `aten::max.dim` over the last dimension, kept: the indices are made too, and kept; backward scatters into zeros.
pub fn max_last(x: &Tensor, label: Label, indices: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    let (whole, row) = (x.shape(), x.shape().last(Symbol::ONE, 1));
    let out = Tensor::new(x.tape(), label, row, x.element());
    recording.save(&Tensor::new(x.tape(), indices, row, ElementType::I64));
    recording.finish(out, move |call| [Some(call.grad_like(whole, call.grad.element()).with_head_major(true))].into())
}

/// `aten::native_layer_norm`: saves its input and the mean and reciprocal deviation of each row, in fp32.
pub fn layer_norm(
    x: &Tensor,
    weight: Option<&Tensor>,
    bias: Option<&Tensor>,
    statistics: Label,
    label: Label,
) -> Tensor {
    let tape = x.tape();
    let mut inputs = vec![x];
    inputs.extend(weight);
    inputs.extend(bias);
    let mut recording = Recording::begin(tape, &inputs);
    recording.save(x);
    weight.inspect(|weight| recording.save(weight));
    let out = Tensor::new(tape, label, x.shape(), x.element());
    let rows = x.shape().last(Symbol::ONE, 1);
    let mean = Tensor::new(tape, statistics, rows, ElementType::F32);
    let deviation = Tensor::new(tape, statistics, rows, ElementType::F32);
    recording.save(&mean);
    recording.save(&deviation);
    let parameters: Vec<(Shape, ElementType)> =
        inputs.iter().skip(1).map(|tensor| (tensor.shape(), tensor.element())).collect();
    recording.finish(out, move |call| {
        let mut grads: Gradients = [call.needs.first().copied().unwrap_or(false).then(|| call.like_grad())].into();
        for (i, (shape, element)) in parameters.iter().enumerate() {
            grads.push(call.needs.get(i + 1).copied().unwrap_or(false).then(|| call.grad_like(*shape, *element)));
        }
        grads
    })
}
