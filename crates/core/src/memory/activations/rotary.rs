//! Rotary positions.

use super::super::autograd::{ElementType, Shape, Tensor, add, cat_last, dims, mul, scale, slice_last};
use super::super::term::Term;
use super::Setting;

/// `cos` and `sin` of every position, in the residual stream's dtype, with what making them takes
/// (LlamaRotaryEmbedding.forward: fp32 angles, cat, cos, sin, casts).
pub(in crate::memory) fn rotary_tables(setting: &Setting, width: u64, element: ElementType) -> (Tensor, Tensor) {
    let shape = dims(&[("s", setting.length), ("d_rotary", width)]);
    let half = dims(&[("s", setting.length), ("d_rotary/2", width / 2)]);
    let passing = setting.passing();
    let label = setting.label(Term::RotaryTables, "");
    let new = |label, shape, element| Tensor::new(&setting.tape, label, shape, element);
    let positions = new(passing, dims(&[("s", setting.length)]), ElementType::F32);
    let angles = new(passing, half, ElementType::F32);
    drop(positions);
    let both = new(passing, shape, ElementType::F32);
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

/// `x * cos + rotate_half(x) * sin` over the first `rotary` of each head's `d`; the rest passes by.
///
/// `joins`: the result is joined to the rest by `torch.cat` even when there is none.
pub(in crate::memory) fn rotate(setting: &Setting, x: &Tensor, rotary: u64, name: &str, joins: bool) -> Tensor {
    let tables = setting.rotary.borrow();
    let Some((cos, sin)) = tables.get(&rotary) else { return x.clone() };
    let whole = x.shape();
    let label = setting.label(Term::QueryKeyValue, name);
    if rotary == whole.width() && !joins {
        return rotate_all(setting, x, cos, sin, whole, label);
    }
    // A slice of the whole is the tensor itself, one of nothing is an operator all the same.
    let turned = if rotary == whole.width() { x.clone() } else { slice_last(x, "d_rotary", rotary) };
    let passed = slice_last(x, "d-d_rotary", whole.width() - rotary);
    let turned = rotate_all(setting, &turned, cos, sin, turned.shape(), setting.passing());
    cat_last(&[&turned, &passed], whole, label).unwrap_or_else(|| x.clone())
}

fn rotate_all(
    setting: &Setting,
    x: &Tensor,
    cos: &Tensor,
    sin: &Tensor,
    shape: Shape,
    label: super::super::autograd::Label,
) -> Tensor {
    let passing = setting.passing();
    let straight = mul(x, cos, passing);
    let half = shape.width() / 2;
    let first = slice_last(x, "d/2", half);
    let second = slice_last(x, "d/2", shape.width() - half);
    let negated = scale(&second, passing);
    drop(second);
    let crossed = cat_last(&[&negated, &first], shape, passing);
    drop((negated, first));
    let Some(crossed) = crossed else { return straight };
    let turned = mul(&crossed, sin, passing);
    drop(crossed);
    add(&straight, &turned, label)
}
