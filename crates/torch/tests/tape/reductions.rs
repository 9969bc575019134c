//! Operators along a dimension.

use crate::trace::{Program, X, expect, made, of_one, shape, trace};
use headroom_torch::ElementType::{F32, Half};
use headroom_torch::{Tensor, layer_norm, max_last, mean_last, softmax, sum_to};

/// A layer norm of `x` by `weight` and `bias`.
fn norm(t: &Program, x: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>) -> Tensor {
    layer_norm(x, weight, bias, t.label("statistics"), t.label("out"))
}

#[test]
fn mean_last_saves_nothing() {
    expect(
        of_one(made(&X, F32), |t, x| mean_last(x, t.label("out"))),
        "
        + out 8x64x1 f32, - x, - out
        backward: + grad 8x64x1 f32, + grad2 8x64x256 f32, - grad, - grad2
        ",
    );
}

#[test]
fn sum_to_expands_the_gradient_as_a_view() {
    expect(
        of_one(made(&X, F32), |t, x| sum_to(x, shape(&[8, 256]), t.label("out"))),
        "
        + out 8x256 f32, - x, - out
        backward: + grad 8x256 f32, - grad
        ",
    );
}

#[test]
fn max_last_saves_the_indices() {
    expect(
        of_one(made(&X, F32), |t, x| max_last(x, t.label("out"), t.label("indices"))),
        "
        + out 8x64x1 f32, + indices 8x64x1 i64, - x, - out
        backward: + grad 8x64x1 f32, + grad2 8x64x256 f32, - grad, - indices, - grad2
        ",
    );
}

#[test]
fn softmax_saves_its_result() {
    expect(
        of_one(made(&X, F32), |t, x| softmax(x, F32, t.label("out"))),
        "
        + out 8x64x256 f32, - x
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, - grad3, - grad, - out, - grad2
        ",
    );
}

#[test]
fn layer_norm_saves_its_input_and_statistics() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let weight = t.leaf("weight", &[256], F32);
            let bias = t.leaf("bias", &[256], F32);
            let out = norm(t, &x, Some(&weight), Some(&bias));
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x256 f32, + statistics 8x64x1 f32, + statistics2 8x64x1 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 256 f32, + grad4 256 f32, - grad, - x,
          - statistics, - statistics2, grad4 is bias.grad, grad3 is weight.grad, - grad2
        ",
    );
}

#[test]
fn layer_norm_in_half_keeps_statistics_in_fp32() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, Half);
            let weight = t.leaf("weight", &[256], Half);
            let bias = t.leaf("bias", &[256], Half);
            let out = norm(t, &x, Some(&weight), Some(&bias));
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x256 half, + statistics 8x64x1 f32, + statistics2 8x64x1 f32, - out
        backward: + grad 8x64x256 half, + grad2 8x64x256 half, + grad3 256 half, + grad4 256 half, - grad, - x,
          - statistics, - statistics2, grad4 is bias.grad, grad3 is weight.grad, - grad2
        ",
    );
}

#[test]
fn layer_norm_with_frozen_weights() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let weight = t.fixed("weight", &[256], F32);
            let bias = t.fixed("bias", &[256], F32);
            let out = norm(t, &x, Some(&weight), Some(&bias));
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x256 f32, + statistics 8x64x1 f32, + statistics2 8x64x1 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - x, - statistics, - statistics2, - grad2
        ",
    );
}

#[test]
fn layer_norm_without_weights() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);

            let out = norm(t, &x, None, None);
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x256 f32, + statistics 8x64x1 f32, + statistics2 8x64x1 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - x, - statistics, - statistics2, - grad2
        ",
    );
}

#[test]
fn layer_norm_without_bias() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let weight = t.leaf("weight", &[256], F32);

            let out = norm(t, &x, Some(&weight), None);
            drop(x);
            t.backward([out]);
        }),
        "
        + out 8x64x256 f32, + statistics 8x64x1 f32, + statistics2 8x64x1 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 256 f32, - grad, - x, - statistics,
          - statistics2, grad3 is weight.grad, - grad2
        ",
    );
}

#[test]
fn softmax_of_float16_into_fp32_is_one_kernel() {
    expect(
        of_one(made(&X, Half), |t, x| softmax(x, F32, t.label("out"))),
        "
        + out 8x64x256 f32, - x
        backward: + grad 8x64x256 f32, + grad2 8x64x256 half, + grad3 8x64x256 f32, - grad3, - grad, - out, - grad2
        ",
    );
}
