//! Rows chosen by their numbers. PyTorch's trace is that of `x[None, places[:, 0]]` and of `index_add_`, 512 rows of 256 numbers of
//! which 200 are chosen.

use crate::trace::{expect, made, of_two, shape, trace};
use headroom_torch::ElementType::{Half, I64};
use headroom_torch::{add_rows_at, put_rows_at, rows_at};

const ALL: [u64; 2] = [512, 256];
const SOME: [u64; 2] = [200, 256];
/// A row's number, and another of the same row.
const PLACES: [u64; 2] = [200, 2];

#[test]
fn rows_are_added_to_zeros_of_all_once_their_places_are_sorted() {
    expect(
        trace(|t| {
            let (x, places) = (t.made("x", &ALL, Half), t.fixed("places", &PLACES, I64));
            let out = rows_at(&x, &places, shape(&SOME), t.label("out"));
            drop((x, places));
            t.backward([out]);
        }),
        "
        + out 200x256 half, - x, - out
        backward: + grad 200x256 half, + grad2 512x256 half, + grad3 200 i64, + grad4 200 i64, - grad3,
          + grad5 200 i64, + grad6 200 i64, + grad7 200 i64, - grad5, - grad6, - grad7, - grad4, - grad, - places, - grad2
        ",
    );
}

#[test]
fn adding_rows_keeps_them_for_their_shape_and_writing_them_does_not() {
    let with = |run: fn(&headroom_torch::Tensor, &headroom_torch::Tensor, &headroom_torch::Tensor) -> _| {
        of_two(made(&ALL, Half), made(&SOME, Half), move |t, sum, rows| {
            run(sum, &t.fixed("places", &PLACES, I64), rows)
        })
    };
    // The gradient of the sum is that of what was there before.
    expect(
        with(add_rows_at),
        "
        - a
        backward: + grad 512x256 half, + grad2 200x256 half, - places, - b, - grad2, - grad
        ",
    );
    expect(
        with(put_rows_at),
        "
        - b, - a
        backward: + grad 512x256 half, + grad2 200x256 half, - places, - grad2, - grad
        ",
    );
}
