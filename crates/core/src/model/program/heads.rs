//! What a block's own operators do to heads of queries, keys and values around the matmuls of eager attention.

use super::block::{Code, Op, Value};
use super::regions::Region;
use super::signs::Sign;

/// `x * cos + rotate_half(x) * sin`, by the numbers of what its operators make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rotation {
    /// x.
    pub(crate) of: Value,
    negation: usize,
    joined: usize,
    turned: usize,
    plain: usize,
    pub(crate) sum: usize,
}

impl Rotation {
    /// Whether one of its operators makes value `number`.
    pub(crate) fn has(&self, number: usize) -> bool {
        [self.negation, self.joined, self.turned, self.plain, self.sum].contains(&number)
    }
}

impl Code {
    /// Every rotation of heads.
    pub(crate) fn rotations(&self) -> Vec<Rotation> {
        let reader = |of: usize| self.ops.iter().find(|op| op.inputs.contains(&Value::Numbered(of)));
        let rotation = |negation: &Op| {
            let joined = reader(negation.first).filter(|op| op.sign == Sign::Joined)?.first;
            let turned = reader(joined).filter(|op| op.sign == Sign::Product)?.first;
            let sum = reader(turned)?;
            let plain = self.ops.iter().find(|op| {
                op.sign == Sign::Product && op.first != turned && sum.inputs.contains(&Value::Numbered(op.first))
            })?;
            let (of, plain, sum) = (*plain.inputs.first()?, plain.first, sum.first);
            Some(Rotation { of, negation: negation.first, joined, turned, plain, sum })
        };
        self.ops.iter().filter(|op| op.sign == Sign::Negation).filter_map(rotation).collect()
    }

    /// The operator of a sign that reads what `of` makes and nothing else.
    fn reader_of(&self, of: &Op, sign: Sign) -> Option<&Op> {
        self.ops.iter().find(|op| op.sign == sign && op.inputs.as_slice() == [Value::Numbered(of.first)])
    }

    /// `repeat_kv` of keys and of values: `unsqueeze`, `expand`, and the two operators of a `reshape` that copies.
    pub(crate) fn repeated_heads(&self) -> Vec<[usize; 4]> {
        let chain = |first: &Op| {
            let expanded = self.reader_of(first, Sign::Expand)?;
            let copied = self.reader_of(expanded, Sign::Copy)?;
            let seen = self.reader_of(copied, Sign::View)?;
            Some([first.first, expanded.first, copied.first, seen.first])
        };
        let of_attention = self.ops.iter().filter(|op| op.region == Region::Attention && op.sign == Sign::Unsqueeze);
        of_attention.filter_map(chain).collect()
    }

    /// What `matmul` makes of each of its tensors of heads: `expand`, a copy where heads share one, and its view; with what is expanded.
    pub(crate) fn expanded_heads(&self) -> Vec<(usize, [usize; 3])> {
        let chain = |expanded: &Op| {
            let copied = self.reader_of(expanded, Sign::CopyForMatmul)?;
            let seen = self.reader_of(copied, Sign::View)?;
            match *expanded.inputs.as_slice() {
                [Value::Numbered(of)] => Some((of, [expanded.first, copied.first, seen.first])),
                _ => None,
            }
        };
        self.ops.iter().filter(|op| op.sign == Sign::Expand).filter_map(chain).collect()
    }

    /// The view of `[b, heads, s, width]` as `[b * heads, s, width]` that a matmul takes of a value, or of it the other way round.
    pub(crate) fn view_for_matmul(&self, of: usize) -> Option<usize> {
        let mut number = of;
        for op in &self.ops {
            if op.inputs.as_slice() == [Value::Numbered(number)] {
                match op.sign {
                    Sign::View => return Some(op.first),
                    Sign::Expand | Sign::Swap => number = op.first,
                    _ => {}
                }
            }
        }
        None
    }

    /// Whether a value of `[b, heads, s, width]` lies token by token: it is such a view of what does, or elementwise operators, which keep the
    /// strides of their first tensor, have made it of one. `cat` writes in order.
    pub(crate) fn lies_by_token(&self, number: usize) -> bool {
        let mut number = number;
        for op in self.ops.iter().rev() {
            if op.first == number {
                match (op.sign, op.inputs.first()) {
                    (Sign::Swap, _) => return true,
                    (Sign::Joined | Sign::Copy, _) | (_, None | Some(Value::Parameter(..))) => return false,
                    (_, Some(Value::Numbered(from))) => number = *from,
                }
            }
        }
        false
    }

    /// Casts whose result a softmax alone reads.
    pub(crate) fn upcasts_for_softmax(&self) -> Vec<usize> {
        let is_read = |of: usize| {
            let mut readers = self.ops.iter().filter(|op| op.inputs.contains(&Value::Numbered(of)));
            readers.next().is_some_and(Op::is_softmax) && readers.next().is_none()
        };
        let casts = self.ops.iter().filter(|op| op.sign == Sign::Cast && op.region == Region::Attention);
        casts.map(|op| op.first).filter(|made| is_read(*made)).collect()
    }
}
