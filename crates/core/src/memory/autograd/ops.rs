//! The operators that transformers' forward code is made of: what each allocates, what it saves for backward, and what
//! its backward allocates, in the order of PyTorch's generated code (`mul` computes its second gradient first).

use super::backward::{Call, Gradients, Recording};
use super::shape::{ElementType, Shape, dims};
use super::symbol::Sym;
use super::tape::{Label, Tape};
use super::tensor::Tensor;
use std::rc::Rc;

/// `x.to(dtype)`: nothing when it has that dtype already.
pub(in crate::memory) fn cast(x: &Tensor, element: ElementType, label: Label) -> Tensor {
    if x.element() == element {
        return x.clone();
    }
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape(), element).with_head_major(x.head_major());
    let from = x.element();
    recording.finish(out, move |call| {
        [Some(call.grad_like(call.grad.shape(), from).with_head_major(call.grad.head_major()))].into()
    })
}

/// An elementwise operator whose backward needs nothing and writes one tensor: negation, times a number.
pub(in crate::memory) fn scale(x: &Tensor, label: Label) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element()).with_head_major(x.head_major());
    recording.finish(out, |call| [Some(call.like_grad())].into())
}

/// Adds a number: backward passes the gradient on.
pub(in crate::memory) fn add_number(x: &Tensor, label: Label) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element());
    recording.finish(out, |call| [Some(call.grad.clone())].into())
}

/// `a + b`, b perhaps broadcast.
pub(in crate::memory) fn add(a: &Tensor, b: &Tensor, label: Label) -> Tensor {
    let recording = Recording::begin(a.tape(), &[a, b]);
    let out = Tensor::new(a.tape(), label, larger(a, b), promote(a, b)).with_head_major(a.head_major());
    recording.finish(out, |call| call.needs.iter().map(|need| need.then(|| call.grad.clone())).collect())
}

/// `a * b`, one of them perhaps broadcast.
pub(in crate::memory) fn mul(a: &Tensor, b: &Tensor, label: Label) -> Tensor {
    let mut recording = Recording::begin(a.tape(), &[a, b]);
    let (saves_a, saves_b) = (recording.needs(1), recording.needs(0));
    if saves_a {
        recording.save(a);
    }
    if saves_b {
        recording.save(b);
    }
    let head_major = if a.shape().elements() >= b.shape().elements() { a.head_major() } else { b.head_major() };
    let out = Tensor::new(a.tape(), label, larger(a, b), promote(a, b)).with_head_major(head_major);
    let (element_a, element_b) = (a.element(), b.element());
    recording.finish(out, move |call| {
        let product = |other: ElementType| {
            let element = if other == ElementType::F32 { ElementType::F32 } else { call.grad.element() };
            call.grad_like(call.grad.shape(), element).with_head_major(call.grad.head_major())
        };
        let grad_b = saves_a.then(|| product(element_a));
        let grad_a = saves_b.then(|| product(element_b));
        [grad_a, grad_b].into()
    })
}

/// `x.pow(2)` or another constant power: saves x; backward writes x^(n-1), n x^(n-1) and the product.
pub(in crate::memory) fn pow(x: &Tensor, label: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    recording.save(x);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element());
    recording.finish(out, |call| {
        let power = call.like_grad();
        let scaled = call.like_grad();
        let grad = call.like_grad();
        drop(scaled);
        drop(power);
        [Some(grad)].into()
    })
}

/// `x.mean(-1, keepdim=True)`: backward spreads the gradient out again.
pub(in crate::memory) fn mean_last(x: &Tensor, label: Label) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape().last(Sym::One, 1), x.element());
    let shape = x.shape();
    recording.finish(out, move |call| [Some(call.grad_like(shape, call.grad.element()))].into())
}

/// `torch.rsqrt(x)`: saves its result; backward cubes it, scales the gradient, multiplies.
pub(in crate::memory) fn rsqrt(x: &Tensor, label: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element());
    recording.save(&out);
    recording.finish(out, |call| {
        let cube = call.like_grad();
        let scaled = call.like_grad();
        let grad = call.like_grad();
        drop(scaled);
        drop(cube);
        [Some(grad)].into()
    })
}

/// An elementwise kernel that saves its input: silu, gelu.
pub(in crate::memory) fn activation_saving_input(x: &Tensor, label: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    recording.save(x);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element());
    recording.finish(out, |call| [Some(call.like_grad())].into())
}

/// An elementwise kernel that saves its output: tanh, relu, sigmoid.
pub(in crate::memory) fn activation_saving_output(x: &Tensor, label: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element()).with_head_major(x.head_major());
    recording.save(&out);
    recording.finish(out, |call| [Some(call.like_grad())].into())
}

/// `softmax(x)` into `element`: saves its result; backward multiplies gradient and result first
/// (aten/src/ATen/native/cuda/SoftMax.cu, softmax_backward_cuda_out).
pub(in crate::memory) fn softmax(x: &Tensor, element: ElementType, label: Label) -> Tensor {
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

/// `x.clamp` by one bound or two: saves its input; backward compares with each bound and chooses between the gradient and
/// a zero (derivatives.yaml `clamp_backward`).
pub(in crate::memory) fn clamp(x: &Tensor, bounds: usize, label: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    recording.save(x);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element());
    recording.finish(out, move |call| {
        let zero = call.grad_like(dims(&[(Sym::One, 1)]), call.grad.element());
        let within = || call.grad_like(call.grad.shape(), ElementType::Byte);
        let masks: Vec<Tensor> = (0..bounds).map(|_| within()).collect();
        let grad = call.like_grad();
        drop((masks, zero));
        [Some(grad)].into()
    })
}

/// `x.add_(y)`: into x itself; backward passes the gradient on to both.
pub(in crate::memory) fn add_in_place(x: &Tensor, y: &Tensor) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x, y]);
    recording.finish(x.detach(), |call| call.needs.iter().map(|need| need.then(|| call.grad.clone())).collect())
}

/// `x.max(dim=-1, keepdim=True).values`: the indices are made too, and kept; backward scatters into zeros.
pub(in crate::memory) fn max_last(x: &Tensor, label: Label, indices: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    let (whole, row) = (x.shape(), x.shape().last(Sym::One, 1));
    let out = Tensor::new(x.tape(), label, row, x.element());
    recording.save(&Tensor::new(x.tape(), indices, row, ElementType::I64));
    recording.finish(out, move |call| [Some(call.grad_like(whole, call.grad.element()).with_head_major(true))].into())
}

/// `torch.nn.functional.dropout` in training: one byte an element is kept.
pub(in crate::memory) fn dropout(x: &Tensor, probability: f64, mask: Label, label: Label) -> Tensor {
    if probability <= 0.0 {
        return x.clone();
    }
    let mut recording = Recording::begin(x.tape(), &[x]);
    let mask = Tensor::new(x.tape(), mask, x.shape(), ElementType::Byte);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element()).with_head_major(x.head_major());
    recording.save(&mask);
    recording.finish(out, |call| [Some(call.like_grad())].into())
}

/// `torch.nn.functional.layer_norm`: saves its input and the mean and reciprocal deviation of each row, in fp32.
pub(in crate::memory) fn layer_norm(
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
    let rows = x.shape().last(Sym::One, 1);
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

/// Rows of an embedding: saves the indices only, which the caller holds.
pub(in crate::memory) fn embedding(weight: &Tensor, shape: Shape, label: Label) -> Tensor {
    let recording = Recording::begin(weight.tape(), &[weight]);
    let out = Tensor::new(weight.tape(), label, shape, weight.element());
    let (table, element) = (weight.shape(), weight.element());
    recording.finish(out, move |call| {
        let width = table.width().max(1);
        let (tokens, rows) = (shape.elements() / width, table.elements() / width);
        if tokens <= EMBEDDING_SORT_TOKENS {
            return [Some(call.grad_like(table, element))].into();
        }
        let indices = |n| call.grad_like(dims(&[(Sym::Tokens, n)]), ElementType::I64);
        let sorted = (indices(tokens), indices(tokens));
        drop(indices(tokens));
        let grad = call.grad_like(table, element);
        let segments = tokens.min(rows);
        let partials = tokens / EMBEDDING_ROWS_A_THREAD + segments;
        let offsets = (indices(tokens), indices(1));
        let per_segment = (indices(segments), indices(segments), indices(1));
        let starts = indices(partials);
        let sums = call.grad_like(dims(&[(Sym::Segments, partials), (Sym::H, width)]), ElementType::F32);
        drop((sums, starts, per_segment, offsets, sorted));
        [Some(grad)].into()
    })
}

/// Up to so many tokens one kernel adds an embedding's gradient; more are sorted first, and each segment of equal ones is
/// summed in fp32 (aten/src/ATen/native/cuda/Embedding.cu `embedding_dense_backward_cuda`, EmbeddingBackwardKernel.cu
/// `NROWS_PER_THREAD`).
const EMBEDDING_SORT_TOKENS: u64 = 3072;
const EMBEDDING_ROWS_A_THREAD: u64 = 10;

/// A part of the last dimension, as a view; backward writes zeros of the whole and copies the part in.
pub(in crate::memory) fn slice_last(x: &Tensor, sym: Sym, size: u64) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = x.detach().view(x.shape().last(sym, size));
    let whole = x.shape();
    recording.finish(out, move |call| [Some(call.grad_like(whole, call.grad.element()).with_head_major(true))].into())
}

/// `x.split(sizes, dim=-1)` or `chunk`: views of one storage; backward joins their gradients into one tensor.
pub(in crate::memory) fn split_last(x: &Tensor, sizes: &[(Sym, u64)]) -> Vec<Tensor> {
    split(x, sizes, false)
}

/// The same of heads, whose joined gradient lies head by head.
pub(in crate::memory) fn chunk_heads(x: &Tensor, sizes: &[(Sym, u64)]) -> Vec<Tensor> {
    split(x, sizes, true)
}

fn split(x: &Tensor, sizes: &[(Sym, u64)], head_major: bool) -> Vec<Tensor> {
    let recording = Recording::begin(x.tape(), &[x]);
    let whole = x.shape();
    let parts = sizes.iter().map(|(sym, size)| x.detach().view(whole.last(*sym, *size))).collect();
    recording.finish_many(parts, move |call| {
        [Some(call.grad_like(whole, call.grad.element()).with_head_major(head_major))].into()
    })
}

/// `a - b`, b broadcast: backward negates the gradient for b.
pub(in crate::memory) fn sub(a: &Tensor, b: &Tensor, label: Label) -> Tensor {
    let recording = Recording::begin(a.tape(), &[a, b]);
    let out = Tensor::new(a.tape(), label, larger(a, b), promote(a, b));
    recording.finish(out, |call| {
        let need = |i: usize| call.needs.get(i).copied().unwrap_or(false);
        let grad_b = need(1).then(|| call.like_grad());
        [need(0).then(|| call.grad.clone()), grad_b].into()
    })
}

/// `repeat_kv`: every key and value head written out as often as queries share it; backward sums them again.
pub(in crate::memory) fn repeat_heads(x: &Tensor, shape: Shape, label: Label) -> Tensor {
    if shape.elements() == x.shape().elements() {
        return x.clone();
    }
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, shape, x.element()).with_head_major(true);
    let narrow = x.shape();
    // A sum lays its result out anew, head by head.
    recording.finish(out, move |call| [Some(call.grad_like(narrow, call.grad.element()).with_head_major(true))].into())
}

/// `torch.cat` of parts along the last dimension: backward gives views of the gradient.
pub(in crate::memory) fn cat_last(parts: &[&Tensor], shape: Shape, label: Label) -> Option<Tensor> {
    let first = parts.first()?;
    let recording = Recording::begin(first.tape(), parts);
    let out = Tensor::new(first.tape(), label, shape, first.element()).with_head_major(true);
    let shapes: Vec<Shape> = parts.iter().map(|part| part.shape()).collect();
    Some(recording.finish(out, move |call| {
        shapes.iter().zip(call.needs).map(|(shape, need)| need.then(|| call.grad.view(*shape))).collect()
    }))
}

/// `[b, s, a·d]` seen as `[b, a, s, d]`. Backward copies a gradient that lies head by head, because the projection
/// wants it token by token.
pub(in crate::memory) fn to_heads(x: &Tensor, shape: Shape) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let flat = x.shape();
    let out = x.detach().view(shape);
    recording.finish(out, move |call| {
        if call.grad.head_major() {
            [Some(call.grad_like(flat, call.grad.element()))].into()
        } else {
            [Some(call.grad.view(flat))].into()
        }
    })
}

/// `[b, s, a·d]` seen as `[b, s, a, d]`: backward copies a gradient that lies otherwise.
pub(in crate::memory) fn split_heads(x: &Tensor, shape: Shape) -> Tensor {
    to_heads(x, shape)
}

/// `x.transpose(1, 2)`: backward passes the gradient on.
pub(in crate::memory) fn transpose_heads(x: &Tensor, shape: Shape) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let from = x.shape();
    let out = x.detach().view(shape);
    recording.finish(out, move |call| [Some(call.grad.view(from))].into())
}

/// A batched product's result seen with its batch and head dimensions apart: backward joins them again, which copies a
/// gradient that lies token by token.
pub(in crate::memory) fn unfold_batch(x: &Tensor) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let batched = x.shape().sizes().first().is_some_and(|size| *size > 1);
    recording.finish(x.detach(), move |call| {
        if batched && !call.grad.head_major() {
            [Some(call.like_grad().with_head_major(true))].into()
        } else {
            [Some(call.grad.clone())].into()
        }
    })
}

/// `x.contiguous()` or a reshape that must copy: backward passes the gradient on.
pub(in crate::memory) fn copy(x: &Tensor, shape: Shape, label: Label, head_major: bool) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, shape, x.element()).with_head_major(head_major);
    let from = x.shape();
    recording.finish(out, move |call| [Some(call.grad.view(from))].into())
}

/// A matrix product of two activations (scores, probabilities times values): saves both.
///
/// `transposed`: b is the transpose of what the caller has, and its gradient lies so that heads join without a copy.
pub(in crate::memory) fn matmul(a: &Tensor, b: &Tensor, transposed: bool, shape: Shape, label: Label) -> Tensor {
    let tape = a.tape();
    let mut recording = Recording::begin(tape, &[a, b]);
    let (saves_a, saves_b) = (recording.needs(1), recording.needs(0));
    if saves_a {
        recording.save(a);
    }
    if saves_b {
        recording.save(b);
    }
    let out = Tensor::new(tape, label, shape, a.element()).with_head_major(true);
    tape.product_workspace();
    let (shape_a, shape_b) = (a.shape(), b.shape());
    recording.finish(out, move |call| {
        let grad_of = |shape: Shape, head_major: bool| {
            let grad = call.grad_like(shape, call.grad.element()).with_head_major(head_major);
            call.tape.product_workspace();
            grad
        };
        let grad_b = saves_a.then(|| grad_of(shape_b, !transposed));
        let grad_a = saves_b.then(|| grad_of(shape_a, true));
        [grad_a, grad_b].into()
    })
}

/// A product with a weight: `x` is `[b, s, d_in]`, the weight d_out x d_in.
///
/// Saves x only when the weight trains, and the weight only when x needs a gradient.
pub(in crate::memory) fn linear(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    width: (Sym, u64),
    label: Label,
) -> Tensor {
    let tape = x.tape();
    if tape.zero3_linear.get() {
        return zero3_linear(x, weight, bias, width, label);
    }
    let mut inputs = vec![x, weight];
    inputs.extend(bias);
    let mut recording = Recording::begin(tape, &inputs);
    let (needs_x, needs_weight) = (recording.needs(0), recording.needs(1));
    // Saved inputs stand in the order of their names: mm's mat2 and self, addmm's mat1 and mat2.
    if bias.is_some() && needs_weight {
        recording.save(x);
    }
    if needs_x {
        recording.save(weight);
    }
    if bias.is_none() && needs_weight {
        recording.save(x);
    }
    let out = Tensor::new(tape, label, x.shape().last(width.0, width.1), x.element());
    if bias.is_some() {
        tape.bias_product_workspace()
    } else {
        tape.product_workspace()
    }
    let (x_shape, weight_shape) = (x.shape(), weight.shape());
    let has_bias = bias.is_some();
    recording.finish(out, move |call| {
        let element = call.grad.element();
        let product = |shape: Shape| {
            let grad = call.grad_like(shape, element).into_view();
            call.tape.product_workspace();
            grad
        };
        if !has_bias {
            // Gradients are computed in the order of the inputs' names too: mat2, self.
            let grad_weight = needs_weight.then(|| product(weight_shape));
            let grad_x = needs_x.then(|| product(x_shape));
            return [grad_x, grad_weight].into();
        }
        let grad_x = needs_x.then(|| product(x_shape));
        let grad_weight = needs_weight.then(|| product(weight_shape));
        // The bias's is the whole gradient, summed when the engine looks at it.
        let grad_bias = call.needs.get(2).copied().unwrap_or(false).then(|| call.grad.clone());
        [grad_x, grad_weight, grad_bias].into()
    })
}

/// `LinearFunctionForZeroStage3` (DeepSpeed runtime/zero/linear.py), which stage 3 puts in `torch.nn.functional.linear`'s
/// place: it saves input and weight whatever trains, after its product; the bias is added in place; backward computes
/// the input's gradient first.
fn zero3_linear(x: &Tensor, weight: &Tensor, bias: Option<&Tensor>, width: (Sym, u64), label: Label) -> Tensor {
    let tape = x.tape();
    let mut inputs = vec![x, weight];
    inputs.extend(bias);
    let mut recording = Recording::begin(tape, &inputs);
    let out = Tensor::new(tape, label, x.shape().last(width.0, width.1), x.element());
    tape.product_workspace();
    recording.save(x);
    recording.save(weight);
    bias.inspect(|bias| recording.save(bias));
    let shapes: Vec<Shape> = inputs.iter().map(|input| input.shape()).collect();
    recording.finish(out, move |call| {
        let gradient = |(i, shape): (usize, &Shape)| {
            call.needs.get(i).copied().unwrap_or(false).then(|| {
                let gradient = call.grad_like(*shape, call.grad.element());
                if i < 2 {
                    call.tape.product_workspace();
                }
                gradient
            })
        };
        shapes.iter().enumerate().map(gradient).collect()
    })
}

/// An operator of one's own: `inputs`, what it saves, its output and its backward.
pub(in crate::memory) fn custom(
    tape: &Rc<Tape>,
    inputs: &[&Tensor],
    forward: impl FnOnce(&mut Recording) -> Tensor,
    run: impl Fn(&Call<'_>) -> Gradients + 'static,
) -> Tensor {
    let mut recording = Recording::begin(tape, inputs);
    let out = forward(&mut recording);
    recording.finish(out, run)
}

fn larger(a: &Tensor, b: &Tensor) -> Shape {
    if a.shape().elements() >= b.shape().elements() { a.shape() } else { b.shape() }
}

fn promote(a: &Tensor, b: &Tensor) -> ElementType {
    if a.element() == ElementType::F32 || b.element() == ElementType::F32 { ElementType::F32 } else { a.element() }
}
