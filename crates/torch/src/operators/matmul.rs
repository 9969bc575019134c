//! Matmuls, with the workspaces that cuBLAS takes: with a weight, and of two activations.

use crate::autograd::{Recording, Tensor};
use crate::label::Label;
use crate::shape::{Shape, Symbol};

/// `aten::bmm` of two activations (scores, probabilities times values): saves both.
///
/// `transposed`: b is the transpose of what the caller has, and its gradient lies so that heads join without a copy.
pub fn matmul(a: &Tensor, b: &Tensor, transposed: bool, shape: Shape, label: Label) -> Tensor {
    let tape = a.tape();
    let mut recording = Recording::begin(tape, &[a, b]);
    let (saves_a, saves_b) = (recording.needs(1), recording.needs(0));
    // Saved inputs stand in the order of their names: bmm's mat2 and self.
    if saves_b {
        recording.save(b);
    }
    if saves_a {
        recording.save(a);
    }
    let out = Tensor::new(tape, label, shape, a.element()).with_head_major(true);
    tape.matmul_workspace();
    let (shape_a, shape_b) = (a.shape(), b.shape());
    recording.finish(out, move |call| {
        let grad_of = |shape: Shape, head_major: bool| {
            let grad = call.grad_like(shape, call.grad.element()).with_head_major(head_major);
            call.tape.matmul_workspace();
            grad
        };
        let grad_b = saves_a.then(|| grad_of(shape_b, !transposed));
        let grad_a = saves_b.then(|| grad_of(shape_a, true));
        [grad_a, grad_b].into()
    })
}

/// `aten::linear`, run as `aten::mm`, or `aten::addmm` where there is a bias: `x` is `[b, s, d_in]`, the weight d_out x d_in.
///
/// Saves x only when the weight trains, and the weight only when x needs a gradient.
pub fn linear(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    width: (impl Into<Symbol>, u64),
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
        tape.bias_matmul_workspace()
    } else {
        tape.matmul_workspace()
    }
    let (x_shape, weight_shape) = (x.shape(), weight.shape());
    let has_bias = bias.is_some();
    recording.finish(out, move |call| {
        let element = call.grad.element();
        let gradient = |shape: Shape| {
            let grad = call.grad_like(shape, element).into_view();
            call.tape.matmul_workspace();
            grad
        };
        if !has_bias {
            // Gradients are computed in the order of the inputs' names too: mat2, self.
            let grad_weight = needs_weight.then(|| gradient(weight_shape));
            let grad_x = needs_x.then(|| gradient(x_shape));
            return [grad_x, grad_weight].into();
        }
        let grad_x = needs_x.then(|| gradient(x_shape));
        let grad_weight = needs_weight.then(|| gradient(weight_shape));
        // The bias's is the whole gradient, summed when the engine looks at it.
        let grad_bias = call.needs.get(2).copied().unwrap_or(false).then(|| call.grad.clone());
        [grad_x, grad_weight, grad_bias].into()
    })
}

/// `LinearFunctionForZeroStage3` (DeepSpeed runtime/zero/linear.py), which stage 3 puts in `torch.nn.functional.linear`'s
/// place: it saves input and weight whatever trains, after its matmul; the bias is added in place; backward computes
/// the input's gradient first.
fn zero3_linear(
    x: &Tensor,
    weight: &Tensor,
    bias: Option<&Tensor>,
    width: (impl Into<Symbol>, u64),
    label: Label,
) -> Tensor {
    let tape = x.tape();
    let mut inputs = vec![x, weight];
    inputs.extend(bias);
    let mut recording = Recording::begin(tape, &inputs);
    let out = Tensor::new(tape, label, x.shape().last(width.0, width.1), x.element());
    tape.matmul_workspace();
    recording.save(x);
    recording.save(weight);
    bias.inspect(|bias| recording.save(bias));
    let shapes: Vec<Shape> = inputs.iter().map(|input| input.shape()).collect();
    recording.finish(out, move |call| {
        let gradient = |(i, shape): (usize, &Shape)| {
            call.needs.get(i).copied().unwrap_or(false).then(|| {
                let gradient = call.grad_like(*shape, call.grad.element());
                match i {
                    0 | 1 => call.tape.matmul_workspace(),
                    // The bias's is `grad_output.sum(...)` over all rows.
                    _ => call.tape.row_sum(call.grad.shape().elements() / shape.width().max(1), shape.width()),
                }
                gradient
            })
        };
        shapes.iter().enumerate().map(gradient).collect()
    })
}
