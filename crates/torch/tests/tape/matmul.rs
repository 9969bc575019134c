//! Matmuls: of two activations, and with a weight.

use crate::trace::{HEADS, Program, X, expect, fixed, made, of_two, shape, trace};
use headroom_torch::ElementType::{F32, Half};
use headroom_torch::{Symbol, Tensor, linear, matmul};

/// The result of `x` times a weight of 512 rows.
fn times(t: &Program, x: &Tensor, weight: &Tensor, bias: Option<&Tensor>) -> Tensor {
    linear(x, weight, bias, (Symbol::ONE, 512), t.label("out"))
}

#[test]
fn matmul_saves_both() {
    expect(
        of_two(made(&HEADS, F32), made(&HEADS, F32), |t, a, b| matmul(a, b, false, shape(&HEADS), t.label("out"))),
        "
        + out 8x4x64x64 f32, + workspace 8519680 byte, - workspace, - out
        backward: + grad 8x4x64x64 f32, + grad2 8x4x64x64 f32, + workspace2 8519680 byte, - workspace2,
          + grad3 8x4x64x64 f32, + workspace3 8519680 byte, - workspace3, - grad, - b, - a, - grad2, - grad3
        ",
    );
}

#[test]
fn matmul_with_what_wants_none_saves_only_that() {
    expect(
        of_two(made(&HEADS, F32), fixed(&HEADS, F32), |t, a, b| matmul(a, b, false, shape(&HEADS), t.label("out"))),
        "
        + out 8x4x64x64 f32, + workspace 8519680 byte, - workspace, - a, - out
        backward: + grad 8x4x64x64 f32, + grad2 8x4x64x64 f32, + workspace2 8519680 byte, - workspace2, - grad, - b,
          - grad2
        ",
    );
}

#[test]
fn matmul_of_what_wants_none_saves_only_that() {
    expect(
        of_two(fixed(&HEADS, F32), made(&HEADS, F32), |t, a, b| matmul(a, b, false, shape(&HEADS), t.label("out"))),
        "
        + out 8x4x64x64 f32, + workspace 8519680 byte, - workspace, - b, - out
        backward: + grad 8x4x64x64 f32, + grad2 8x4x64x64 f32, + workspace2 8519680 byte, - workspace2, - grad, - a,
          - grad2
        ",
    );
}

#[test]
fn linear_makes_the_weights_gradient_first() {
    expect(
        trace(|t| {
            let (x, weight) = (t.made("x", &X, F32), t.leaf("weight", &[512, 256], F32));

            let out = times(t, &x, &weight, None);
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 f32, + workspace 8519680 byte, - workspace, - out
        backward: + grad 8x64x512 f32, + grad2 512x256 f32, + workspace2 8519680 byte, - workspace2,
          + grad3 8x64x256 f32, + workspace3 8519680 byte, - workspace3, - grad, - x, grad2 is weight.grad, - grad3
        ",
    );
}

#[test]
fn linear_with_a_frozen_weight_saves_no_input() {
    expect(
        trace(|t| {
            let (x, weight) = (t.made("x", &X, F32), t.fixed("weight", &[512, 256], F32));

            let out = times(t, &x, &weight, None);
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 f32, + workspace 8519680 byte, - workspace, - x, - out
        backward: + grad 8x64x512 f32, + grad2 8x64x256 f32, + workspace2 8519680 byte, - workspace2, - grad,
          - grad2
        ",
    );
}

#[test]
fn linear_of_what_wants_no_gradient_saves_only_its_input() {
    expect(
        trace(|t| {
            let (x, weight) = (t.fixed("x", &X, F32), t.leaf("weight", &[512, 256], F32));

            let out = times(t, &x, &weight, None);
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 f32, + workspace 8519680 byte, - workspace, - out
        backward: + grad 8x64x512 f32, + grad2 512x256 f32, + workspace2 8519680 byte, - workspace2, - grad, - x,
          grad2 is weight.grad
        ",
    );
}

#[test]
fn linear_in_half_takes_half() {
    expect(
        trace(|t| {
            let (x, weight) = (t.made("x", &X, Half), t.leaf("weight", &[512, 256], Half));

            let out = times(t, &x, &weight, None);
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 half, + workspace 8519680 byte, - workspace, - out
        backward: + grad 8x64x512 half, + grad2 512x256 half, + workspace2 8519680 byte, - workspace2,
          + grad3 8x64x256 half, + workspace3 8519680 byte, - workspace3, - grad, - x, grad2 is weight.grad, - grad3
        ",
    );
}

#[test]
fn linear_with_a_bias_makes_the_inputs_gradient_first() {
    expect(
        trace(|t| {
            let (x, weight) = (t.made("x", &X, F32), t.leaf("weight", &[512, 256], F32));
            let bias = t.leaf("bias", &[512], F32);
            let out = times(t, &x, &weight, Some(&bias));
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 f32, + lt 1048576 byte, - lt, - out
        backward: + grad 8x64x512 f32, + grad2 8x64x256 f32, + workspace 8519680 byte, - workspace,
          + grad3 512x256 f32, + workspace2 8519680 byte, - workspace2, + grad4 512 f32, - grad, - x,
          grad4 is bias.grad, grad3 is weight.grad, - grad2
        ",
    );
}

#[test]
fn linear_with_a_bias_over_many_rows_sums_in_parts() {
    expect(
        trace(|t| {
            let (x, weight) = (t.made("x", &[8, 256, 256], F32), t.leaf("weight", &[512, 256], F32));
            let bias = t.leaf("bias", &[512], F32);
            let out = times(t, &x, &weight, Some(&bias));
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x256x512 f32, + lt 1048576 byte, - lt, - out
        backward: + grad 8x256x512 f32, + grad2 8x256x256 f32, + workspace 8519680 byte, - workspace,
          + grad3 512x256 f32, + workspace2 8519680 byte, - workspace2, + grad4 512 f32, + parts 8388608 byte,
          + parts2 16 byte, - parts2, - parts, - grad, - x, grad4 is bias.grad, grad3 is weight.grad, - grad2
        ",
    );
}

#[test]
fn linear_with_a_frozen_bias() {
    expect(
        trace(|t| {
            let (x, weight) = (t.made("x", &X, F32), t.fixed("weight", &[512, 256], F32));
            let bias = t.fixed("bias", &[512], F32);
            let out = times(t, &x, &weight, Some(&bias));
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 f32, + lt 1048576 byte, - lt, - x, - out
        backward: + grad 8x64x512 f32, + grad2 8x64x256 f32, + workspace 8519680 byte, - workspace, - grad, - grad2
        ",
    );
}

#[test]
fn linear_whose_bias_alone_trains() {
    expect(
        trace(|t| {
            let (x, weight) = (t.made("x", &X, F32), t.fixed("weight", &[512, 256], F32));
            let bias = t.leaf("bias", &[512], F32);
            let out = times(t, &x, &weight, Some(&bias));
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 f32, + lt 1048576 byte, - lt, - x, - out
        backward: + grad 8x64x512 f32, + grad2 8x64x256 f32, + workspace 8519680 byte, - workspace, + grad3 512 f32,
          - grad, grad3 is bias.grad, - grad2
        ",
    );
}

#[test]
fn linear_with_a_bias_of_what_wants_no_gradient() {
    expect(
        trace(|t| {
            let (x, weight) = (t.fixed("x", &X, F32), t.leaf("weight", &[512, 256], F32));
            let bias = t.leaf("bias", &[512], F32);
            let out = times(t, &x, &weight, Some(&bias));
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 f32, + lt 1048576 byte, - lt, - out
        backward: + grad 8x64x512 f32, + grad2 512x256 f32, + workspace 8519680 byte, - workspace, + grad3 512 f32,
          - grad, - x, grad3 is bias.grad, grad2 is weight.grad
        ",
    );
}

#[test]
fn zero3_linear_saves_its_input_and_weight() {
    expect(
        trace(|t| {
            t.tape.zero3_linear.set(true);
            let (x, weight) = (t.made("x", &X, F32), t.leaf("weight", &[512, 256], F32));

            let out = times(t, &x, &weight, None);
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 f32, + workspace 8519680 byte, - workspace, - out
        backward: + grad 8x64x512 f32, + grad2 8x64x256 f32, + workspace2 8519680 byte, - workspace2,
          + grad3 512x256 f32, + workspace3 8519680 byte, - workspace3, - grad, - x, grad3 is weight.grad, - grad2
        ",
    );
}

#[test]
fn zero3_linear_with_a_frozen_weight_saves_its_input() {
    expect(
        trace(|t| {
            t.tape.zero3_linear.set(true);
            let (x, weight) = (t.made("x", &X, F32), t.fixed("weight", &[512, 256], F32));

            let out = times(t, &x, &weight, None);
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 f32, + workspace 8519680 byte, - workspace, - out
        backward: + grad 8x64x512 f32, + grad2 8x64x256 f32, + workspace2 8519680 byte, - workspace2, - grad, - x,
          - grad2
        ",
    );
}

#[test]
fn zero3_linear_adds_its_bias_in_place() {
    expect(
        trace(|t| {
            t.tape.zero3_linear.set(true);
            let (x, weight) = (t.made("x", &X, F32), t.leaf("weight", &[512, 256], F32));
            let bias = t.leaf("bias", &[512], F32);
            let out = times(t, &x, &weight, Some(&bias));
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x512 f32, + workspace 8519680 byte, - workspace, - out
        backward: + grad 8x64x512 f32, + grad2 8x64x256 f32, + workspace2 8519680 byte, - workspace2,
          + grad3 512x256 f32, + workspace3 8519680 byte, - workspace3, + grad4 512 f32, - grad, - x,
          grad4 is bias.grad, grad3 is weight.grad, - grad2
        ",
    );
}

#[test]
fn zero3_linear_with_a_bias_over_many_rows() {
    expect(
        trace(|t| {
            t.tape.zero3_linear.set(true);
            let (x, weight) = (t.made("x", &[8, 256, 256], F32), t.leaf("weight", &[512, 256], F32));
            let bias = t.leaf("bias", &[512], F32);
            let out = times(t, &x, &weight, Some(&bias));
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x256x512 f32, + workspace 8519680 byte, - workspace, - out
        backward: + grad 8x256x512 f32, + grad2 8x256x256 f32, + workspace2 8519680 byte, - workspace2,
          + grad3 512x256 f32, + workspace3 8519680 byte, - workspace3, + grad4 512 f32, + parts 8388608 byte,
          + parts2 16 byte, - parts2, - parts, - grad, - x, grad4 is bias.grad, grad3 is weight.grad, - grad2
        ",
    );
}
