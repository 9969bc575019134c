//! A recorded block: its operators in order, on its own parameters, with what autocast, adapters and sharding do to them.

mod adapters;
mod cache;
mod calls;
mod casts;
mod eager;
mod experts;
mod gated_norm;
mod labels;
mod liger;
mod loops;
mod modules;
mod parameters;

pub(in crate::memory) use calls::{arguments, run_between, run_recorded};

use super::super::autograd::{ElementType, Made, Setting, Shape, Sym, Tensor, dims};
use super::super::sizes::Sizes;
use super::super::term::Term;
use super::super::weights::{BaseWeight, OwnerWeights, Projection, RecordedBlock};
use super::ForwardContext;
use super::cache::remember;
use super::eager_attention::eager;
use super::fused_attention::{Call, fused};
use super::tower_attention::{TowerMask, in_pieces};
use crate::job::AttentionKernel;
use crate::model::{
    Action, Attend, Attention, Autocast, CAUSAL_MASK, Code, GatedProduct, Op, RESIDUAL, SLIDING_MASK, Value,
};
use adapters::Ahead;
use parameters::Parametrized;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Most operators of one run of a block, its loops' all counted: no program keeps the page busy for longer.
const MOST_OPERATORS: u64 = 1 << 22;

/// A block while it runs.
struct Runner<'a> {
    context: &'a ForwardContext,
    block: &'a RecordedBlock,
    code: &'a Code,
    sizes: Rc<Sizes>,
    values: Vec<Option<Tensor>>,
    /// Of each value its dtype, once it was there.
    elements: Vec<Option<ElementType>>,
    /// Of each value that an upcast led to: the dtype before it.
    origins: Vec<Option<ElementType>>,
    /// Of each list, what the times of a loop have added.
    lists: BTreeMap<usize, Vec<Tensor>>,
    /// dtype of the residual stream that the block takes.
    stream: ElementType,
    /// Adapters of bare parameters, and these as they leave them, while the module that reads them runs.
    parametrized: Parametrized<'a>,
    /// Operators that may still run.
    left: u64,
    /// Products that Liger's kernel makes.
    products: Vec<GatedProduct>,
    /// What axolotl's LoRA kernels have made ahead of its turn.
    made: Ahead,
    /// Operators of eager attention that pass on what they read, by the numbers of what they make.
    passing: Vec<usize>,
    /// Views that a matmul makes by a copy, by the same.
    copying: Vec<usize>,
    /// What eager attention makes of keys and values in a cache.
    of_cached_keys: Option<OfCachedKeys>,
    /// Keys and values that the cache takes, where attention is in the block's own operators.
    to_cache: Option<KeysAndValues>,
    /// Whether the cache has the layer's keys and values.
    has_cached: bool,
    /// The operator that weighs values by scores, by the number of what it makes.
    weighs: Option<usize>,
}

/// Keys and values as the cache takes them, by the numbers of values, and the first operator that reads what it gives back.
#[derive(Debug, Clone, Copy)]
struct KeysAndValues {
    keys: usize,
    values: usize,
    read_by: usize,
}

/// What eager attention makes of keys and values that a cache holds.
struct OfCachedKeys {
    /// Operators that repeat them for the heads that share them, by the numbers of what they make.
    operators: Vec<usize>,
    /// A program's shapes with as many tokens as the cache holds.
    shapes: Rc<[Shape]>,
}

impl<'a> Runner<'a> {
    fn new(context: &'a ForwardContext, block: &'a RecordedBlock, code: &'a Code, x: Option<&Tensor>) -> Self {
        let sizes = context.sizes(&block.of);
        let stream = x.filter(|_| !code.narrows_stream).map_or(context.loaded, Tensor::element);
        let mut runner = Self {
            context,
            block,
            code,
            sizes,
            values: vec![None; code.values],
            elements: vec![None; code.values],
            origins: vec![None; code.values],
            lists: BTreeMap::new(),
            stream,
            parametrized: Parametrized::default(),
            left: MOST_OPERATORS,
            products: Vec::new(),
            made: Ahead::new(),
            passing: Vec::new(),
            copying: Vec::new(),
            of_cached_keys: None,
            to_cache: None,
            has_cached: false,
            weighs: None,
        };
        runner.to_cache = runner.keys_and_values();
        runner.read_cached_keys();
        runner.products = runner.gated_products();
        runner.passing = runner.passing_operators();
        runner.copying = runner.copying_views();
        runner.weighs = runner.weighing_operator();
        for (number, name) in code.takes.iter().enumerate() {
            let value = if name == RESIDUAL { x.cloned() } else { runner.taken(name) };
            runner.set(number, value);
        }
        runner
    }

    fn taken(&self, name: &str) -> Option<Tensor> {
        if let Some(found) = self.context.scope.borrow().get(name) {
            return Some(found.clone());
        }
        let context = self.context;
        let mask = |slides: bool| {
            let masks = context.masks.borrow();
            masks.iter().find(|(window, _)| window.is_some() == slides).map(|(_, mask)| mask.clone())
        };
        match name {
            "input_ids" => {
                // The batch holds them.
                let nothing = dims(&[(Sym::One, 0)]);
                let label = context.label(Term::BatchInputs, "input_ids");
                let ids = Tensor::new(&context.tape, label, nothing, ElementType::I64);
                let reads_sources = self.block.of.program.reads_sources;
                let length = if reads_sources { context.source } else { context.length };
                let shape = dims(&[(Sym::B, context.batch), (Sym::S, length)]);
                Some(ids.standing_for(shape, ElementType::I64))
            }
            CAUSAL_MASK => mask(false),
            // Of a config without a window the class makes the other.
            SLIDING_MASK => mask(true).or_else(|| mask(false)),
            _ => {
                // The batch holds it.
                let input = self.block.of.program.inputs.iter().find(|input| input.name == name)?;
                let label = context.label(Term::BatchInputs, name);
                let element = input.held.element(context.loaded);
                let nothing = Tensor::new(&context.tape, label, dims(&[(Sym::One, 0)]), element);
                Some(nothing.standing_for(self.sizes.shape(input.shape), element))
            }
        }
    }

    fn set(&mut self, number: usize, value: Option<Tensor>) {
        if let Some(value) = &value {
            let element = Some(value.element());
            self.elements.get_mut(number).into_iter().for_each(|place| *place = element);
        }
        if value.is_some() {
            self.values.get_mut(number).into_iter().for_each(|place| *place = value.clone());
        }
    }

    fn read(&mut self, value: Value) -> Option<Tensor> {
        match value {
            Value::Numbered(number) => self.values.get(number)?.clone(),
            Value::Parameter(module, place) => match self.block.owners.get(module)? {
                OwnerWeights::Linear(projection) => {
                    // Of its own parameters: those of adapters stand behind them.
                    let found =
                        if place == 0 { projection.parameters().first().copied() } else { projection.bias.as_ref() };
                    found.cloned().or_else(|| self.absent(module, place))
                }
                OwnerWeights::Bare(own) => match own.get(place)?.as_ref() {
                    Some(bare) => Some(self.bare((module, place), bare)),
                    None => self.absent(module, place),
                },
                OwnerWeights::Experts(_) => None,
            },
        }
    }

    fn op(&mut self, op: &Op) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        if self.to_cache.is_some_and(|cached| cached.read_by == op.first) {
            self.cache_keys();
        }
        match &op.action {
            _ if self.is_made(op) => {}
            Action::Linear(shape) => self.linear(op, *shape),
            Action::Attention(attend) => self.attention(op, attend),
            Action::Operator(operator) => {
                if !self.fused_gate(op) && !self.passes(op) {
                    self.in_activation(op, |runner| runner.operator(op, operator));
                }
            }
            Action::Repeat(repeat) => self.repeat(repeat),
        }
        self.leaves(op);
        self.hand(op);
        self.fill_cache(op);
        if self.code.attends_until == Some(op.first) {
            self.cache_keys();
        }
        self.free(op);
    }

    /// Gives back what goes right after an operator.
    fn free(&mut self, op: &Op) {
        for freed in &op.frees {
            self.values.get_mut(*freed).into_iter().for_each(|value| drop(value.take()));
            self.free_list(*freed);
            if let Some(name) = self.code.takes.get(*freed).filter(|name| *name != RESIDUAL) {
                drop(self.context.scope.borrow_mut().take(name));
            }
        }
    }

    /// Zeros that checkpointing makes require gradients. The embeddings of images are made to require gradients as those of tokens are (transformers modeling_utils.py
    /// `enable_input_require_grads`: of every model in the model).
    fn leaves(&mut self, op: &Op) {
        let context = self.context;
        if op.makes_zeros() && context.checkpoints && self.block.of.program.reads_sources && context.tape.grad_enabled()
        {
            // In the place of a position bias, which is to get a gradient (modeling_t5.py `T5Attention.forward`).
            let label = context.label(Term::ActivationGradients, "position bias");
            for zeros in self.values.get_mut(op.first).into_iter().flatten() {
                *zeros = zeros.clone().into_leaf(Some(label));
            }
        }
        if self.code.leaves.is_empty() || !context.input_grads.images || !context.tape.grad_enabled() {
            return;
        }
        let made = op.first..op.first + op.kept.len().max(1);
        for number in self.code.leaves.iter().filter(|number| made.contains(number)) {
            let place = self.values.get_mut(*number);
            for value in place.into_iter().flatten() {
                if !value.requires_grad() {
                    let label = context.label(Term::ActivationGradients, "image embeddings");
                    *value = value.clone().into_leaf(Some(label));
                }
            }
        }
    }

    /// What a checkpoint within the layer's is handed by name (Zamba2's Mamba layer what the shared transformer gives).
    fn hand(&mut self, op: &Op) {
        let made = op.first..op.first + op.kept.len().max(1);
        for number in self.code.handed.iter().filter(|number| made.contains(number)) {
            for value in self.values.get_mut(*number).into_iter().flatten() {
                *value = self.context.tape.hand(value.clone());
            }
        }
    }

    fn linear(&mut self, op: &Op, shape: usize) {
        let input = op.inputs.first().and_then(|input| self.read(*input));
        let (Some(x), Some(module)) = (input, op.module) else { return };
        let x = self.cast_for_kept(op, module, x);
        self.run_adapters_together(op, &x);
        if self.is_made(op) {
            return;
        }
        let out = match self.block.owners.get(module) {
            Some(OwnerWeights::Linear(projection)) => {
                projection.run(self.context, &x, Term::of_region(op.region, true))
            }
            Some(OwnerWeights::Bare(_)) => match self.plain(module) {
                Some(projection) => projection.run(self.context, &x, Term::of_region(op.region, true)),
                None => return,
            },
            Some(OwnerWeights::Experts(_)) | None => return,
        };
        drop(x);
        let out = out.reshaped(self.sizes.shape(shape));
        self.set(op.first, Some(out));
    }

    /// A module of a class derived from `torch.nn.Linear`, which nothing quantises and no adapter replaces.
    fn plain(&mut self, module: usize) -> Option<Projection> {
        let name = self.block.block()?.modules.get(module)?.name.clone();
        let weight = self.read(Value::Parameter(module, 0))?;
        let bias = self.read(Value::Parameter(module, 1));
        let (d_in, rows) = (weight.shape().width(), weight.shape().rows().elements());
        let weight = BaseWeight::Plain(weight);
        Some(Projection { name, d_in, d_out: rows, sym: Sym::DOut, weight, bias, adapter: None })
    }

    fn attention(&mut self, op: &Op, attend: &Attend) {
        let inputs: Vec<Option<Tensor>> = op.inputs.iter().take(3).map(|input| self.read(*input)).collect();
        let [Some(q), Some(k), Some(v)] = inputs.as_slice() else { return };
        let lies = |x: &Tensor, i: usize| {
            let token_major = attend.token_major.get(i).copied().unwrap_or(true);
            x.clone().with_head_major(!token_major)
        };
        let (q, k, v) = (lies(q, 0), lies(k, 1), lies(v, 2));
        drop(inputs);
        let given = op.inputs.get(3).filter(|_| attend.masked).and_then(|mask| self.read(*mask));
        if !attend.causal && (self.block.sees_images() || self.block.of.program.reads_sources) {
            let size = |dim: usize| self.sizes.size(dim);
            let heads = (size(attend.heads), size(attend.kv_heads), size(attend.width), size(attend.value_width));
            let pieces = attend.pieces.map(|dim| size(dim).max(1));
            let mask = attend.masked.then(|| match given {
                Some(mask) if mask.element() != ElementType::Byte => TowerMask::Numbers(mask),
                _ => TowerMask::Booleans { rows: attend.mask_rows.map_or(1, size) },
            });
            let out = in_pieces(self.context, heads, (pieces, mask), (&q, &k, &v));
            drop((q, k, v));
            let out = out.reshaped(self.sizes.shape(attend.shape));
            self.set(op.first, Some(out));
            return;
        }
        let size = |dim: usize| self.sizes.size(dim);
        let facts = Attention {
            num_attention_heads: size(attend.heads),
            num_key_value_heads: size(attend.kv_heads),
            head_dim: size(attend.width),
            value_head_dim: size(attend.value_width),
            latent: None,
            sliding_window: attend.window.map(size).filter(|window| *window > 0),
            logit_softcapping: false,
            // All that memory asks of the rate is whether there is one.
            dropout: if attend.rate.is_some() && self.drops_out(attend.rate.as_ref()) { 1.0 } else { 0.0 },
        };
        let (k, v) = remember(self.context, k, v);
        let out = if self.context.kernel == AttentionKernel::Eager {
            eager(self.context, &facts, &q, &k, &v)
        } else {
            let call = Call {
                is_masked: attend.masked,
                rows: attend.mask_rows.map(size),
                mask: given.filter(|mask| mask.element() != ElementType::Byte),
                is_bare: attend.is_bare,
                groups: attend.groups,
            };
            fused(self.context, (&facts, call), &q, &k, &v)
        };
        drop((q, k, v));
        let out = out.reshaped(self.sizes.shape(attend.shape));
        self.set(op.first, Some(out));
    }

    /// Whether dropout of the rate under `key` runs: `F.dropout` outside of training, and of a rate of none, gives its tensor back
    /// (aten/src/ATen/native/Dropout.cpp `dropout`).
    fn drops_out(&self, key: Option<&String>) -> bool {
        self.context.drops_out && self.block.of.drops_out(key)
    }

    fn operator(&mut self, op: &Op, operator: &super::super::autograd::Operator) {
        if let (true, false, [input, ..]) =
            (operator.kernel.is_dropout(), self.drops_out(op.rate.as_ref()), op.inputs.as_slice())
        {
            let same = self.read(*input);
            self.set(op.first, same);
            return;
        }
        if self.routes_linearly(op, operator) {
            return;
        }
        let Some((read, inputs)) = self.spread(op) else { return };
        let whole = read.as_ref().map(|(_, counts)| operator.spread(counts));
        let operator = whole.as_ref().unwrap_or(operator);
        let read = read.as_ref().map_or(op.inputs.as_slice(), |(read, _)| read.as_slice());
        let origin = op.inputs.iter().find_map(|input| match input {
            Value::Numbered(number) => self.origins.get(*number).copied().flatten(),
            Value::Parameter(..) => None,
        });
        let inputs = self.cast(op, read, inputs);
        let is_cast = operator.kernel.is_cast();
        let made = operator.outputs.first().map(|output| output.made);
        let from = inputs.first().map(Tensor::element).filter(|element| element.is_floating());
        let upcast_from = match (is_cast, made, op.inputs.first()) {
            (true, Some(Made::Of(ElementType::F32)), Some(Value::Numbered(_))) => origin.or(from),
            // `x.to(weight.dtype)` of what a projection under autocast made in 16 bits, beside weights in fp32: what follows goes back to
            // the dtype of x (modeling_lfm2_moe.py `causal_conv1d_fn`).
            (true, Some(Made::Model), Some(Value::Numbered(_)))
                if origin.is_none() && !matches!(op.like, Some(Value::Numbered(_))) =>
            {
                from.filter(|from| self.stream == ElementType::F32 && from.bytes() < self.stream.bytes())
            }
            (true, ..) => None,
            (false, ..) => origin,
        };
        let wide = op.cast == Autocast::WideResult && *self.context.autocast.borrow();
        let model = self.bias_of_zeros(op).unwrap_or(self.stream);
        let shapes = self.shapes_of(op, operator);
        let setting = Setting {
            tape: &self.context.tape,
            shapes: &shapes,
            model: match is_cast {
                true => self.dtype_taken(op).or(origin).or_else(|| self.of_probabilities(op)).unwrap_or(model),
                false => model,
            },
            wide_results: wide,
        };
        let references: Vec<&Tensor> = inputs.iter().collect();
        let outputs = match self.zero3_linear(op, operator, &inputs) {
            Some(out) => std::iter::once(out).collect(),
            None => operator.run(setting, &references, |place| self.label(op, operator, place)),
        };
        drop(references);
        drop(inputs);
        for (number, output) in (op.first..).zip(outputs) {
            // Numbers of experts that were chosen by scores say nothing of the dtype of the tokens that they choose.
            let led_to = upcast_from.filter(|_| output.element().is_floating());
            self.origins.get_mut(number).into_iter().for_each(|place| *place = led_to);
            self.set(number, Some(output));
        }
    }
}
