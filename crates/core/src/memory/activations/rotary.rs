//! Rotary positions.

use super::super::autograd::{
    ElementType, Shape, Sym, Tensor, add, cat_last, chunk_heads, dims, mul, mul_scalar, slice_last, sub,
};
use super::super::term::Term;
use super::ForwardContext;

/// `cos` and `sin` of every position, in the residual stream's dtype, with what making them takes
/// (LlamaRotaryEmbedding.forward: fp32 angles, cat, cos, sin, casts).
///
/// `halves`: of half the width, without the cat (GptOssRotaryEmbedding.forward).
pub(in crate::memory) fn rotary_tables(
    context: &ForwardContext,
    width: u64,
    halves: bool,
    element: ElementType,
) -> (Tensor, Tensor) {
    let half = dims(&[(Sym::S, context.length), (Sym::HalfRotary, width / 2)]);
    let shape = if halves { half } else { dims(&[(Sym::S, context.length), (Sym::Rotary, width)]) };
    let passing = context.passing();
    let label = context.label(Term::RotaryTables, "");
    let new = |label, shape, element| Tensor::new(&context.tape, label, shape, element);
    let positions = new(passing, dims(&[(Sym::S, context.length)]), ElementType::F32);
    let angles = new(passing, half, ElementType::F32);
    drop(positions);
    let both = (!halves).then(|| new(passing, shape, ElementType::F32));
    let in_half = element == ElementType::Half;
    let table = || {
        let plain = new(passing, shape, ElementType::F32);
        let scaled = new(if in_half { passing } else { label }, shape, ElementType::F32);
        drop(plain);
        scaled
    };
    let (cos, sin) = (table(), table());
    if !in_half {
        return (cos, sin);
    }
    let narrow = (new(label, shape, element), new(label, shape, element));
    drop((angles, both, cos, sin));
    narrow
}

/// `x * cos + rotate_half(x) * sin` over the first `rotary` of each head's `d`, for queries and keys; the rest passes by.
///
/// `joins`: each result is joined to its rest by `torch.cat` at once, even when there is none (modeling_phi3.py
/// `apply_rotary_pos_emb`); otherwise both are turned first.
pub(in crate::memory) fn rotate_both(
    context: &ForwardContext,
    q: &Tensor,
    k: &Tensor,
    rotary: u64,
    joins: bool,
) -> (Tensor, Tensor) {
    let tables = context.rotary.borrow();
    let Some((_, (cos, sin))) = tables.iter().find(|(dim, _)| *dim == rotary) else { return (q.clone(), k.clone()) };
    let label = |name| context.label(Term::QueryKeyValue, name);
    if rotary == q.shape().width() && rotary == k.shape().width() && !joins {
        let q = rotate_all(context, q, cos, sin, q.shape(), label("q"));
        return (q, rotate_all(context, k, cos, sin, k.shape(), label("k")));
    }
    // A slice of the whole is the tensor itself, one of nothing is an operator all the same.
    let parts = |x: &Tensor| {
        let width = x.shape().width();
        let turned = if rotary == width { x.clone() } else { slice_last(x, Sym::Rotary, rotary) };
        (turned, slice_last(x, Sym::PassedBy, width.saturating_sub(rotary)))
    };
    let turn = |x: &Tensor| rotate_all(context, x, cos, sin, x.shape(), context.passing());
    let join = |turned: Tensor, passed: &Tensor, whole: &Tensor, name| {
        cat_last(&[&turned, passed], whole.shape(), label(name)).unwrap_or_else(|| whole.clone())
    };
    let ((q_turned, q_passed), (k_turned, k_passed)) = (parts(q), parts(k));
    if joins {
        let q = join(turn(&q_turned), &q_passed, q, "q");
        return (q, join(turn(&k_turned), &k_passed, k, "k"));
    }
    let (q_turned, k_turned) = (turn(&q_turned), turn(&k_turned));
    let q = join(q_turned, &q_passed, q, "q");
    (q, join(k_turned, &k_passed, k, "k"))
}

/// Each half of a head rotated by itself, for queries and keys (modeling_gpt_oss.py `apply_rotary_pos_emb`).
pub(in crate::memory) fn rotate_halves(context: &ForwardContext, q: &Tensor, k: &Tensor) -> Option<(Tensor, Tensor)> {
    let tables = context.rotary.borrow();
    let (_, (cos, sin)) = tables.iter().find(|(dim, _)| *dim == q.shape().width())?;
    let passing = context.passing();
    let turn = |x: &Tensor, name| {
        let half = (Sym::HalfD, x.shape().width() / 2);
        let parts = chunk_heads(x, &[half, half]);
        let [first, second] = parts.as_slice() else { return None };
        let (straight, crossed) = (mul(first, cos, passing), mul(second, sin, passing));
        let turned_first = sub(&straight, &crossed, passing);
        drop((straight, crossed));
        let (straight, crossed) = (mul(second, cos, passing), mul(first, sin, passing));
        let turned_second = add(&straight, &crossed, passing);
        drop((straight, crossed));
        cat_last(&[&turned_first, &turned_second], x.shape(), context.label(Term::QueryKeyValue, name))
    };
    Some((turn(q, "q")?, turn(k, "k")?))
}

fn rotate_all(
    context: &ForwardContext,
    x: &Tensor,
    cos: &Tensor,
    sin: &Tensor,
    shape: Shape,
    label: super::super::autograd::Label,
) -> Tensor {
    let passing = context.passing();
    let straight = mul(x, cos, passing);
    let half = shape.width() / 2;
    let first = slice_last(x, Sym::HalfD, half);
    let second = slice_last(x, Sym::HalfD, shape.width() - half);
    let negated = mul_scalar(&second, passing);
    drop(second);
    let crossed = cat_last(&[&negated, &first], shape, passing);
    drop((negated, first));
    let Some(crossed) = crossed else { return straight };
    let turned = mul(&crossed, sin, passing);
    drop(crossed);
    add(&straight, &turned, label)
}
