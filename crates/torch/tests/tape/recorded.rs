//! Recorded operators beside those that are written by hand: the same tape, whatever gradients are wanted.

use crate::trace::{HEADS, Input, X, expect, fixed, leaf, made, of_one, of_two, trace};
use headroom_torch::ElementType::{F32, Half, I64};
use headroom_torch::{
    Keeps, Kernel, Made, Operand, Operator, Output, Place, Setting, Shape, Step, Template, Tensor, add_in_place, cast,
    custom, embedding, matmul, mul, pow, rsqrt,
};
use std::rc::Rc;
use std::sync::Arc;

/// Runs `operator` on `inputs`, whose shapes and its own are the table.
fn run(shapes: &[Shape], operator: &Operator, t: &crate::trace::Program, inputs: &[&Tensor]) -> Vec<Tensor> {
    let shapes: Rc<[Shape]> = shapes.iter().copied().collect();
    let setting = Setting { tape: &t.tape, shapes: &shapes, model: Half, wide_results: false };
    operator.run(setting, inputs, |_| t.label("out")).into_vec()
}

fn one(shapes: &[Shape], operator: &Operator, t: &crate::trace::Program, inputs: &[&Tensor]) -> Tensor {
    run(shapes, operator, t, inputs).pop().unwrap()
}

fn new(shape: usize) -> Output {
    Output { shape, made: Made::Promoted, of: None }
}

fn step(name: &str, inputs: &[Operand], outputs: &[Output], frees: &[Operand]) -> Step {
    Step { kernel: Kernel::of(name), inputs: inputs.to_vec(), outputs: outputs.to_vec(), frees: frees.to_vec() }
}

fn template(steps: Vec<Step>, results: &[Operand]) -> Template {
    Template { steps, results: results.to_vec(), is_whole: false }
}

fn operator(name: &str, outputs: &[Output], edges: &[usize], saves: &[Keeps], backward: Template) -> Operator {
    let place = Place { edges: edges.to_vec(), saves: saves.to_vec(), saves_all: false, backward: Arc::new(backward) };
    Operator { kernel: Kernel::of(name), outputs: outputs.to_vec(), place: Some(place) }
}

const G: Operand = Operand::Gradient(0);
const fn s(place: usize) -> Operand {
    Operand::Saved(place)
}
const fn t(number: usize) -> Operand {
    Operand::Made(number)
}

fn recorded_mul() -> Operator {
    let steps = vec![step("mul.Tensor", &[G, s(1)], &[new(0)], &[]), step("mul.Tensor", &[G, s(0)], &[new(0)], &[])];
    let backward = template(steps, &[t(1), t(0)]);
    operator("mul.Tensor", &[new(0)], &[0, 1], &[Keeps::Input(1), Keeps::Input(0)], backward)
}

#[test]
fn mul_saves_what_the_wanted_gradients_read() {
    let kinds: [Input<'_>; 3] = [made(&X, Half), leaf(&X, Half), fixed(&X, Half)];
    for (a, b) in kinds.iter().flat_map(|a| kinds.iter().map(move |b| (*a, *b))).take(8) {
        expect(
            of_two(a, b, |t, a, b| one(&[a.shape()], &recorded_mul(), t, &[a, b])),
            &of_two(a, b, |t, a, b| mul(a, b, t.label("out"))),
        );
    }
}

#[test]
fn a_broadcast_factor_is_summed_by_the_engine() {
    for width in [1, X[2]] {
        let b = [1, 1, width];
        expect(
            of_two(made(&X, F32), leaf(&b, F32), |t, a, b| one(&[a.shape()], &recorded_mul(), t, &[a, b])),
            &of_two(made(&X, F32), leaf(&b, F32), |t, a, b| mul(a, b, t.label("out"))),
        );
    }
}

#[test]
fn temporaries_of_a_backward_go_where_it_says() {
    let steps = vec![
        step("pow.Tensor_Scalar", &[s(0)], &[new(0)], &[]),
        step("mul.Scalar", &[t(0)], &[new(0)], &[]),
        step("mul.Tensor", &[G, t(1)], &[new(0)], &[t(1), t(0)]),
    ];
    let recorded = operator("pow.Tensor_Scalar", &[new(0)], &[0], &[Keeps::Input(0)], template(steps.clone(), &[t(2)]));
    expect(
        of_one(made(&X, F32), |t, x| one(&[x.shape()], &recorded, t, &[x])),
        &of_one(made(&X, F32), |t, x| pow(x, t.label("out"))),
    );
    let recorded = operator("rsqrt", &[new(0)], &[0], &[Keeps::Output(0)], template(steps, &[t(2)]));
    expect(
        of_one(made(&X, F32), |t, x| one(&[x.shape()], &recorded, t, &[x])),
        &of_one(made(&X, F32), |t, x| rsqrt(x, t.label("out"))),
    );
}

/// A function of Python that saves both of its inputs: it saves them when its forward has run, whichever gets a gradient, and
/// makes both gradients.
#[test]
fn a_function_of_python_saves_and_makes_everything() {
    let steps = vec![step("empty_like", &[G], &[new(0)], &[]), step("empty_like", &[G], &[new(0)], &[])];
    let backward = Template { steps, results: vec![t(0), t(1)], is_whole: true };
    let recorded = operator("empty_like", &[new(0)], &[0, 1], &[Keeps::Input(0), Keeps::Input(1)], backward);
    let all = |t: &crate::trace::Program, a: &Tensor, b: &Tensor| {
        let shape = a.shape();
        custom(
            &t.tape,
            &[a, b],
            |recording| {
                let out = Tensor::new(&t.tape, t.label("out"), shape, Half);
                recording.save(a);
                recording.save(b);
                out
            },
            move |call| {
                let made = [call.grad_like(shape, Half), call.grad_like(shape, Half)];
                made.into_iter().zip(call.needs).map(|(made, need)| need.then_some(made)).collect()
            },
        )
    };
    for (a, b) in
        [(made(&X, Half), fixed(&X, Half)), (fixed(&X, Half), made(&X, Half)), (made(&X, Half), made(&X, Half))]
    {
        expect(of_two(a, b, |t, a, b| one(&[a.shape()], &recorded, t, &[a, b])), &of_two(a, b, |t, a, b| all(t, a, b)));
    }
}

#[test]
fn a_cast_to_the_dtype_that_is_there_is_nothing() {
    let to = |element, back| {
        let output = Output { shape: 0, made: Made::Of(element), of: None };
        let back = Output { shape: 0, made: back, of: None };
        let backward = template(vec![step("_to_copy", &[G], &[back], &[])], &[t(0)]);
        operator("_to_copy", &[output], &[0], &[], backward)
    };
    for (from, into) in [(F32, Half), (Half, F32), (F32, F32), (Half, Half)] {
        expect(
            of_one(made(&X, from), |t, x| one(&[x.shape()], &to(into, Made::Model), t, &[x])),
            &of_one(made(&X, from), |t, x| cast(x, into, t.label("out"))),
        );
    }
}

#[test]
fn a_slice_of_all_of_a_tensor_is_nothing() {
    let of = |shape: usize| {
        let backward = template(vec![step("slice_backward", &[G], &[new(0)], &[])], &[t(0)]);
        operator("slice.Tensor", &[Output { shape, made: Made::Promoted, of: Some(0) }], &[0], &[], backward)
    };
    let half = crate::trace::shape(&[X[0], X[1] / 2, X[2]]);
    let run = |shape: usize| of_one(made(&X, Half), |t, x| one(&[x.shape(), half], &of(shape), t, &[x]));
    expect(run(0), &of_one(made(&X, Half), |_, x| x.clone()));
    // Of a part, backward makes zeros for the whole.
    assert_ne!(run(1), run(0));
}

/// Heads that were seen as rows of one matrix: their gradient lies as attention left it, and of one sequence no copy joins them
/// (`torch.bmm(a, b).view(1, heads, s, d).transpose(1, 2)`).
#[test]
fn the_gradient_of_a_view_without_its_ones_is_a_view() {
    let run = |batch: u64, copies: bool| {
        let seen = Output { shape: 1, made: Made::Promoted, of: Some(0) };
        let step = step("clone", &[G], &[new(1)], &[]);
        let backward = if copies { template(vec![step], &[t(0)]) } else { template(Vec::new(), &[G]) };
        let view = operator("_unsafe_view", &[seen], &[0], &[], backward);
        let heads = crate::trace::shape(&[batch, HEADS[1], HEADS[2], HEADS[3]]);
        of_one(made(&[batch * HEADS[1], HEADS[2], HEADS[3]], Half), |t, x| one(&[x.shape(), heads], &view, t, &[x]))
    };
    expect(run(1, true), &run(1, false));
    assert_ne!(run(2, true), run(2, false));
}

#[test]
fn batched_matmuls_take_their_workspaces() {
    const A: [u64; 3] = [8, 64, 32];
    const B: [u64; 3] = [8, 32, 16];
    let steps = vec![step("bmm", &[s(1), G], &[new(1)], &[]), step("bmm", &[G, s(0)], &[new(0)], &[])];
    let backward = template(steps, &[t(1), t(0)]);
    let recorded = operator("bmm", &[new(2)], &[0, 1], &[Keeps::Input(1), Keeps::Input(0)], backward);
    let out = crate::trace::shape(&[8, 64, 16]);
    expect(
        of_two(made(&A, Half), made(&B, Half), |t, a, b| one(&[a.shape(), b.shape(), out], &recorded, t, &[a, b])),
        &of_two(made(&A, Half), made(&B, Half), |t, a, b| matmul(a, b, false, out, t.label("out"))),
    );
}

#[test]
fn embeddings_are_sorted() {
    for tokens in [64, 4096] {
        let (table, out) = (crate::trace::shape(&[1000, 256]), crate::trace::shape(&[tokens, 256]));
        let backward = template(vec![step("embedding_dense_backward", &[G, s(0)], &[new(0)], &[])], &[t(0)]);
        let recorded = operator("embedding", &[new(1)], &[0], &[Keeps::Input(1)], backward);
        let by_hand = trace(|t| {
            let _ids = t.fixed("ids", &[tokens], I64);
            let weight = t.leaf("table", &[1000, 256], F32);
            t.backward([embedding(&weight, out, t.label("out"))]);
        });
        let found = trace(|t| {
            let ids = t.fixed("ids", &[tokens], I64);
            let weight = t.leaf("table", &[1000, 256], F32);
            t.backward([one(&[table, out], &recorded, t, &[&weight, &ids])]);
        });
        expect(found, &by_hand);
    }
}

#[test]
fn what_is_changed_in_place_shares_its_storage() {
    let same = Output { shape: 0, made: Made::Promoted, of: Some(0) };
    let recorded = operator("add_.Tensor", &[same], &[0, 1], &[], template(Vec::new(), &[G, G]));
    expect(
        of_two(made(&X, F32), made(&X, F32), |t, a, b| one(&[a.shape()], &recorded, t, &[a, b])),
        &of_two(made(&X, F32), made(&X, F32), |_, a, b| add_in_place(a, b)),
    );
}

#[test]
fn of_several_results_of_a_step_the_wanted_ones_are_made() {
    // A norm's backward: gradients of input, weight and bias in one kernel.
    let backward = Template {
        steps: vec![step("native_layer_norm_backward", &[G, s(0)], &[new(0), new(1), new(1)], &[])],
        results: vec![t(0), t(1), t(2)],
        is_whole: false,
    };
    let recorded = operator("native_layer_norm", &[new(0)], &[0, 1, 2], &[Keeps::Input(0)], backward);
    let found = trace(|t| {
        let (x, weight) = (t.made("x", &X, Half), t.fixed("weight", &[256], Half));
        let bias = t.leaf("bias", &[256], Half);
        let out = one(&[x.shape(), weight.shape()], &recorded, t, &[&x, &weight, &bias]);
        drop((x, weight));
        t.backward([out]);
    });
    expect(
        found,
        "
        + out 8x64x256 half, - weight, - out
        backward: + grad 8x64x256 half, + grad2 8x64x256 half, + grad3 256 half, - grad, - x,
          grad3 is bias.grad, - grad2
        ",
    );
}

#[test]
fn each_part_of_a_split_has_its_gradient() {
    let view = |shape| Output { shape, made: Made::Promoted, of: Some(0) };
    let backward = Template {
        steps: vec![step("cat", &[Operand::Gradient(0), Operand::Gradient(1)], &[new(0)], &[])],
        results: vec![t(0)],
        is_whole: false,
    };
    let recorded = operator("split.Tensor", &[view(1), view(1)], &[0], &[], backward);
    let found = trace(|t| {
        let x = t.made("x", &X, Half);
        let parts = run(&[x.shape(), crate::trace::shape(&[8, 64, 128])], &recorded, t, &[&x]);
        drop(x);
        t.backward(parts);
    });
    expect(
        found,
        "
        - x
        backward: + grad 8x64x128 half, + grad2 8x64x128 half, + grad3 8x64x256 half, - grad, - grad2, - grad3
        ",
    );
}
