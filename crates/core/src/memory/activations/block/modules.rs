//! A recorded block's modules as ZeRO-3's hooks see them: those with parameters, those around them, and activations.

use super::super::super::autograd::{Kernel, Operator, Tensor, linear};
use super::Runner;
use super::parameters::Parametrized;
use crate::model::{Action, Op, Value};

/// What becomes of the token embedding's output, inside its module's hooks or behind them.
pub(in crate::memory) type OnEmbedding<'a> = &'a dyn Fn(&dyn Fn() -> Option<Tensor>) -> Option<Tensor>;

impl<'a> Runner<'a> {
    /// Runs operators in order, each inside the hooks of the modules that it is in.
    pub(super) fn run(&mut self, ops: &[Op], on_embedding: Option<(usize, OnEmbedding<'_>)>) {
        if self.context.zero3.is_some() {
            self.run_modules(ops, 0, on_embedding)
        } else {
            self.run_in_order(ops, on_embedding)
        }
    }

    /// The same within a module of depth `depth`: modules that hold others run as one stretch, from the first operator of a
    /// module in them to the last.
    fn run_modules(&mut self, ops: &[Op], depth: usize, on_embedding: Option<(usize, OnEmbedding<'_>)>) {
        let mut rest = ops;
        while !rest.is_empty() {
            let found = rest.iter().enumerate().find_map(|(at, op)| Some((at, self.outer_module(op, depth)?)));
            let Some((at, outer)) = found else { return self.run_in_order(rest, on_embedding) };
            let (before, within) = rest.split_at(at);
            self.run_in_order(before, on_embedding);
            let last = within.iter().rposition(|op| self.outer_module(op, depth) == Some(outer));
            let (within, others) = within.split_at(last.map_or(1, |last| last.saturating_add(1)));
            let owners = || self.block.block().map_or(&[][..], |block| block.modules.as_slice()).iter();
            let is_inside = |name: &str| name.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
            let holds_experts = owners().any(|owner| is_inside(&owner.name) && owner.class.ends_with("Experts"));
            if self.context.gathers_experts_at_once && holds_experts {
                let inside = owners().enumerate().filter(|(_, owner)| is_inside(&owner.name));
                let parameters = inside.flat_map(|(module, _)| self.block.parameters(module)).collect();
                self.hooked((outer, parameters, true), within, |runner| runner.run_in_order(within, on_embedding));
            } else {
                self.hooked((outer, Vec::new(), false), within, |runner| {
                    runner.run_modules(within, depth.saturating_add(1), on_embedding);
                });
            }
            rest = others;
        }
    }

    /// The module at `depth` that holds the one of `op`: `mlp` of `mlp.down_proj` at 0.
    fn outer_module(&self, op: &Op, depth: usize) -> Option<&'a str> {
        let name = self.block.block()?.modules.get(op.module?)?.name.as_str();
        name.match_indices('.').nth(depth).and_then(|(at, _)| name.get(..at))
    }

    /// Runs operators in order; those of one module in a row run inside its hooks.
    fn run_in_order(&mut self, ops: &[Op], on_embedding: Option<(usize, OnEmbedding<'_>)>) {
        let mut rest = ops;
        while let [first, ..] = rest {
            let count = match first.module {
                Some(module) if !matches!(first.action, Action::Linear(_)) => {
                    rest.iter().take_while(|op| op.module == Some(module)).count()
                }
                _ => 1,
            };
            let (run, others) = rest.split_at(count.max(1));
            match (first.module, on_embedding) {
                (Some(module), Some((table, look_up))) if module == table => self.embed(run, look_up),
                (Some(module), _) if self.norms_in_one(module) => self.fused_norm(module, run),
                (Some(module), _) if self.gated_norm_in_one(module, run) => {}
                (Some(module), _) if self.experts_one_by_one(module, run) => {}
                (Some(module), _) if self.experts_in_one(module, run) => {}
                (Some(module), _) if !matches!(first.action, Action::Linear(_)) => {
                    let owner = self.block.block().and_then(|block| block.modules.get(module));
                    let name = owner.map_or("", |owner| owner.name.as_str());
                    let parameters = self.block.parameters(module);
                    self.hooked((name, parameters, false), run, |runner| runner.all(Some(module), run));
                }
                (module, _) => self.all(module, run),
            }
            let next = others.first().and_then(|op| op.module);
            if first.module.is_some() && next != first.module {
                self.parametrized = Parametrized::default();
            }
            rest = others;
        }
    }

    /// Runs the module of token embeddings as its caller says.
    fn embed(&mut self, run: &[Op], look_up: OnEmbedding<'_>) {
        let Some(last) = run.last().map(|op| op.first) else { return };
        let this = std::cell::RefCell::new(&mut *self);
        let out = look_up(&|| {
            let mut this = this.borrow_mut();
            run.iter().for_each(|op| this.op(op));
            this.values.get_mut(last)?.take()
        });
        // What follows goes by the embeddings' dtype.
        self.stream = out.as_ref().map_or(self.stream, Tensor::element);
        self.set(last, out);
    }

    /// Runs operators of one module, or of none, in order.
    fn all(&mut self, module: Option<usize>, run: &[Op]) {
        module.into_iter().for_each(|module| self.parametrize(module));
        run.iter().for_each(|op| self.op(op));
    }

    /// `torch.nn.functional.linear` of a weight that is no linear layer's (a router's), where DeepSpeed's stage 3 has put its own
    /// function in that one's place: it saves what it reads, whatever trains.
    pub(super) fn zero3_linear(&self, op: &Op, operator: &Operator, inputs: &[Tensor]) -> Option<Tensor> {
        let is_linear = self.context.tape.zero3_linear.get()
            && matches!(operator.kernel, Kernel::Matmul | Kernel::BiasMatmul)
            && matches!(op.inputs.last(), Some(Value::Numbered(weight)) if self.code.is_transposed(*weight));
        let (x, weight, bias) = match inputs {
            _ if !is_linear => return None,
            [x, weight] => (x, weight, None),
            [bias, x, weight] => (x, weight, Some(bias)),
            _ => return None,
        };
        let shape = self.sizes.shape(operator.outputs.first()?.shape);
        let width = (*shape.symbols().last()?, shape.width());
        Some(linear(x, weight, bias, width, self.label(op, operator, 0)).reshaped(shape))
    }

    /// Runs an activation, which is a module of its own without parameters (transformers activations.py `ACT2FN`).
    pub(super) fn in_activation(&mut self, op: &Op, run: impl FnOnce(&mut Self)) {
        if op.is_activation() {
            self.hooked(("activation", Vec::new(), false), std::slice::from_ref(op), run);
        } else {
            run(self);
        }
    }

    /// Runs what `run` does, the operators `ops`, inside ZeRO-3's hooks of a module: its name, its parameters, and whether these are all that
    /// modules in it have.
    fn hooked(
        &mut self,
        (name, parameters, is_leaf): (&str, Vec<&'a Tensor>, bool),
        ops: &[Op],
        run: impl FnOnce(&mut Self),
    ) {
        let input = ops.first().and_then(|op| {
            op.inputs.iter().find_map(|value| match value {
                Value::Numbered(number) => Some((*number, self.values.get(*number)?.clone()?)),
                Value::Parameter(..) => None,
            })
        });
        let last = ops.last().filter(|op| !op.kept.is_empty()).map(|op| op.first);
        let (Some((number, x)), Some(last), true) = (input, last, self.context.zero3.is_some()) else {
            return run(self);
        };
        let context = self.context;
        let forward = |seen: &Tensor| {
            self.set(number, Some(seen.clone()));
            run(self);
            let out = self.values.get_mut(last).and_then(Option::take);
            out.unwrap_or_else(|| seen.clone())
        };
        let out = if is_leaf {
            context.leaf_module(name, &parameters, &x, forward)
        } else {
            context.module(name, &parameters, &x, forward)
        };
        // What stands behind the module reads its input as it was.
        if self.values.get(number).is_some_and(Option::is_some) {
            self.set(number, Some(x));
        }
        self.set(last, Some(out));
    }
}
