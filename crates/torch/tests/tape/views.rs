//! Views, and the copies that a layout asks for.

use crate::trace::{HEADS, X, expect, fixed, made, of_one, of_two, shape, trace};
use headroom_torch::ElementType::{F32, Half};
use headroom_torch::{
    Symbol, cat_last, chunk_heads, contiguous, join_pieces, matmul, repeat_heads, share_head, slice_last, slice_rows,
    split_heads, split_last, split_pieces, to_heads, transpose_heads, unfold_batch,
};

/// [`X`] by token: batch, sequence, heads, head dimension.
const TOKENS: [u64; 4] = [8, 64, 4, 64];

#[test]
fn slice_last_writes_zeros_of_the_whole() {
    expect(
        of_one(made(&X, F32), |_, x| slice_last(x, Symbol::ONE, 64)),
        "
        - x
        backward: + grad 8x64x64 f32, + grad2 8x64x256 f32, - grad, - grad2
        ",
    );
}

#[test]
fn slice_rows_writes_zeros_of_the_whole() {
    expect(
        of_one(made(&[512, 256], F32), |_, x| slice_rows(x, shape(&[200, 256]))),
        "
        - x
        backward: + grad 200x256 f32, + grad2 512x256 f32, - grad, - grad2
        ",
    );
}

#[test]
fn split_last_joins_the_gradients() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let parts = split_last(&x, &[(Symbol::ONE, 192), (Symbol::ONE, 64)]);
            drop(x);
            t.backward(parts);
        }),
        "
        - x
        backward: + grad 8x64x192 f32, + grad2 8x64x64 f32, + grad3 8x64x256 f32, - grad, - grad2, - grad3
        ",
    );
}

#[test]
fn chunk_heads_joins_the_gradients() {
    expect(
        trace(|t| {
            let x = t.made("x", &HEADS, F32);
            let parts = chunk_heads(&x, &[(Symbol::ONE, 32), (Symbol::ONE, 32)]);
            drop(x);
            t.backward(parts);
        }),
        "
        - x
        backward: + grad 8x4x64x32 f32, + grad2 8x4x64x32 f32, + grad3 8x4x64x64 f32, - grad, - grad2, - grad3
        ",
    );
}

#[test]
fn repeat_heads_sums_the_gradients() {
    expect(
        of_one(made(&[8, 2, 64, 64], Half), |t, x| repeat_heads(x, shape(&[8, 8, 64, 64]), t.label("out"))),
        "
        + out 8x8x64x64 half, - x, - out
        backward: + grad 8x8x64x64 half, + grad2 8x2x64x64 half, - grad, - grad2
        ",
    );
}

#[test]
fn share_head_copies_nothing_and_sums_the_gradients() {
    expect(
        of_one(made(&[8, 1, 64, 64], Half), |_, x| share_head(x, shape(&[8, 8, 64, 64]))),
        "
        - x
        backward: + grad 8x8x64x64 half, + grad2 8x1x64x64 half, - grad, - grad2
        ",
    );
}

#[test]
fn repeat_heads_by_one_is_nothing() {
    expect(
        of_one(made(&HEADS, F32), |t, x| repeat_heads(x, shape(&HEADS), t.label("out"))),
        "
        - x
        backward: + grad 8x4x64x64 f32, - grad
        ",
    );
}

#[test]
fn cat_last_gives_views_of_the_gradient() {
    expect(
        of_two(made(&[8, 64, 192], F32), made(&[8, 64, 64], F32), |t, a, b| {
            cat_last(&[a, b], shape(&X), t.label("out")).unwrap()
        }),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn pieces_of_a_sequence_are_views_whose_gradients_are_joined() {
    expect(
        trace(|t| {
            let x = t.made("x", &HEADS, F32);
            let pieces = split_pieces(&x, 2);
            drop(x);
            t.backward(pieces);
        }),
        "
        - x
        backward: + grad 8x4x32x64 f32, + grad2 8x4x32x64 f32, + grad3 8x4x64x64 f32, - grad, - grad2, - grad3
        ",
    );
}

#[test]
fn one_piece_is_split_as_well() {
    expect(
        trace(|t| {
            let x = t.made("x", &HEADS, F32);
            let pieces = split_pieces(&x, 1);
            drop(x);
            t.backward(pieces);
        }),
        "
        - x
        backward: + grad 8x4x64x64 f32, + grad2 8x4x64x64 f32, - grad, - grad2
        ",
    );
}

#[test]
fn joined_pieces_are_a_copy_and_give_views_of_their_gradient() {
    expect(
        of_two(made(&[8, 32, 256], F32), made(&[8, 32, 256], F32), |t, a, b| {
            join_pieces(&[a.clone(), b.clone()], shape(&X), t.label("out")).unwrap()
        }),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn cat_last_with_what_wants_none() {
    expect(
        of_two(made(&[8, 64, 192], F32), fixed(&[8, 64, 64], F32), |t, a, b| {
            cat_last(&[a, b], shape(&X), t.label("out")).unwrap()
        }),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn to_heads_is_a_view() {
    expect(
        of_one(made(&X, F32), |_, x| to_heads(x, shape(&HEADS))),
        "
        - x
        backward: + grad 8x4x64x64 f32, - grad
        ",
    );
}

#[test]
fn to_heads_copies_a_gradient_that_lies_head_by_head() {
    expect(
        of_one(made(&X, F32), |t, x| contiguous(&to_heads(x, shape(&HEADS)), shape(&HEADS), t.label("out"), true)),
        "
        + out 8x4x64x64 f32, - x, - out
        backward: + grad 8x4x64x64 f32, + grad2 8x64x256 f32, - grad, - grad2
        ",
    );
}

#[test]
fn split_heads_is_a_view() {
    expect(
        of_one(made(&X, F32), |_, x| split_heads(x, shape(&TOKENS))),
        "
        - x
        backward: + grad 8x64x4x64 f32, - grad
        ",
    );
}

#[test]
fn transpose_heads_is_a_view() {
    expect(
        of_one(made(&TOKENS, F32), |_, x| transpose_heads(x, shape(&HEADS))),
        "
        - x
        backward: + grad 8x4x64x64 f32, - grad
        ",
    );
}

#[test]
fn contiguous_passes_the_gradient_on() {
    expect(
        of_one(made(&HEADS, F32), |t, x| contiguous(x, shape(&X), t.label("out"), false)),
        "
        + out 8x64x256 f32, - x, - out
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn unfold_batch_copies_a_gradient_that_lies_token_by_token() {
    expect(
        of_two(made(&HEADS, F32), made(&HEADS, F32), |t, a, b| {
            let product = matmul(a, b, false, shape(&HEADS), t.label("product"));
            let by_token = transpose_heads(&unfold_batch(&product), shape(&TOKENS));
            drop(product);
            contiguous(&by_token, shape(&X), t.label("out"), false)
        }),
        "
        + product 8x4x64x64 f32, + workspace 8519680 byte, - workspace, + out 8x64x256 f32, - product, - out
        backward: + grad 8x64x256 f32, + grad2 8x4x64x64 f32, - grad, + grad3 8x4x64x64 f32,
          + workspace2 8519680 byte, - workspace2, + grad4 8x4x64x64 f32, + workspace3 8519680 byte, - workspace3,
          - grad2, - b, - a, - grad3, - grad4
        ",
    );
}
