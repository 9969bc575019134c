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
        "",
    );
}

#[test]
fn embedding_of_more_tokens_sorts_them() {
    expect(
        trace(|t| {
            let table = t.leaf("table", &[1000, 256], F32);
            t.backward([embedding(&table, shape(&[4096, 256]), t.label("out"))]);
        }),
        "",
    );
}

#[test]
fn embedding_in_a_large_table_has_a_segment_a_token() {
    expect(
        trace(|t| {
            let table = t.leaf("table", &[32000, 256], Half);
            t.backward([embedding(&table, shape(&[4096, 256]), t.label("out"))]);
        }),
        "",
    );
}
