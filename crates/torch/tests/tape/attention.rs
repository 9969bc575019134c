//! Scaled dot product attention: PyTorch's flash and memory-efficient kernels.

use crate::trace::{Program, expect, shape, trace};
use headroom_torch::ElementType::{F32, Half};
use headroom_torch::{
    AttentionLabels, AttentionSizes, Bias, ElementType, Shape, Tensor, contiguous, efficient_attention, flash_attention,
};

/// Two sequences, four heads of queries, head width 64.
struct Setup {
    sequences: u64,
    length: u64,
    groups: bool,
    head_major: bool,
    width: u64,
    element: ElementType,
}

const PLAIN: Setup = Setup { sequences: 2, length: 512, groups: false, head_major: false, width: 64, element: Half };

/// Runs one attention and its backward.
fn attention(setup: &Setup, kernel: impl FnOnce(&Inputs<'_>, AttentionSizes, &AttentionLabels) -> Tensor) -> String {
    let &Setup { sequences, length, groups, head_major, width, element } = setup;
    let heads = 4;
    let key_heads = if groups { 2 } else { heads };
    trace(|t| {
        let made = |name: &str, heads| t.made(name, &[sequences, heads, length, width], element);
        let q = made("q", heads).with_head_major(head_major);
        let (k, v) = (made("k", key_heads).with_head_major(head_major), made("v", key_heads));
        let sizes = AttentionSizes {
            batch: sequences,
            heads,
            queries: length,
            keys: length,
            head_dim: width,
            value_dim: width,
            groups,
        };
        let mut out = kernel(&Inputs { q: &q, k: &k, v: &v }, sizes, &labels(t));
        if head_major {
            // The output lies like the queries; what comes after wants it token by token.
            out = contiguous(&out, shape(&[sequences, length, heads * width]), t.label("by token"), false);
        }
        drop((q, k, v));
        t.backward([out]);
    })
}

struct Inputs<'a> {
    q: &'a Tensor,
    k: &'a Tensor,
    v: &'a Tensor,
}

fn labels(t: &Program) -> AttentionLabels {
    let [output, statistics, random, bias, splits] =
        ["out", "sums", "random", "bias", "splits"].map(|name| t.label(name));
    AttentionLabels { output, statistics, random, bias, splits }
}

fn flash(setup: &Setup, drops_out: bool) -> String {
    attention(setup, |i, sizes, labels| flash_attention((i.q, i.k, i.v), sizes, drops_out, labels))
}

fn efficient(setup: &Setup, bias: Option<Shape>) -> String {
    attention(setup, |i, sizes, labels| efficient_attention((i.q, i.k, i.v), sizes, bias.map(Bias::OfBooleans), labels))
}

#[test]
fn flash_attention_saves_its_output_and_sums() {
    expect(
        flash(&Setup { sequences: 16, ..PLAIN }, false),
        "
        + out 16x512x4x64 half, + sums 16x4x512 f32, + random 16 byte, + random2 8 byte
        backward: + grad 16x512x4x64 half, + grad2 16x4x512x64 half, + grad3 16x4x512x64 half,
          + grad4 16x4x512x64 half, + grad5 16x4x512 f32, + grad6 16x4x512x64 f32, - grad6, - grad5, - grad, - k,
          - q, - v, - sums, - out, - random, - random2, - grad4, - grad3, - grad2
        ",
    );
}

#[test]
fn flash_attention_splits_keys_where_queries_leave_processors_idle() {
    expect(
        flash(&PLAIN, false),
        "
        + out 2x512x4x64 half, + sums 2x4x512 f32, + splits 2x2x4x512 f32, + splits2 4x4x512x64 f32,
          + random 16 byte, + random2 8 byte, - splits, - splits2
        backward: + grad 2x512x4x64 half, + grad2 2x4x512x64 half, + grad3 2x4x512x64 half, + grad4 2x4x512x64 half,
          + grad5 2x4x512 f32, + grad6 2x4x512x64 f32, - grad6, - grad5, - grad, - k, - q, - v, - sums, - out,
          - random, - random2, - grad4, - grad3, - grad2
        ",
    );
}

#[test]
fn flash_attention_that_drops_out_never_splits() {
    expect(
        flash(&PLAIN, true),
        "
        + out 2x512x4x64 half, + sums 2x4x512 f32, + random 16 byte, + random2 8 byte, + random3 16 byte, - random
        backward: + grad 2x512x4x64 half, + grad2 2x4x512x64 half, + grad3 2x4x512x64 half, + grad4 2x4x512x64 half,
          + grad5 2x4x512 f32, + grad6 2x4x512x64 f32, - grad6, - grad5, - grad, - k, - q, - v, - sums, - out,
          - random3, - random2, - grad4, - grad3, - grad2
        ",
    );
}

#[test]
fn flash_attention_of_queries_head_by_head_copies_its_output_in_backward() {
    expect(
        flash(&Setup { head_major: true, sequences: 16, ..PLAIN }, false),
        "
        + out 16x512x4x64 half, + sums 16x4x512 f32, + random 16 byte, + random2 8 byte, + by token 16x512x256 half,
          - by token
        backward: + grad 16x512x256 half, + grad2 16x512x4x64 half, + grad3 16x4x512x64 half,
          + grad4 16x4x512x64 half, + grad5 16x4x512x64 half, + grad6 16x4x512 f32, + grad7 16x4x512x64 f32,
          - grad7, - grad6, - grad2, - grad, - k, - q, - v, - sums, - out, - random, - random2, - grad5, - grad4,
          - grad3
        ",
    );
}

#[test]
fn flash_attention_expands_shared_heads_in_backward() {
    expect(
        flash(&Setup { groups: true, sequences: 16, ..PLAIN }, false),
        "
        + out 16x512x4x64 half, + sums 16x4x512 f32, + random 16 byte, + random2 8 byte
        backward: + grad 16x512x4x64 half, + grad2 16x4x512x64 half, + grad3 16x2x512x64 half,
          + grad4 16x2x512x64 half, + grad5 16x4x512 f32, + grad6 16x4x512x64 f32, + grad7 16x512x4x64 half,
          + grad8 16x512x4x64 half, - grad8, - grad7, - grad6, - grad5, - grad, - k, - q, - v, - sums, - out,
          - random, - random2, - grad4, - grad3, - grad2
        ",
    );
}

#[test]
fn efficient_attention_saves_its_output_and_sums() {
    expect(
        efficient(&PLAIN, None),
        "
        + random 8 byte, + random2 8 byte, + out 2x512x4x64 half, + sums 2x4x512 f32
        backward: + grad 2x512x4x64 half, + grad2 2x4x512x64 half, + grad3 2x4x512x64 half, + grad4 2x4x512x64 half,
          + grad5 2x4x512 f32, + grad6 1049600 byte, - grad5, - grad6, - grad, - k, - q, - v, - sums, - out,
          - random2, - random, - grad4, - grad3, - grad2
        ",
    );
}

/// As PyTorch's allocator has it of heads of 64, 128, 136 and 256, in both dtypes.
#[test]
fn efficient_attention_of_wide_heads_gathers_its_output_in_fp32() {
    let gathers = |width, element| efficient(&Setup { width, element, ..PLAIN }, None).contains("+ out2");
    assert!(efficient(&Setup { width: 136, ..PLAIN }, None).contains("+ out2 2x512x4x136 f32"));
    assert!(gathers(256, Half));
    assert!(!gathers(128, Half) && !gathers(136, F32) && !gathers(256, F32));
}

#[test]
fn efficient_attention_in_fp32_multiplies_gradient_and_output_first() {
    expect(
        efficient(&Setup { element: F32, ..PLAIN }, None),
        "
        + random 8 byte, + random2 8 byte, + out 2x512x4x64 f32, + sums 2x4x512 f32
        backward: + grad 2x512x4x64 f32, + grad2 2x4x512x64 f32, + grad3 2x4x512x64 f32, + grad4 2x4x512x64 f32,
          + grad5 2x512x4x64 f32, + grad6 2x4x512 f32, + grad7 2x4x512 f32, - grad6, - grad5, + grad8 1049600 byte,
          - grad7, - grad8, - grad, - k, - q, - v, - sums, - out, - random2, - random, - grad4, - grad3, - grad2
        ",
    );
}

#[test]
fn efficient_attention_saves_the_mask_that_it_casts() {
    expect(
        efficient(&PLAIN, Some(shape(&[2, 512, 512]))),
        "
        + bias 1 half, + bias2 1 half, + bias3 2x512x512 half, - bias2, - bias, + random 8 byte, + random2 8 byte,
          + out 2x512x4x64 half, + sums 2x4x512 f32
        backward: + grad 2x512x4x64 half, + grad2 2x4x512x64 half, + grad3 2x4x512x64 half, + grad4 2x4x512x64 half,
          + grad5 2x4x512 f32, + grad6 1049600 byte, - grad5, - grad6, - grad, - bias3, - k, - q, - v, - sums,
          - out, - random2, - random, - grad4, - grad3, - grad2
        ",
    );
}
