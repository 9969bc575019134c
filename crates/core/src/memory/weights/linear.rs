//! Linear layers onto the tape: plain, quantised, with an adapter; heads.

use super::builder::{Builder, Place};
use super::modules::{Adapter, BaseWeight, Projection, TableAdapter};
use crate::job::Scheme;
use crate::memory::autograd::{ElementType, LayerTag, Shape, Sym, Tensor, dims};
use crate::memory::parameter::Parameter;
use crate::memory::precision::element_type;
use crate::memory::sharding::strategy;
use crate::memory::term::Term;
use crate::model::{Module, ModuleKind, Role};
use crate::plan::names_module;

/// A linear layer that is not on the tape yet.
#[derive(Debug, Clone, Copy)]
pub(super) struct Linear<'a> {
    pub(super) name: &'a str,
    pub(super) d_in: u64,
    pub(super) d_out: u64,
    /// What d_out is called in formulas.
    pub(super) sym: Sym,
    pub(super) bias: bool,
}

impl<'a> Linear<'a> {
    /// `module`, if it is one; `sym`: what d_out is called.
    fn of(module: &'a Module, sym: Sym) -> Option<Self> {
        let ModuleKind::Linear { d_in, d_out, bias, .. } = module.kind else { return None };
        Some(Self { name: &module.name, d_in, d_out, sym, bias })
    }

    /// The layer once its parameters are on the tape.
    fn held(self, weight: BaseWeight, bias: Option<Tensor>, adapter: Option<Adapter>) -> Projection {
        let Self { name, d_in, d_out, sym, .. } = self;
        Projection { name: name.to_owned(), d_in, d_out, sym, weight, bias, adapter }
    }
}

impl Builder<'_> {
    /// A linear layer whose weight counts as `term`, quantised and adapted as its place and the job say.
    pub(super) fn projection(&mut self, module: &Module, term: Term, place: Place) -> Option<Projection> {
        let element = self.element_of(term, &module.name);
        self.projection_in(element, module, term, place)
    }

    /// The same with a weight that is held in `element` where it is not quantised.
    pub(super) fn projection_in(
        &mut self,
        element: ElementType,
        module: &Module,
        term: Term,
        place: Place,
    ) -> Option<Projection> {
        let linear = Linear::of(module, output_symbol(module.role))?;
        let (weight, bias) = self.base(&linear, (term, element), place);
        let adapter = self.adapter(&linear, place);
        Some(linear.held(weight, bias, adapter))
    }

    /// A module around the weight of `whole`, the name of a linear layer outside the layers, with an adapter of its own.
    pub(super) fn tied_projection(&mut self, module: &Module, whole: &str, place: Place) -> Option<Projection> {
        let linear = Linear::of(module, output_symbol(module.role))?;
        let Projection { weight, bias, .. } = self.tied.iter().find(|one| one.name == whole)?.clone();
        let adapter = self.adapter(&linear, place);
        Some(linear.held(weight, bias, adapter))
    }

    /// The linear layer `name` that such modules are around: no module runs it where it stands, so that it gets no adapter.
    pub(super) fn tied_whole(&mut self, name: &str, [d_out, d_in]: [u64; 2], bias: bool, (term, place): (Term, Place)) {
        let linear = Linear { name, d_in, d_out, sym: Sym::DOut, bias };
        let (weight, bias) = self.base(&linear, (term, self.element_of(term, name)), place);
        self.tied.push(linear.held(weight, bias, None));
    }

    /// The parameters of a linear layer, quantised as its place and the job say.
    fn base(
        &mut self,
        linear: &Linear<'_>,
        (term, element): (Term, ElementType),
        place: Place,
    ) -> (BaseWeight, Option<Tensor>) {
        let Linear { name, d_in, d_out, .. } = *linear;
        let tag = place.tag();
        let weight = if self.quantizes() && !place.is_outside() && !self.is_common {
            let elements = d_in.saturating_mul(d_out).saturating_mul(tag.repeat);
            self.built.counts.base = self.built.counts.base.saturating_add(elements);
            self.quantized(linear, tag)
        } else {
            let shape = dims(&[(Sym::DOut, d_out), (Sym::DIn, d_in)]);
            let held = self.held_parameter((term, element), name, shape, tag);
            BaseWeight::Plain(self.trained_parameter(held, name, tag))
        };
        let bias = linear.bias.then(|| self.parameter(term, name, dims(&[(Sym::DOut, d_out)]), tag));
        (weight, bias)
    }

    /// `lm_head` and its like: never quantised, never adapted by "all-linear".
    pub(super) fn head(&mut self, module: &Module, tag: LayerTag) -> Option<Projection> {
        let linear = Linear::of(module, Sym::V)?;
        let Linear { name, d_in, d_out, .. } = linear;
        let weight = self.parameter(Term::HeadWeights, name, dims(&[(Sym::V, d_out), (Sym::H, d_in)]), tag);
        let bias = linear.bias.then(|| self.parameter(Term::HeadWeights, name, dims(&[(Sym::V, d_out)]), tag));
        let adapter = self.adapter(&linear, Place::Outside(tag));
        Some(linear.held(BaseWeight::Plain(weight), bias, adapter))
    }

    /// The head of a model that ties it to `table`, where adapters part the two: `modules_to_save` copies either by itself, and
    /// an adapter on the head leaves the table as it is (peft tuners/tuners_utils.py `_check_tied_modules` warns of it; its
    /// `ensure_weight_tying` is off).
    pub(super) fn untied_head(&mut self, table: &Tensor, bias: Option<Tensor>, tag: LayerTag) -> Projection {
        let linear = Linear {
            name: "lm_head",
            d_in: table.shape().width(),
            d_out: self.job.model.vocab_size,
            sym: Sym::V,
            bias: bias.is_some(),
        };
        let is_saved = self.job.plan.lora.modules_to_save.iter().any(|saved| names_module(saved, linear.name));
        let weight = if is_saved { self.trained_copy(table.clone(), linear.name, tag) } else { table.clone() };
        let adapter = self.adapter(&linear, Place::Outside(tag));
        linear.held(BaseWeight::Plain(weight), bias, adapter)
    }

    /// The LoRA matrices on a table of embeddings, where it is a target.
    pub(super) fn table_adapter(&mut self, name: &str, [rows, width]: [u64; 2], tag: LayerTag) -> Option<TableAdapter> {
        if !self.adapts() || !self.job.targets.has_module(name, true) {
            return None;
        }
        let r = self.job.plan.lora.r;
        let shapes = [dims(&[(Sym::R, r), (Sym::V, rows)]), dims(&[(Sym::H, width), (Sym::R, r)])];
        // Parameters, not an `nn.Embedding`, which some optimizers treat apart.
        let [a, b] = self.adapter_matrices(shapes, &[name, ".lora_embedding"].concat(), tag);
        Some(TableAdapter { a, b, rows, r })
    }

    /// A layer of the classification head: trained in full beside adapters too (peft adds `classifier` and `score` to
    /// `modules_to_save` for SEQ_CLS, and keeps the frozen original).
    pub(super) fn trained_head(&mut self, linear: Linear<'_>, tag: LayerTag) -> Projection {
        let Linear { name, d_in, d_out, .. } = linear;
        let weight = self.trained(name, dims(&[(Sym::Labels, d_out), (Sym::H, d_in)]), tag);
        let bias = linear.bias.then(|| self.trained(name, dims(&[(Sym::Labels, d_out)]), tag));
        linear.held(BaseWeight::Plain(weight), bias, None)
    }

    /// trl's `ValueHead.summary` (models/modeling_value_head.py): one value a token, in fp32 beside whatever base, trained
    /// beside adapters too.
    pub(super) fn value_head(&mut self, d_in: u64, tag: LayerTag) -> Projection {
        let linear = Linear { name: "v_head.summary", d_in, d_out: 1, sym: Sym::Labels, bias: true };
        let mut parameter = |shape: Shape| {
            self.built.counts.base = self.built.counts.base.saturating_add(shape.elements());
            let label = self.weight_label(Term::HeadWeights, linear.name);
            let held = strategy(&self.job.sharding).weight_shape(shape);
            let tensor = Tensor::new(self.tape, label, held, ElementType::F32).standing_for(shape, ElementType::F32);
            let tensor = self.train(tensor, linear.name, tag, self.adapts());
            self.remember(tensor, linear.name, tag)
        };
        let weight = parameter(dims(&[(Sym::Labels, 1), (Sym::H, d_in)]));
        let bias = parameter(dims(&[(Sym::Labels, 1)]));
        linear.held(BaseWeight::Plain(weight), Some(bias), None)
    }

    fn trained(&mut self, name: &str, shape: Shape, tag: LayerTag) -> Tensor {
        let original = self.parameter(Term::HeadWeights, name, shape, tag);
        if self.adapts() && !original.requires_grad() { self.trained_copy(original, name, tag) } else { original }
    }

    /// A quantised weight (bitsandbytes functional.py quantize_4bit, nn/modules.py Linear8bitLt).
    pub(super) fn quantized(&mut self, linear: &Linear<'_>, tag: LayerTag) -> BaseWeight {
        let Linear { name, d_in, d_out, .. } = *linear;
        let packed = if self.job.plan.quantization.bits == 4 { Some(self.packed(linear, tag)) } else { None };
        let sharded = packed.clone().filter(|_| self.shards_four_bit());
        let new = |term, shape, element| Tensor::new(self.tape, self.weight_label(term, name), shape, element);
        let constant = |shape, element| new(Term::QuantizationConstants, shape, element);
        let numbers = d_in.saturating_mul(d_out);
        if self.job.plan.quantization.bits == 8 {
            let rows = new(Term::QuantizedWeights, dims(&[(Sym::DOut, d_out), (Sym::DIn, d_in)]), ElementType::Byte);
            let scales = constant(dims(&[(Sym::DOut, d_out)]), ElementType::F32);
            return BaseWeight::EightBit { sharded: self.partitioned_rows(linear, tag), _held: vec![rows, scales] };
        }
        let blocks = numbers.div_ceil(64);
        let nested = self.job.plan.quantization.double_quant;
        let scales = dims(&[(Sym::WeightBlocks, blocks)]);
        let mut held: Vec<Tensor> = packed.into_iter().collect();
        held.push(constant(dims(&[(Sym::Sixteen, 16)]), ElementType::F32));
        if nested {
            held.push(constant(scales, ElementType::Byte));
            held.push(constant(dims(&[(Sym::NestedBlocks, blocks.div_ceil(256))]), ElementType::F32));
            held.push(constant(dims(&[(Sym::TwoHundredFiftySix, 256)]), ElementType::F32));
            held.push(constant(dims(&[(Sym::One, 1)]), ElementType::F32));
        } else {
            held.push(constant(scales, ElementType::F32));
        }
        BaseWeight::FourBit { sharded, _held: held, nested }
    }

    /// The packed pairs of a 4-bit weight, in the storage dtype; sharded like any other parameter where the framework can.
    /// What belongs to them (`quant_state`) stays whole on every rank.
    fn packed(&mut self, linear: &Linear<'_>, tag: LayerTag) -> Tensor {
        let Linear { name, d_in, d_out, .. } = *linear;
        let label = self.weight_label(Term::QuantizedWeights, name);
        let pairs = d_in.saturating_mul(d_out).div_ceil(2);
        if !self.shards_four_bit() {
            let packed = Tensor::new(self.tape, label, dims(&[(Sym::PackedPairs, pairs)]), ElementType::Byte);
            if self.quantizes_while_loading() {
                self.built.quantized.push(Parameter::new(packed.clone(), name, tag));
            }
            return packed;
        }
        // `[elements, 1]`: rows are what FSDP2 splits.
        let storage = self.job.plan.quantization.bnb_4bit_quant_storage.dtype();
        let element = storage.map_or(ElementType::Byte, element_type);
        let whole = dims(&[(Sym::PackedPairs, pairs.div_ceil(element.bytes())), (Sym::One, 1)]);
        self.sharded_numbers(name, whole, element, tag)
    }

    /// LLM.int8()'s numbers as ZeRO-3 has them: it partitions the parameter, and `MatmulLtState.CB` (nn/modules.py
    /// `Linear8bitLt.init_8bit_state`) goes on holding all of it on every rank.
    fn partitioned_rows(&mut self, linear: &Linear<'_>, tag: LayerTag) -> Option<Tensor> {
        let Linear { name, d_in, d_out, .. } = *linear;
        if !self.job.sharding.partitions_eight_bit || self.holder.frozen {
            return None;
        }
        let whole = dims(&[(Sym::DOut, d_out), (Sym::DIn, d_in)]);
        Some(self.sharded_numbers(name, whole, ElementType::Byte, tag))
    }

    /// The numbers of a quantised weight, sharded like any other parameter.
    fn sharded_numbers(&mut self, name: &str, whole: Shape, element: ElementType, tag: LayerTag) -> Tensor {
        let label = self.weight_label(Term::QuantizedWeights, name);
        let held = strategy(&self.job.sharding).weight_shape(whole);
        let numbers = Tensor::new(self.tape, label, held, element).standing_for(whole, element);
        let numbers = self.remember(numbers, name, tag);
        self.built.parameters.iter_mut().rev().take(1).for_each(|one| one.apart = Some(element));
        numbers
    }

    /// Whether packed 4-bit weights are sharded like any other parameter.
    fn shards_four_bit(&self) -> bool {
        self.job.sharding.shards_four_bit && !self.holder.frozen
    }

    /// The LoRA matrices on a linear layer, where it is a target.
    fn adapter(&mut self, linear: &Linear<'_>, place: Place) -> Option<Adapter> {
        let Linear { name, d_in, d_out, sym, .. } = *linear;
        if !self.adapts() || !self.job.targets.has_module(name, place.is_outside()) {
            return None;
        }
        let r = self.job.plan.lora.r;
        let a = dims(&[(Sym::R, r), (Sym::DIn, d_in)]);
        let b = dims(&[(sym, d_out), (Sym::R, r)]);
        let [a, b] = self.adapter_matrices([a, b], name, place.tag());
        let element = element_type(self.job.numerics.adapters);
        // FSDP1 gathers an adapter's matrix where its own module runs: until then peft sees the shard.
        let read_as = match self.job.sharding.scheme {
            Scheme::Fsdp1 => element,
            _ => strategy(&self.job.sharding).compute_element(element),
        };
        Some(Adapter { a, b, read_as, r, dropout: self.job.lora_dropout() })
    }

    /// A and B of an adapter.
    pub(super) fn adapter_matrices(&mut self, shapes: [Shape; 2], name: &str, tag: LayerTag) -> [Tensor; 2] {
        let element = element_type(self.job.numerics.adapters);
        let compute = strategy(&self.job.sharding).compute_element(element);
        let made = shapes.map(|shape| {
            let elements = shape.elements().saturating_mul(tag.repeat);
            self.built.counts.adapters = self.built.counts.adapters.saturating_add(elements);
            let label = self.label(Term::AdapterWeights, name);
            Tensor::new(self.tape, label, strategy(&self.job.sharding).weight_shape(shape), element)
                .standing_for(shape, compute)
        });
        let apart = Some(element).filter(|own| *own != element_type(self.job.sharding.param_dtype));
        made.map(|matrix| self.train(matrix, name, tag, true)).map(|matrix| {
            let matrix = self.remember(matrix, name, tag);
            self.built.parameters.iter_mut().rev().take(1).for_each(|one| one.apart = apart);
            matrix
        })
    }
}

/// What a projection's output width is called.
fn output_symbol(role: Role) -> Sym {
    match role {
        Role::Query => Sym::QueryHeads,
        Role::Key | Role::Value => Sym::KeyHeads,
        Role::QueryKeyValue => Sym::FusedHeads,
        Role::Gate | Role::Up | Role::SharedGateProjection | Role::SharedUp => Sym::I,
        Role::GateUp => Sym::TwoI,
        Role::Output | Role::Down | Role::SharedDown => Sym::H,
        Role::QueryDown => Sym::RQ,
        Role::KeyValueDown => Sym::LatentKeys,
        Role::KeyValueUp => Sym::LatentHeads,
        Role::Router => Sym::E,
        _ => Sym::DOut,
    }
}
