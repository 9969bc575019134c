//! What follows from a block's operators once all are read: which outputs backward reads, and what part of the layer each is of.

use headroom_torch::Keeps;

use super::code::Builder;
use super::regions::Region;
use super::{Action, Op, RESIDUAL, Value};

impl Builder<'_> {
    /// Says of each output whether backward reads it, or whoever takes it.
    pub(super) fn mark(&self, all: &mut [Op], gives: &[(String, Value)]) {
        let mut kept = vec![false; self.roots.len()];
        gives.iter().for_each(|(_, value)| self.keep(&mut kept, value));
        self.keep_read(&mut kept, all);
        self.keep_cast(&mut kept, all);
        self.note(&kept, all);
    }

    pub(super) fn root(&self, value: &Value) -> Option<usize> {
        match value {
            Value::Numbered(number) => self.roots.get(*number).copied().flatten(),
            Value::Parameter(..) => None,
        }
    }

    fn keep(&self, kept: &mut [bool], value: &Value) {
        self.root(value).and_then(|at| kept.get_mut(at)).into_iter().for_each(|kept| *kept = true);
    }

    fn keep_read(&self, kept: &mut [bool], all: &[Op]) {
        for op in all {
            match &op.action {
                Action::Linear(_) => op.inputs.iter().for_each(|input| self.keep(kept, input)),
                Action::Attention(_) => {
                    op.inputs.iter().for_each(|input| self.keep(kept, input));
                    self.keep(kept, &Value::Numbered(op.first));
                }
                Action::Operator(operator) => {
                    for saved in operator.place.iter().flat_map(|place| &place.saves) {
                        match saved {
                            Keeps::Input(place) => {
                                op.inputs.get(*place).iter().for_each(|input| self.keep(kept, input))
                            }
                            Keeps::Output(place) => self.keep(kept, &Value::Numbered(op.first + place)),
                        }
                    }
                }
                Action::Repeat(repeat) => {
                    self.keep_read(kept, &repeat.ops);
                    for (to, from) in &repeat.carry {
                        if self.root(&Value::Numbered(*to)).is_some_and(|at| kept.get(at) == Some(&true)) {
                            self.keep(kept, &Value::Numbered(*from));
                        }
                    }
                }
            }
        }
    }

    /// What a cast reads is kept with its result: where both have one dtype, they are one tensor.
    fn keep_cast(&self, kept: &mut [bool], all: &[Op]) {
        for op in all.iter().rev() {
            match &op.action {
                Action::Operator(operator) if operator.kernel.is_cast() => {
                    let root = self.root(&Value::Numbered(op.first));
                    if root.is_some_and(|at| kept.get(at) == Some(&true)) {
                        op.inputs.iter().for_each(|input| self.keep(kept, input));
                    }
                }
                Action::Repeat(repeat) => self.keep_cast(kept, &repeat.ops),
                _ => {}
            }
        }
    }

    fn note(&self, kept: &[bool], all: &mut [Op]) {
        for op in all {
            for (i, is_kept) in op.kept.iter_mut().enumerate() {
                let root = self.root(&Value::Numbered(op.first + i));
                *is_kept = root.is_none_or(|at| kept.get(at).copied().unwrap_or(false));
            }
            if let Action::Repeat(repeat) = &mut op.action {
                self.note(kept, &mut repeat.ops);
            }
        }
    }

    /// Says of each operator what part of the layer it belongs to: its module's, or that of the module before.
    pub(super) fn place_in_regions(&self, all: &mut [Op], gives: &[(String, Value)]) {
        let stream = gives.iter().find(|(name, _)| name == RESIDUAL).and_then(|(_, value)| match value {
            Value::Numbered(number) => Some((self.shapes.get(*number).copied().flatten()?, *number)),
            Value::Parameter(..) => None,
        });
        let stream = stream.map(|(shape, number)| (shape, self.root(&Value::Numbered(number))));
        self.place_behind(Region::Residual, stream, all);
    }

    /// `stream`: the shape of the residual stream that the block gives, and the value whose storage it is, which may be one of another
    /// shape (OPT adds up where sequences are one: modeling_opt.py `OPTDecoderLayer.forward`).
    fn place_behind(&self, mut before: Region, stream: Option<(usize, Option<usize>)>, all: &mut [Op]) -> Region {
        let mut all = all.iter_mut().peekable();
        while let Some(op) = all.next() {
            let is_last = all.peek().is_none_or(|next| next.module != op.module);
            op.region = match (op.module.and_then(|module| self.modules.get(module)), &mut op.action) {
                (_, Action::Attention(_)) => Region::AttentionOutput,
                (_, Action::Repeat(repeat)) => self.place_behind(before, stream, &mut repeat.ops),
                (Some(module), _) if module.region == Region::Norm && is_last => Region::NormOutput,
                (Some(module), _) => module.region,
                (None, Action::Operator(operator)) => {
                    let place = operator.place.as_ref();
                    let is_sum = place.is_some_and(|place| place.edges.len() == 2 && place.saves.is_empty());
                    let is_stream = stream.is_some_and(|(shape, root)| {
                        operator.outputs.first().is_some_and(|output| output.shape == shape) || root == Some(op.first)
                    });
                    if is_sum && is_stream { Region::Residual } else { before }
                }
                (None, Action::Linear(_)) => before,
            };
            if !matches!(op.region, Region::Norm | Region::NormOutput | Region::Rotary) {
                before = op.region;
            }
        }
        before
    }
}
