//! `torch.utils.checkpoint(..., use_reentrant=False)`.

use crate::trace::{Program, X, expect, trace};
use headroom_torch::ElementType::F32;
use headroom_torch::{Symbol, Tensor, add, checkpoint, linear, mul_scalar, unary_saving_input, unary_saving_output};
use std::rc::Rc;

/// A checkpointed `layer` of `x`, given the tape's own handle so that it may outlive the call.
fn checkpointed(t: &Program, x: &Tensor, layer: impl Fn(&Tensor) -> Tensor + 'static) -> Tensor {
    checkpoint(&t.tape, x, Rc::new(layer))
}

#[test]
fn a_checkpointed_call_keeps_its_input_and_runs_again() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let (one, two) = (t.label("one"), t.label("two"));
            let out = checkpointed(t, &x, move |x| unary_saving_output(&unary_saving_input(x, one), two));
            drop(x);
            t.backward([out]);
        }),
        "
        + one 8x64x256 f32, + two 8x64x256 f32, - one, - two
        backward: + grad 8x64x256 f32, + one2 8x64x256 f32, + two2 8x64x256 f32, - one2, + grad2 8x64x256 f32,
          - two2, - grad, + grad3 8x64x256 f32, - grad2, - x, - grad3
        ",
    );
}

#[test]
fn what_is_handed_to_a_checkpoint_within_is_kept_for_it() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let (one, two) = (t.label("one"), t.label("two"));
            let out = checkpointed(t, &x, move |x| {
                let handed = x.tape().hand(unary_saving_input(x, one));
                unary_saving_input(&handed, two)
            });
            drop(x);
            t.backward([out]);
        }),
        "
        + one 8x64x256 f32, + two 8x64x256 f32, - two
        backward: + grad 8x64x256 f32, + one2 8x64x256 f32, - one2, + grad2 8x64x256 f32, - one, - grad,
          + grad3 8x64x256 f32, - grad2, - x, - grad3
        ",
    );
}

#[test]
fn recomputation_stops_when_the_last_saved_tensor_is_there() {
    expect(
        trace(|t| {
            let (x, weight) = (t.made("x", &X, F32), t.leaf("weight", &[512, 256], F32));
            let (wide, product, out) = (t.label("wide"), t.label("product"), t.label("out"));
            let out = checkpointed(t, &x, move |x| {
                let wide = unary_saving_input(x, wide);
                mul_scalar(&linear(&wide, &weight, None, (Symbol::ONE, 512), product), out)
            });
            drop(x);
            t.backward([out]);
        }),
        "
        + wide 8x64x256 f32, + product 8x64x512 f32, + workspace 8519680 byte, - workspace, + out 8x64x512 f32,
          - product, - wide, - out
        backward: + grad 8x64x512 f32, + grad2 8x64x512 f32, - grad, + wide2 8x64x256 f32, + grad3 512x256 f32,
          + workspace2 8519680 byte, - workspace2, + grad4 8x64x256 f32, + workspace3 8519680 byte, - workspace3,
          - wide2, - grad2, grad3 is weight.grad, + grad5 8x64x256 f32, - grad4, - x, - grad5
        ",
    );
}

#[test]
fn a_checkpointed_residual_adds_the_gradients_of_its_input() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let (branch, out) = (t.label("branch"), t.label("out"));
            let out = checkpointed(t, &x, move |x| add(x, &unary_saving_input(x, branch), out));
            drop(x);
            t.backward([out]);
        }),
        "
        + branch 8x64x256 f32, + out 8x64x256 f32, - branch, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - x, - grad2, - grad
        ",
    );
}

#[test]
fn checkpointed_calls_run_again_one_by_one_from_the_last() {
    expect(
        trace(|t| {
            let mut x = t.made("x", &X, F32);
            for _ in 0..2 {
                let (inner, out) = (t.label("inner"), t.label("out"));
                let next = checkpointed(t, &x, move |x| unary_saving_output(&unary_saving_output(x, inner), out));
                x = next;
            }
            t.backward([x]);
        }),
        "
        + inner 8x64x256 f32, + out 8x64x256 f32, - inner, + inner2 8x64x256 f32, + out2 8x64x256 f32, - inner2,
          - out2
        backward: + grad 8x64x256 f32, + inner3 8x64x256 f32, + out3 8x64x256 f32, + grad2 8x64x256 f32, - out3,
          - grad, + grad3 8x64x256 f32, - inner3, - grad2, - out, + inner4 8x64x256 f32, + out4 8x64x256 f32,
          + grad4 8x64x256 f32, - out4, - grad3, + grad5 8x64x256 f32, - inner4, - grad4, - x, - grad5
        ",
    );
}

#[test]
fn a_checkpointed_call_without_grad_keeps_nothing() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            t.tape.set_grad_enabled(false);
            let (inner, out) = (t.label("inner"), t.label("out"));
            let out = checkpointed(t, &x, move |x| unary_saving_output(&unary_saving_output(x, inner), out));
            drop(x);
            drop(out);
        }),
        "
        + inner 8x64x256 f32, + out 8x64x256 f32, - inner, - x, - out
        ",
    );
}
