//! Rows of a table.

use crate::trace::{expect, shape, trace};
use headroom_torch::ElementType::{F32, Half};
use headroom_torch::embedding;

#[test]
fn embedding_of_up_to_3072_tokens_adds_in_one_kernel() {
    expect(
        trace(|t| {
            let table = t.leaf("table", &[1000, 256], F32);
            t.backward([embedding(&table, shape(&[3072, 256]), t.label("out"))]);
        }),
        "
        + out 3072x256 f32, - out
        backward: + grad 3072x256 f32, + grad2 1000x256 f32, - grad, grad2 is table.grad
        ",
    );
}

#[test]
fn embedding_of_more_tokens_sorts_them() {
    expect(
        trace(|t| {
            let table = t.leaf("table", &[1000, 256], F32);
            t.backward([embedding(&table, shape(&[4096, 256]), t.label("out"))]);
        }),
        "
        + out 4096x256 f32, - out
        backward: + grad 4096x256 f32, + grad2 4096 i64, + grad3 4096 i64, + grad4 4096 i64, - grad4,
          + grad5 1000x256 f32, + grad6 4096 i64, + grad7 1 i64, + grad8 4096 i64, - grad8, + grad9 1000 i64,
          + grad10 1000 i64, + grad11 1 i64, + grad12 1409 i64, + grad13 1409x256 f32, - grad13, - grad12, - grad11,
          - grad10, - grad9, - grad7, - grad6, - grad3, - grad2, - grad, grad5 is table.grad
        ",
    );
}

#[test]
fn embedding_in_a_large_table_has_a_segment_a_token() {
    expect(
        trace(|t| {
            let table = t.leaf("table", &[32000, 256], Half);
            t.backward([embedding(&table, shape(&[4096, 256]), t.label("out"))]);
        }),
        "
        + out 4096x256 half, - out
        backward: + grad 4096x256 half, + grad2 4096 i64, + grad3 4096 i64, + grad4 4096 i64, - grad4,
          + grad5 32000x256 half, + grad6 4096 i64, + grad7 1 i64, + grad8 4096 i64, - grad8, + grad9 4096 i64,
          + grad10 4096 i64, + grad11 1 i64, + grad12 4505 i64, + grad13 4505x256 f32, - grad13, - grad12, - grad11,
          - grad10, - grad9, - grad7, - grad6, - grad3, - grad2, - grad, grad5 is table.grad
        ",
    );
}
