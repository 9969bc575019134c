//! A recorded block's operators, timed one after the other: forward as they run, backward as autograd runs it.
//!
//! An operator is one kernel that reads its tensors and writes what it makes; views are none. Matmuls take their arithmetic, too
//! (`kernel`), linear layers and attention what quantised weights, adapters and fused kernels make of them (`linear`,
//! `attention`). Backward runs what leads to a gradient that is wanted, sums what was broadcast, and adds up the gradients of what
//! several operators read.

use headroom_torch::{ElementType, Kernel, Made, Operator};

use super::Part;
use super::attention::{Call, attention};
use super::inputs::TimingInputs;
use super::kernel::{Known, Work, kernel};
use super::linear::linear;
use super::sizes::Sizes;
use super::tally::{Passes, Tally};
use crate::model::{
    Action, Attend, Autocast, Block, Code, GatedProduct, Module, ModuleKind, Op, Owner, RESIDUAL, Region, Repeat,
    Rotation, Value, Way,
};

/// A block while it is timed.
pub(super) struct Timed<'a> {
    pub(super) inputs: &'a TimingInputs<'a>,
    pub(super) sizes: &'a Sizes<'a>,
    code: &'a Code,
    pub(super) owners: &'a [Owner],
    /// The model's module that each of them is.
    modules: Vec<Option<&'a Module>>,
    /// Whether it stands outside the layers.
    outside: bool,
    pub(super) values: Vec<Known>,
    /// The first value that the loop makes that runs.
    pub(super) of_loop: usize,
    /// Products of gate and up, and rotations, that Liger's kernels make.
    pub(super) products: Vec<GatedProduct>,
    pub(super) rotations: Vec<Rotation>,
    /// Whether Liger's kernels stand in for operators.
    liger: bool,
    pub(super) passes: Passes,
    /// Bytes that are kept for backward.
    pub(super) saved: f64,
}

impl<'a> Timed<'a> {
    /// `block` with the model's `modules`; `needs`: whether the residual stream that it takes gets a gradient.
    pub(super) fn new(
        (inputs, sizes): (&'a TimingInputs<'a>, &'a Sizes<'a>),
        (block, way): (&'a Block, Way),
        (modules, outside): (&'a [Module], bool),
        (needs, sees_images): (bool, bool),
    ) -> Self {
        let code = block.code(way);
        // Those with buffers alone are no modules of the model.
        let mut own = modules.iter().peekable();
        let modules = block.modules.iter().map(|owner| own.next_if(|module| module.name == owner.name)).collect();
        let liger = inputs.setting.liger && !sees_images;
        let mut timed = Self {
            inputs,
            sizes,
            code,
            owners: &block.modules,
            modules,
            outside,
            values: vec![Known::default(); code.values],
            of_loop: 0,
            products: if liger { code.gated_products() } else { Vec::new() },
            rotations: if liger { code.rotations() } else { Vec::new() },
            liger,
            passes: Passes::default(),
            saved: 0.0,
        };
        let encoded = inputs.model.recorded.program.encoder_output();
        for (number, name) in code.takes.iter().enumerate() {
            let flows = name == RESIDUAL && needs || inputs.training && encoded == Some(name);
            let known = Known { needs: flows, ..timed.taken(number) };
            timed.set(number, known);
        }
        timed
    }

    /// What the first operator that works on a value that the block takes says of its size.
    fn taken(&self, number: usize) -> Known {
        let reads = |op: &&Op| op.inputs.first() == Some(&Value::Numbered(number));
        let stream = self.inputs.stream_element();
        match self.code.all().into_iter().find(reads).map(|op| (&op.action, op.module)) {
            Some((Action::Operator(operator), _)) => {
                operator.outputs.first().map_or_else(Known::default, |output| self.sizes.tensor(output.shape, stream))
            }
            Some((Action::Linear(shape), Some(module))) => {
                let out = self.sizes.tensor(*shape, stream);
                let elements = out.elements / out.width.max(1.0) * self.width_read(module);
                Known { elements, lies: elements, ..out }
            }
            _ => Known { element: stream, ..Known::default() },
        }
    }

    fn width_read(&self, module: usize) -> f64 {
        match self.modules.get(module).copied().flatten().map(|module| &module.kind) {
            Some(ModuleKind::Linear { d_in, .. }) => *d_in as f64,
            _ => 0.0,
        }
    }

    /// Times what runs before the layer is called, outside of its checkpoint, and gives that back.
    pub(super) fn before(&mut self) -> Passes {
        self.run(&self.code.pre);
        for (name, value) in &self.code.ahead {
            if let (true, Value::Numbered(number)) = (name == RESIDUAL, value) {
                let training = self.inputs.training;
                self.values.get_mut(*number).into_iter().for_each(|known| known.needs |= training);
            }
        }
        std::mem::take(&mut self.passes)
    }

    /// Times its own operators.
    pub(super) fn own(&mut self) {
        self.run(&self.code.ops);
    }

    /// Bytes of the residual stream that it takes.
    pub(super) fn taken_bytes(&self) -> f64 {
        let place = self.code.takes.iter().position(|name| name == RESIDUAL);
        place.and_then(|place| self.values.get(place)).map_or(0.0, Known::bytes)
    }

    fn run(&mut self, ops: &'a [Op]) {
        let mut rest = ops;
        while let [first, others @ ..] = rest {
            rest = others;
            match first.module {
                Some(module) if self.liger && self.is_fused_norm(module) => {
                    let more = others.iter().take_while(|op| op.module == Some(module)).count();
                    let (own, behind) = others.split_at(more);
                    self.fused_norm(first, own.last().unwrap_or(first));
                    rest = behind;
                }
                _ => self.op(first),
            }
        }
    }

    /// Kernels that only move bytes, in forward and, where it runs, in backward: bytes and kernels of each.
    pub(super) fn traffic(&mut self, forward: (f64, f64), backward: (f64, f64), needs: bool) {
        let rates = &self.inputs.rates;
        self.passes.forward.traffic(rates, Part::MemoryTraffic, forward.0, forward.1);
        if needs {
            self.passes.backward.traffic(rates, Part::MemoryTraffic, backward.0, backward.1);
        }
    }

    fn op(&mut self, op: &'a Op) {
        match &op.action {
            _ if self.liger && self.is_fused(op) => {}
            Action::Linear(shape) => self.linear(op, *shape),
            Action::Attention(attend) => self.attend(op, attend),
            Action::Operator(operator) => self.operator(op, operator),
            Action::Repeat(repeat) => self.repeat(repeat),
        }
    }

    fn linear(&mut self, op: &Op, shape: usize) {
        let [input] = *op.inputs.as_slice() else { return };
        let (inputs, x) = (self.inputs, self.read(input));
        let made = self.sizes.tensor(shape, inputs.matmul_element());
        let rows = made.elements / made.width.max(1.0);
        let Some(number) = op.module else { return };
        let module = self.modules.get(number).copied().flatten();
        let weight = self.read(Value::Parameter(number, 0));
        let mut own = Passes::default();
        let trains = match module {
            Some(module) if matches!(module.kind, ModuleKind::Linear { .. }) => {
                if rows > 0.0 {
                    linear(&mut own, inputs, module, rows, self.outside);
                }
                inputs.trains_base(module) || inputs.adapts(module, self.outside)
            }
            _ => {
                let rates = &inputs.rates;
                let run = |tally: &mut Tally, parts, read: [Known; 2], made| {
                    kernel(tally, rates, Work { parts, kernel: Kernel::Matmul, renames: false }, (&read, &[made]));
                };
                run(&mut own.forward, FORWARD, [x, weight], made);
                run(&mut own.backward, BACKWARD, [made, weight], x);
                run(&mut own.backward, BACKWARD, [made, x], weight);
                weight.needs
            }
        };
        let needs = inputs.training && (x.needs || trains);
        if !needs {
            own.backward = Tally::default();
        }
        self.passes.add(&own, 1.0);
        self.gets_gradient(input, &x);
        self.keep(op, &[made]);
        self.set(op.first, Known { needs, ..made });
    }

    /// Notes what is kept for backward of what an operator makes.
    fn keep(&mut self, op: &Op, made: &[Known]) {
        let kept = made.iter().zip(&op.kept).filter(|(_, kept)| **kept);
        self.saved += kept.map(|(made, _)| made.bytes()).sum::<f64>();
    }

    fn attend(&mut self, op: &Op, attend: &Attend) {
        let [q, k, v, ..] = *op.inputs.as_slice() else { return };
        let read = [q, k, v].map(|value| self.read(value));
        let size = |dim: usize| self.sizes.dim(dim);
        let made = self.sizes.tensor(attend.shape, self.inputs.matmul_element());
        if made.elements == 0.0 {
            return;
        }
        let (heads, value_width) = (size(attend.heads), size(attend.value_width));
        let tokens = made.elements / (heads * value_width).max(1.0);
        let queries = self.sizes.second(attend.shape).max(1.0);
        let [_, keys, _] = read;
        let row = (size(attend.kv_heads) * size(attend.width)).max(1.0) * (tokens / queries);
        let keys = if keys.elements > 0.0 { keys.elements / row } else { queries };
        let is_text = queries == self.inputs.length;
        let documents = if is_text { self.inputs.documents } else { 1.0 };
        let pieces = attend.pieces.map_or(1.0, size).max(1.0) * documents.max(1.0);
        let call = Call {
            tokens,
            queries: queries / pieces,
            keys: keys / pieces,
            heads,
            kv_heads: size(attend.kv_heads),
            width: size(attend.width),
            value_width,
            is_causal: attend.causal,
            window: attend.window.map(size).filter(|window| *window > 0.0),
            is_masked: attend.masked,
            is_bare: attend.is_bare,
        };
        let needs = self.inputs.training && read.iter().any(|known| known.needs);
        let mut own = Passes::default();
        attention(&mut own, self.inputs, &call);
        if !needs {
            own.backward = Tally::default();
        }
        self.passes.add(&own, 1.0);
        for (value, known) in [q, k, v].into_iter().zip(&read) {
            self.gets_gradient(value, known);
        }
        self.keep(op, &[made]);
        self.set(op.first, Known { needs, ..made });
    }

    /// A loop: what it carries gets a gradient from its second time on, which stands for all.
    fn repeat(&mut self, repeat: &'a Repeat) {
        let times = self.sizes.dim(repeat.times);
        let first = repeat.ops.first().map_or(self.values.len(), |op| op.first);
        let outer = std::mem::replace(&mut self.of_loop, first);
        let (before, saved) = (std::mem::take(&mut self.passes), self.saved);
        self.run(&repeat.ops);
        for (to, from) in &repeat.carry {
            let carried = self.read(Value::Numbered(*from));
            self.values.get_mut(*to).into_iter().for_each(|known| known.needs |= carried.needs);
        }
        (self.passes, self.saved) = (Passes::default(), 0.0);
        self.run(&repeat.ops);
        let one = std::mem::replace(&mut self.passes, before);
        self.passes.add(&one, times);
        self.saved = self.saved.mul_add(times, saved);
        self.of_loop = outer;
        for (value, list) in &repeat.collect {
            let one = self.read(Value::Numbered(*value));
            self.set(*list, Known { elements: one.elements * times, lies: one.lies * times, readers: 0, ..one });
        }
    }

    fn operator(&mut self, op: &'a Op, operator: &'a Operator) {
        let inputs = self.inputs;
        let mut read: Vec<Known> = op.inputs.iter().map(|value| self.read(*value)).collect();
        let drops = || inputs.training && inputs.model.recorded.drops_out(op.rate.as_ref());
        if let (true, [same, ..]) = (operator.kernel.is_dropout() && !drops(), read.as_slice()) {
            return self.pass_on(op, *same);
        }
        self.autocast(op, &mut read);
        let made: Vec<Known> = operator
            .outputs
            .iter()
            .map(|output| {
                let new = self.sizes.tensor(output.shape, self.element(op, output.made, &read));
                let lies = output.of.and_then(|of| read.get(of)).map_or(new.lies, |of| of.lies.min(new.lies));
                Known { lies, ..new }
            })
            .collect();
        if let (true, [same, ..], [new]) = (operator.kernel.is_cast(), read.as_slice(), made.as_slice())
            && same.element == new.element
        {
            return self.pass_on(op, *same);
        }
        let renames = operator.outputs.iter().all(|output| output.of.is_some());
        let scores = self.is_scores(op, &made);
        let work = Work { parts: parts(op, scores, FORWARD), kernel: operator.kernel, renames };
        kernel(&mut self.passes.forward, &inputs.rates, work, (&read, &made));
        if !renames {
            self.keep(op, &made);
        }
        let mut needs = false;
        if let Some(place) = operator.place.as_ref().filter(|_| inputs.training) {
            let edges: Vec<bool> =
                place.edges.iter().map(|edge| read.get(*edge).is_some_and(|known| known.needs)).collect();
            needs = edges.contains(&true);
            if needs {
                self.backward((op, place), (&read, &made), &edges, parts(op, scores, BACKWARD));
            }
        }
        for (number, made) in (op.first..).zip(made) {
            self.set(number, Known { needs: needs && made.element.is_floating(), ..made });
        }
    }

    /// An operator that gives what it is given.
    fn pass_on(&mut self, op: &Op, same: Known) {
        op.inputs.first().into_iter().for_each(|value| self.gets_gradient(*value, &same));
        self.set(op.first, Known { readers: 0, ..same });
    }

    /// Numbers for each token that asks and each that answers.
    fn is_scores(&self, op: &Op, made: &[Known]) -> bool {
        let length = self.inputs.length;
        let square = |known: &Known| known.width == length && known.elements == known.matrices * length * length;
        matches!(op.region, Region::Attention | Region::AttentionOutput) && made.first().is_some_and(square)
    }

    /// Casts what autocast casts, and casts its gradient back.
    fn autocast(&mut self, op: &Op, read: &mut [Known]) {
        let to = match op.cast {
            Autocast::Lower => ElementType::Half,
            Autocast::Wide | Autocast::WideNorm => ElementType::F32,
            Autocast::Passes | Autocast::WideResult => return,
        };
        if !self.inputs.setting.autocast {
            return;
        }
        let is_cast =
            |known: &&mut Known| matches!(known.element, ElementType::Half | ElementType::F32) && known.element != to;
        for known in read.iter_mut().filter(is_cast) {
            // Of 16 bits and 32 one is read and one is written.
            let bytes = known.elements * 6.0;
            let needs = known.needs && self.inputs.training;
            self.traffic((bytes, 1.0), (bytes, 1.0), needs);
            (known.element, known.lies) = (to, known.elements);
        }
    }

    /// dtype of what an operator makes (c10 `result_type`).
    fn element(&self, op: &Op, made: Made, read: &[Known]) -> ElementType {
        let stream = self.inputs.stream_element();
        let found = match made {
            Made::Of(element) => element,
            Made::Model => {
                op.like.map(|like| self.read(like).element).filter(|like| like.is_floating()).unwrap_or(stream)
            }
            Made::Promoted => promoted(read).unwrap_or(stream),
        };
        let widens = op.cast == Autocast::WideResult && self.inputs.setting.autocast && found == ElementType::Half;
        if widens { ElementType::F32 } else { found }
    }

    pub(super) fn set(&mut self, number: usize, known: Known) {
        self.values.get_mut(number).into_iter().for_each(|place| *place = known);
    }

    pub(super) fn read(&self, value: Value) -> Known {
        match value {
            Value::Numbered(number) => self.values.get(number).copied().unwrap_or_default(),
            Value::Parameter(module, place) => self.parameter(module, place).unwrap_or_default(),
        }
    }

    fn parameter(&self, module: usize, place: usize) -> Option<Known> {
        let parameter = self.owners.get(module)?.parameters.get(place)?;
        let element = parameter.held.element(self.inputs.stream_element());
        let trains =
            || self.modules.get(module).copied().flatten().is_some_and(|module| self.inputs.trains_base(module));
        let fixed = parameter.is_buffer || parameter.is_frozen || parameter.is_unreached || !element.is_floating();
        Some(Known { needs: !fixed && trains(), ..self.sizes.tensor(parameter.shape, element) })
    }
}

/// Matmuls and all else of a direction.
const FORWARD: [Part; 2] = [Part::ForwardMatmuls, Part::MemoryTraffic];
const BACKWARD: [Part; 2] = [Part::BackwardMatmuls, Part::MemoryTraffic];

/// What an operator's time counts as: matmuls that mix tokens, and what works on scores, are attention.
fn parts(op: &Op, scores: bool, [matmul, other]: [Part; 2]) -> [Part; 2] {
    match op.region {
        _ if scores => [Part::Attention; 2],
        Region::Attention | Region::AttentionOutput => [Part::Attention, other],
        _ => [matmul, other],
    }
}

/// The dtype to which tensors of several are brought; one without dimensions widens none that has some.
pub(super) fn promoted(read: &[Known]) -> Option<ElementType> {
    let floating = |scalar: bool| {
        let those = read.iter().filter(move |known| known.element.is_floating() && (known.rank == 0) == scalar);
        those.map(|known| known.element).reduce(ElementType::promote)
    };
    floating(false).or_else(|| floating(true)).or_else(|| read.first().map(|known| known.element))
}
