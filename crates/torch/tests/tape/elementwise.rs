//! Elementwise operators.

use crate::trace::{X, expect, fixed, leaf, made, of_one, of_two, shape};
use headroom_torch::ElementType::{F32, Half};
use headroom_torch::{
    add, add_in_place, add_scalar, cast, clamp, dropout, mul, mul_in_place, mul_scalar, pow, rsqrt, sub,
    unary_saving_input, unary_saving_output,
};

/// One number a row of [`X`].
const COLUMN: [u64; 3] = [8, 64, 1];

#[test]
fn cast_narrows() {
    expect(
        of_one(made(&X, F32), |t, x| cast(x, Half, t.label("out"))),
        "
        + out 8x64x256 half, - x, - out
        backward: + grad 8x64x256 half, + grad2 8x64x256 f32, - grad, - grad2
        ",
    );
}

#[test]
fn cast_widens() {
    expect(
        of_one(made(&X, Half), |t, x| cast(x, F32, t.label("out"))),
        "
        + out 8x64x256 f32, - x, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 half, - grad, - grad2
        ",
    );
}

#[test]
fn cast_to_its_own_dtype_is_nothing() {
    expect(
        of_one(made(&X, F32), |t, x| cast(x, F32, t.label("out"))),
        "
        - x
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn mul_scalar_saves_nothing() {
    expect(
        of_one(made(&X, F32), |t, x| mul_scalar(x, t.label("out"))),
        "
        + out 8x64x256 f32, - x, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - grad2
        ",
    );
}

#[test]
fn add_scalar_passes_the_gradient_on() {
    expect(
        of_one(made(&X, F32), |t, x| add_scalar(x, t.label("out"))),
        "
        + out 8x64x256 f32, - x, - out
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn add_passes_one_gradient_to_both() {
    expect(
        of_two(made(&X, F32), made(&X, F32), |t, a, b| add(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn add_to_what_wants_none() {
    expect(
        of_two(made(&X, F32), fixed(&X, F32), |t, a, b| add(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn add_of_what_wants_none() {
    expect(
        of_two(fixed(&X, F32), made(&X, F32), |t, a, b| add(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn add_promotes_and_casts_the_gradient_back() {
    expect(
        of_two(made(&X, Half), made(&X, F32), |t, a, b| add(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 half, - grad, - grad2
        ",
    );
}

#[test]
fn add_of_a_bias_sums_its_gradient() {
    expect(
        of_two(made(&X, F32), leaf(&[256], F32), |t, a, b| add(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - out
        backward: + grad 8x64x256 f32, + grad2 256 f32, grad2 is b.grad, - grad
        ",
    );
}

#[test]
fn add_of_a_bias_over_many_rows_sums_in_parts() {
    expect(
        of_two(made(&[8, 256, 512], F32), leaf(&[512], F32), |t, a, b| add(a, b, t.label("out"))),
        "
        + out 8x256x512 f32, - a, - out
        backward: + grad 8x256x512 f32, + grad2 512 f32, + parts 8388608 byte, + parts2 16 byte, - parts2, - parts,
          grad2 is b.grad, - grad
        ",
    );
}

#[test]
fn add_of_a_narrower_bias_casts_after_the_sum() {
    expect(
        of_two(made(&X, F32), leaf(&[256], Half), |t, a, b| add(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - out
        backward: + grad 8x64x256 f32, + grad2 256 f32, + grad3 256 half, - grad2, grad3 is b.grad, - grad
        ",
    );
}

#[test]
fn sub_negates_the_second_gradient() {
    expect(
        of_two(made(&X, F32), made(&X, F32), |t, a, b| sub(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad2, - grad
        ",
    );
}

#[test]
fn sub_of_what_wants_none() {
    expect(
        of_two(made(&X, F32), fixed(&X, F32), |t, a, b| sub(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn sub_from_what_wants_none() {
    expect(
        of_two(fixed(&X, F32), made(&X, F32), |t, a, b| sub(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - grad2
        ",
    );
}

#[test]
fn sub_of_a_column_sums_after_negating() {
    expect(
        of_two(made(&X, F32), made(&COLUMN, F32), |t, a, b| sub(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - b, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x1 f32, - grad2, - grad3, - grad
        ",
    );
}

#[test]
fn mul_makes_the_second_gradient_first() {
    expect(
        of_two(made(&X, F32), made(&X, F32), |t, a, b| mul(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, - grad, - b, - a, - grad2,
          - grad3
        ",
    );
}

#[test]
fn mul_by_what_wants_none_saves_only_that() {
    expect(
        of_two(made(&X, F32), fixed(&X, F32), |t, a, b| mul(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - a, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - b, - grad2
        ",
    );
}

#[test]
fn mul_of_what_wants_none_saves_only_that() {
    expect(
        of_two(fixed(&X, F32), made(&X, F32), |t, a, b| mul(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - b, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - a, - grad2
        ",
    );
}

#[test]
fn mul_promotes_its_first() {
    expect(
        of_two(made(&X, Half), made(&X, F32), |t, a, b| mul(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, + grad4 8x64x256 half, - grad3,
          - grad, - b, - a, - grad2, - grad4
        ",
    );
}

#[test]
fn mul_promotes_its_second() {
    expect(
        of_two(made(&X, F32), made(&X, Half), |t, a, b| mul(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, + grad4 8x64x256 half, - grad2,
          - grad, - b, - a, - grad4, - grad3
        ",
    );
}

#[test]
fn mul_by_a_weight_sums_its_gradient() {
    expect(
        of_two(made(&X, F32), leaf(&[256], F32), |t, a, b| mul(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, + grad4 256 f32, - grad2, - grad,
          - a, grad4 is b.grad, - grad3
        ",
    );
}

#[test]
fn mul_by_a_weight_over_many_rows_sums_in_parts() {
    expect(
        of_two(made(&[8, 256, 512], F32), leaf(&[512], F32), |t, a, b| mul(a, b, t.label("out"))),
        "
        + out 8x256x512 f32, - out
        backward: + grad 8x256x512 f32, + grad2 8x256x512 f32, + grad3 8x256x512 f32, + grad4 512 f32,
          + parts 8388608 byte, + parts2 16 byte, - parts2, - parts, - grad2, - grad, - a, grad4 is b.grad, - grad3
        ",
    );
}

#[test]
fn mul_of_a_weight_by_an_activation() {
    expect(
        of_two(leaf(&[256], Half), made(&X, Half), |t, a, b| mul(a, b, t.label("out"))),
        "
        + out 8x64x256 half, - out
        backward: + grad 8x64x256 half, + grad2 8x64x256 half, + grad3 8x64x256 half, + grad4 256 half, - grad3,
          - grad, - b, grad4 is a.grad, - grad2
        ",
    );
}

#[test]
fn mul_by_a_column() {
    expect(
        of_two(made(&X, F32), made(&COLUMN, F32), |t, a, b| mul(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, + grad4 8x64x1 f32, - grad2,
          - grad, - b, - a, - grad4, - grad3
        ",
    );
}

#[test]
fn mul_by_a_wider_column() {
    expect(
        of_two(made(&X, Half), made(&COLUMN, F32), |t, a, b| mul(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, + grad4 8x64x256 half, - grad3,
          + grad5 8x64x1 f32, - grad2, - grad, - b, - a, - grad5, - grad4
        ",
    );
}

#[test]
fn pow_saves_its_input() {
    expect(
        of_one(made(&X, F32), |t, x| pow(x, t.label("out"))),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, + grad4 8x64x256 f32, - grad3,
          - grad2, - grad, - x, - grad4
        ",
    );
}

#[test]
fn rsqrt_saves_its_result() {
    expect(
        of_one(made(&X, F32), |t, x| rsqrt(x, t.label("out"))),
        "
        + out 8x64x256 f32, - x
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, + grad4 8x64x256 f32, - grad3,
          - grad2, - grad, - out, - grad4
        ",
    );
}

#[test]
fn silu_saves_its_input() {
    expect(
        of_one(made(&X, F32), |t, x| unary_saving_input(x, t.label("out"))),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - x, - grad2
        ",
    );
}

#[test]
fn tanh_saves_its_result() {
    expect(
        of_one(made(&X, F32), |t, x| unary_saving_output(x, t.label("out"))),
        "
        + out 8x64x256 f32, - x
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - out, - grad2
        ",
    );
}

#[test]
fn clamp_by_one_bound() {
    expect(
        of_one(made(&X, F32), |t, x| clamp(x, 1, t.label("out"))),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 1 f32, + grad3 8x64x256 byte, + grad4 8x64x256 f32, - grad3, - grad2,
          - grad, - x, - grad4
        ",
    );
}

#[test]
fn clamp_by_two_bounds() {
    expect(
        of_one(made(&X, Half), |t, x| clamp(x, 2, t.label("out"))),
        "
        + out 8x64x256 half, - out
        backward: + grad 8x64x256 half, + grad2 1 half, + grad3 8x64x256 byte, + grad4 8x64x256 byte,
          + grad5 8x64x256 half, - grad4, - grad3, - grad2, - grad, - x, - grad5
        ",
    );
}

#[test]
fn dropout_saves_a_mask() {
    expect(
        of_one(made(&X, F32), |t, x| dropout(x, 0.1, t.label("mask"), t.label("out"))),
        "
        + mask 8x64x256 byte, + out 8x64x256 f32, - x, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - mask, - grad2
        ",
    );
}

#[test]
fn dropout_by_nothing_is_nothing() {
    expect(
        of_one(made(&X, F32), |t, x| dropout(x, 0.0, t.label("mask"), t.label("out"))),
        "
        - x
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn add_in_place_takes_nothing() {
    expect(
        of_two(made(&X, F32), made(&X, F32), |_, a, b| add_in_place(a, b)),
        "
        - b, - a
        backward: + grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn mul_in_place_copies_what_it_writes_over() {
    expect(
        of_two(made(&X, F32), made(&COLUMN, F32), |t, a, b| mul_in_place(a, b, t.label("copy"))),
        "
        + copy 8x64x256 f32, - a
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, + grad4 8x64x1 f32, - grad2, - grad,
          - b, - copy, - grad4, - grad3
        ",
    );
}

#[test]
fn mul_in_place_by_what_wants_none_copies_nothing() {
    expect(
        of_two(made(&X, F32), fixed(&COLUMN, F32), |t, a, b| mul_in_place(a, b, t.label("copy"))),
        "
        - a
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - b, - grad2
        ",
    );
}

#[test]
fn mul_in_place_of_a_view_copies_the_gradient_of_the_whole_and_of_the_view() {
    // Of [512, 256] a view like X.
    expect(
        of_two(made(&[512, 256], F32), made(&COLUMN, F32), |t, a, b| {
            mul_in_place(&a.view(shape(&X)), b, t.label("copy"))
        }),
        "
        + copy 8x64x256 f32, - a
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, + grad3 8x64x256 f32, + grad4 8x64x256 f32,
          + grad5 8x64x256 f32, + grad6 8x64x256 f32, - grad4, - grad6, + grad7 8x64x1 f32, - grad5, - grad2, - b, - copy,
          - grad7, - grad3
        ",
    );
}
