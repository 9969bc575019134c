//! The order in which the engine runs the graph backwards, and what becomes of gradients that meet.

use crate::trace::{X, expect, fixed, leaf, made, of_one, of_two, run, shape, trace};
use headroom_torch::ElementType::{F32, Half};
use headroom_torch::{
    Action, GradSource, Leaf, Symbol, Tensor, add, cast, custom, linear, mean_last, mul, mul_scalar,
    unary_saving_input, unary_saving_output,
};
use std::rc::Rc;

/// The leaf that a gradient of `tensor` goes to.
fn leaf_of(tensor: &Tensor) -> &Rc<Leaf> {
    match tensor.source() {
        Some(GradSource::Leaf(leaf)) => leaf,
        other => panic!("no leaf: {other:?}"),
    }
}

#[test]
fn the_latest_operator_runs_first() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let first = mean_last(&x, t.label("first"));
            let second = unary_saving_input(&x, t.label("second"));
            drop(x);
            t.backward([first, second]);
        }),
        "
        + first 8x64x1 f32, + second 8x64x256 f32, - second, - first
        backward: + grad 8x64x1 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, - grad2, - x, + grad4 8x64x256 f32,
          - grad, - grad4, - grad3
        ",
    );
}

#[test]
fn an_operator_waits_for_all_its_gradients() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let wide = unary_saving_output(&x, t.label("wide"));
            drop(x);
            let row = mean_last(&wide, t.label("row"));
            t.backward([wide, row]);
        }),
        "
        + wide 8x64x256 f32, - x, + row 8x64x1 f32, - row
        backward: + grad 8x64x256 f32, + grad2 8x64x1 f32, + grad3 8x64x256 f32, - grad2, - grad3,
          + grad4 8x64x256 f32, - grad, - wide, - grad4
        ",
    );
}

#[test]
fn each_gradient_is_freed_when_its_operator_has_run() {
    expect(
        of_one(made(&X, F32), |t, x| {
            let one = mul_scalar(x, t.label("one"));
            let two = mul_scalar(&one, t.label("two"));
            drop(one);
            mul_scalar(&two, t.label("three"))
        }),
        "
        + one 8x64x256 f32, + two 8x64x256 f32, - one, + three 8x64x256 f32, - two, - x, - three
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, + grad3 8x64x256 f32, - grad2,
          + grad4 8x64x256 f32, - grad3, - grad4
        ",
    );
}

#[test]
fn what_is_saved_is_freed_when_its_operator_has_run() {
    expect(
        of_one(made(&X, F32), |t, x| unary_saving_input(&unary_saving_input(x, t.label("one")), t.label("two"))),
        "
        + one 8x64x256 f32, + two 8x64x256 f32, - two
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - one, + grad3 8x64x256 f32, - grad2, - x,
          - grad3
        ",
    );
}

#[test]
fn a_second_gradient_is_added_in_place() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let outs = [mul_scalar(&x, t.label("one")), mul_scalar(&x, t.label("two"))];
            drop(x);
            t.backward(outs);
        }),
        "
        + one 8x64x256 f32, + two 8x64x256 f32, - x, - two, - one
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, - grad2, + grad4 8x64x256 f32,
          - grad, - grad4, - grad3
        ",
    );
}

#[test]
fn a_gradient_that_another_holds_is_added_out_of_place() {
    expect(
        of_one(made(&X, F32), |t, x| add(x, x, t.label("out"))),
        "
        + out 8x64x256 f32, - x, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - grad2
        ",
    );
}

#[test]
fn views_are_added_out_of_place() {
    expect(
        trace(|t| {
            let x = t.made("x", &X, F32);
            let weights = [t.fixed("one", &[512, 256], F32), t.fixed("two", &[512, 256], F32)];
            let outs = [0, 1].map(|i| linear(&x, &weights[i], None, (Symbol::ONE, 512), t.label("out")));
            drop(x);
            t.backward(outs);
        }),
        "
        + out 8x64x512 f32, + workspace 8519680 byte, - workspace, + out2 8x64x512 f32, + workspace2 8519680 byte,
          - workspace2, - x, - out2, - out
        backward: + grad 8x64x512 f32, + grad2 8x64x512 f32, + grad3 8x64x256 f32, + workspace3 8519680 byte,
          - workspace3, - grad2, + grad4 8x64x256 f32, + workspace4 8519680 byte, - workspace4, - grad,
          + grad5 8x64x256 f32, - grad3, - grad4, - grad5
        ",
    );
}

#[test]
fn a_leaf_takes_a_gradient_that_no_one_else_holds() {
    expect(
        of_one(leaf(&X, F32), |t, x| mul_scalar(x, t.label("out"))),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, grad2 is x.grad
        ",
    );
}

#[test]
fn a_leaf_copies_a_gradient_that_another_holds() {
    expect(
        of_two(leaf(&X, F32), made(&X, F32), |t, a, b| add(a, b, t.label("out"))),
        "
        + out 8x64x256 f32, - b, - out
        backward: + grad 8x64x256 f32, + a.grad 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn the_second_gradient_of_a_leaf_is_added_to_its_first_before_any_operator_runs() {
    expect(
        trace(|t| {
            let weight = t.leaf("weight", &[256], F32);
            let inputs = [t.made("one", &X, F32), t.made("two", &X, F32)];
            for x in inputs {
                let wide = unary_saving_input(&x, t.label("wide"));
                drop(x);
                let out = mul(&wide, &weight, t.label("out"));
                drop(wide);
                t.backward([out]);
            }
        }),
        "
        + wide 8x64x256 f32, + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, + grad3 8x64x256 f32, + grad4 256 f32, - grad2, - grad,
          - wide, grad4 is weight.grad, + grad5 8x64x256 f32, - grad3, - one, - grad5, + wide2 8x64x256 f32,
          + out2 8x64x256 f32, - out2, + grad6 8x64x256 f32, + grad7 8x64x256 f32, + grad8 8x64x256 f32,
          + grad9 256 f32, - grad7, - grad6, - wide2, - grad9, + grad10 8x64x256 f32, - grad8, - two, - grad10
        ",
    );
}

#[test]
fn a_cast_weight_gets_its_gradient_when_the_engine_comes_to_the_cast() {
    expect(
        trace(|t| {
            let (x, weight) = (t.made("x", &X, F32), t.leaf("weight", &[512, 256], F32));
            let x16 = cast(&x, Half, t.label("x16"));
            let weight16 = cast(&weight, Half, t.label("weight16"));
            drop(x);
            let out = linear(&x16, &weight16, None, (Symbol::ONE, 512), t.label("out"));
            drop((x16, weight16));
            t.backward([out]);
        }),
        "
        + x16 8x64x256 half, + weight16 512x256 half, - x, + out 8x64x512 half, + workspace 8519680 byte,
          - workspace, - out
        backward: + grad 8x64x512 half, + grad2 512x256 half, + workspace2 8519680 byte, - workspace2,
          + grad3 8x64x256 half, + workspace3 8519680 byte, - workspace3, - grad, - weight16, - x16,
          + grad4 512x256 f32, - grad2, grad4 is weight.grad, + grad5 8x64x256 f32, - grad3, - grad5
        ",
    );
}

#[test]
fn without_grad_nothing_is_saved() {
    expect(
        trace(|t| {
            let (a, b) = (t.made("a", &X, F32), t.made("b", &X, F32));
            let was = t.tape.set_grad_enabled(false);
            let out = mul(&a, &b, t.label("out"));
            assert!(was && !out.requires_grad());
            drop(a);
            drop(b);
            drop(out);
        }),
        "
        + out 8x64x256 f32, - a, - b, - out
        ",
    );
}

#[test]
fn a_detached_tensor_gets_no_gradient() {
    expect(
        of_two(made(&X, F32), made(&X, F32), |t, a, b| mul(a, &b.detach(), t.label("out"))),
        "
        + out 8x64x256 f32, - a, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - b, - grad2
        ",
    );
}

#[test]
fn an_operator_of_ones_own_saves_what_it_is_told() {
    expect(
        of_two(made(&X, F32), fixed(&X, F32), |t, a, b| {
            custom(
                &t.tape,
                &[a, b],
                |recording| {
                    assert!(recording.needs(0) && !recording.needs(1));
                    recording.save(b);
                    Tensor::new(&t.tape, t.label("out"), shape(&X), F32)
                },
                |call| {
                    assert_eq!((call.needs, call.saved.len()), (&[true, false][..], 1));
                    [Some(call.like_grad()), None].into()
                },
            )
        }),
        "
        + out 8x64x256 f32, - a, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - b, - grad2
        ",
    );
}

#[test]
fn a_leaf_keeps_a_share_of_its_gradient() {
    expect(
        of_one(leaf(&X, F32), |t, x| {
            leaf_of(x).kept_elements.set(1000);
            leaf_of(x).kept_element.set(Some(Half));
            mul_scalar(x, t.label("out"))
        }),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, + x.grad 1000 half, - grad2
        ",
    );
}

#[test]
fn a_leaf_that_sums_in_another_dtype_converts_each_gradient() {
    expect(
        trace(|t| {
            let weight = t.leaf("weight", &X, Half);
            leaf_of(&weight).accumulates_in.set(Some(F32));
            for _ in 0..2 {
                t.backward([mul_scalar(&weight, t.label("out"))]);
            }
        }),
        "
        + out 8x64x256 half, - out
        backward: + grad 8x64x256 half, + grad2 8x64x256 half, - grad, + weight.grad 8x64x256 f32, - grad2,
          + out2 8x64x256 half, - out2, + grad3 8x64x256 half, + grad4 8x64x256 half, - grad3,
          + weight.grad2 8x64x256 f32, - weight.grad2, - grad4
        ",
    );
}

#[test]
fn a_leaf_without_a_share_frees_its_gradient() {
    expect(
        of_one(leaf(&X, F32), |t, x| {
            leaf_of(x).kept_elements.set(0);
            mul_scalar(x, t.label("out"))
        }),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad, - grad2
        ",
    );
}

#[test]
fn a_leaf_without_a_name_passes_its_gradient_on() {
    expect(
        trace(|t| {
            let x = t.fixed("x", &X, F32).into_leaf(None);
            t.backward([mul_scalar(&x, t.label("out"))]);
            let passed = leaf_of(&x).grad.take();
            assert_eq!(passed.map(|grad| grad.shape()), Some(shape(&X)));
        }),
        "
        + out 8x64x256 f32, - out
        backward: + grad 8x64x256 f32, + grad2 8x64x256 f32, - grad
        ",
    );
}

#[test]
fn frameworks_are_told_when_a_leafs_gradient_is_complete() {
    let (record, ..) = run(|t| {
        let (x, first) = (t.made("x", &X, F32), t.leaf("first", &[256], F32));
        let second = t.leaf("second", &[256], F32);
        leaf_of(&first).told_as.set(Some(1));
        leaf_of(&second).told_as.set(Some(2));
        let wide = mul(&x, &first, t.label("wide"));
        let wider = mul(&wide, &first, t.label("wider"));
        t.backward([mul(&wider, &second, t.label("out"))]);
        t.tape.tell(Action::BackwardDone, 0);
    });
    let told: Vec<(Action, u32)> = record.hooks.iter().map(|hook| (hook.action, hook.subject)).collect();
    let ready = |subject| (Action::GradientReady, subject);
    assert_eq!(told, [ready(2), ready(1), (Action::BackwardDone, 0)]);
    assert!(record.hooks.is_sorted_by_key(|hook| hook.at), "{:?}", record.hooks);
}

/// Dropped by recursion it would overflow the stack of a test's thread.
#[test]
fn a_long_graph_is_freed_without_recursion() {
    let (record, ..) = run(|t| {
        let mut x = t.made("x", &[1], F32);
        for _ in 0..100_000 {
            x = unary_saving_output(&x, t.label("out"));
        }
    });
    let held: i64 = record.events.iter().map(|event| event.bytes).sum();
    assert_eq!(held, 0);
}
