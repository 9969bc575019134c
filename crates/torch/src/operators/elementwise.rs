//! Operators whose result at a place depends on their inputs at that place alone, one of two perhaps broadcast: what each
//! allocates, saves for backward and allocates there, in the order of PyTorch's generated code (`mul` computes its second
//! gradient first). One that reads along a dimension belongs to `reductions`.

use crate::autograd::{Call, Recording, Tensor};
use crate::label::Label;
use crate::shape::{ElementType, Shape, Symbol, dims};

/// `aten::_to_copy` (`x.to(dtype)`): nothing when it has that dtype already.
pub fn cast(x: &Tensor, element: ElementType, label: Label) -> Tensor {
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

/// `aten::mul.Scalar`, `aten::div.Scalar` and `aten::neg`: backward needs nothing and writes one tensor.
pub fn mul_scalar(x: &Tensor, label: Label) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element()).with_head_major(x.head_major());
    recording.finish(out, |call| [Some(call.like_grad())].into())
}

/// `aten::add.Scalar`: backward passes the gradient on.
pub fn add_scalar(x: &Tensor, label: Label) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element());
    recording.finish(out, |call| [Some(call.grad.clone())].into())
}

/// `aten::add.Tensor`, b perhaps broadcast.
pub fn add(a: &Tensor, b: &Tensor, label: Label) -> Tensor {
    let recording = Recording::begin(a.tape(), &[a, b]);
    let out = Tensor::new(a.tape(), label, larger(a, b), promote(a, b)).with_head_major(a.head_major());
    recording.finish(out, |call| call.needs.iter().map(|need| need.then(|| call.grad.clone())).collect())
}

/// `aten::mul.Tensor`, one of them perhaps broadcast.
pub fn mul(a: &Tensor, b: &Tensor, label: Label) -> Tensor {
    let mut recording = Recording::begin(a.tape(), &[a, b]);
    let (saves_a, saves_b) = (recording.needs(1), recording.needs(0));
    // Saved inputs stand in the order of their names: other, self.
    if saves_b {
        recording.save(b);
    }
    if saves_a {
        recording.save(a);
    }
    let head_major = if a.shape().elements() >= b.shape().elements() { a.head_major() } else { b.head_major() };
    let out = Tensor::new(a.tape(), label, larger(a, b), promote(a, b)).with_head_major(head_major);
    let (element_a, element_b) = (a.element(), b.element());
    recording.finish(out, move |call| {
        let grad_b = saves_a.then(|| times_gradient(call, element_a));
        let grad_a = saves_b.then(|| times_gradient(call, element_b));
        [grad_a, grad_b].into()
    })
}

/// `aten::mul_` (`a.mul_(b)`), b perhaps broadcast: into a itself, of which it saves a copy first where b wants a gradient.
///
/// Where a is a view, it is the whole that changes: backward copies the whole's gradient, and of that the view's once more
/// (`CopySlices::apply` in torch/csrc/autograd/functions/tensor.cpp). The view is then one of what was written.
pub fn mul_in_place(a: &Tensor, b: &Tensor, copy: Label) -> Tensor {
    let mut recording = Recording::begin(a.tape(), &[a, b]);
    let (saves_a, saves_b) = (recording.needs(1), recording.needs(0));
    if saves_b {
        recording.save(b);
    }
    if saves_a {
        recording.save(&Tensor::new(a.tape(), copy, a.shape(), a.element()));
    }
    let (element_a, element_b, is_view) = (a.element(), b.element(), a.is_view());
    let out = recording.finish(a.detach(), move |call| {
        let whole = is_view.then(|| call.like_grad());
        let part = is_view.then(|| call.like_grad());
        let grad_b = saves_a.then(|| times_gradient(call, element_a));
        let grad_a = saves_b.then(|| times_gradient(call, element_b));
        drop(part);
        [whole.or(grad_a), grad_b].into()
    });
    if is_view { as_strided(&out) } else { out }
}

/// `aten::as_strided` of all of `whole`: backward writes the gradient into zeros (Functions.cpp `as_strided_backward`).
fn as_strided(whole: &Tensor) -> Tensor {
    let recording = Recording::begin(whole.tape(), &[whole]);
    recording.finish(whole.detach().into_view(), |call| [Some(call.like_grad())].into())
}

/// The gradient of a product times its other factor.
fn times_gradient(call: &Call<'_>, other: ElementType) -> Tensor {
    let element = if other == ElementType::F32 { ElementType::F32 } else { call.grad.element() };
    call.grad_like(call.grad.shape(), element).with_head_major(call.grad.head_major())
}

/// `aten::pow.Tensor_Scalar`, the square or another constant power: saves x; backward writes x^(n-1), n x^(n-1) and the product.
pub fn pow(x: &Tensor, label: Label) -> Tensor {
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

/// `aten::rsqrt`: saves its result; backward cubes it, scales the gradient, multiplies.
pub fn rsqrt(x: &Tensor, label: Label) -> Tensor {
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

/// A unary operator whose backward reads its input: `aten::silu`, `aten::gelu`.
pub fn unary_saving_input(x: &Tensor, label: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    recording.save(x);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element());
    recording.finish(out, |call| [Some(call.like_grad())].into())
}

/// A unary operator whose backward reads its result: `aten::tanh`, `aten::relu`, `aten::sigmoid`.
pub fn unary_saving_output(x: &Tensor, label: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element()).with_head_major(x.head_major());
    recording.save(&out);
    recording.finish(out, |call| [Some(call.like_grad())].into())
}

/// `aten::clamp` by one bound or two: saves its input; backward compares with each bound and chooses between the gradient and
/// a zero (derivatives.yaml `clamp_backward`).
pub fn clamp(x: &Tensor, bounds: usize, label: Label) -> Tensor {
    let mut recording = Recording::begin(x.tape(), &[x]);
    recording.save(x);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element());
    recording.finish(out, move |call| {
        let zero = call.grad_like(dims(&[(Symbol::ONE, 1)]), call.grad.element());
        let within = || call.grad_like(call.grad.shape(), ElementType::Byte);
        let masks: Vec<Tensor> = (0..bounds).map(|_| within()).collect();
        let grad = call.like_grad();
        masks.into_iter().rev().for_each(drop);
        drop(zero);
        [Some(grad)].into()
    })
}

/// `aten::add_.Tensor` (`x.add_(y)`): into x itself; backward passes the gradient on to both.
pub fn add_in_place(x: &Tensor, y: &Tensor) -> Tensor {
    let recording = Recording::begin(x.tape(), &[x, y]);
    recording.finish(x.detach(), |call| call.needs.iter().map(|need| need.then(|| call.grad.clone())).collect())
}

/// `aten::native_dropout` in training: one byte an element is kept.
pub fn dropout(x: &Tensor, probability: f64, mask: Label, label: Label) -> Tensor {
    if probability <= 0.0 {
        return x.clone();
    }
    let mut recording = Recording::begin(x.tape(), &[x]);
    let mask = Tensor::new(x.tape(), mask, x.shape(), ElementType::Byte);
    let out = Tensor::new(x.tape(), label, x.shape(), x.element()).with_head_major(x.head_major());
    recording.save(&mask);
    recording.finish(out, |call| [Some(call.like_grad())].into())
}

/// `aten::sub.Tensor`, b broadcast: backward negates the gradient for b.
pub fn sub(a: &Tensor, b: &Tensor, label: Label) -> Tensor {
    let recording = Recording::begin(a.tape(), &[a, b]);
    let out = Tensor::new(a.tape(), label, larger(a, b), promote(a, b));
    recording.finish(out, |call| {
        let need = |i: usize| call.needs.get(i).copied().unwrap_or(false);
        let grad_b = need(1).then(|| call.like_grad());
        [need(0).then(|| call.grad.clone()), grad_b].into()
    })
}

fn larger(a: &Tensor, b: &Tensor) -> Shape {
    if a.shape().elements() >= b.shape().elements() { a.shape() } else { b.shape() }
}

fn promote(a: &Tensor, b: &Tensor) -> ElementType {
    if a.element() == ElementType::F32 || b.element() == ElementType::F32 { ElementType::F32 } else { a.element() }
}
