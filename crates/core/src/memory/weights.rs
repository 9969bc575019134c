//! Weights: what each module's parameters take, in which dtype, quantised or not, with which adapters.

use super::activations::{Adapter, BaseWeight, Projection};
use super::autograd::Extent;
use super::autograd::{ElementType, GradSource, Label, LayerTag, Sym, Tape, Tensor, dims};
use super::period::{simulated, windows_run_alike};
use super::sharding::{Modules, strategy};
use super::term::Term;
use crate::job::{Scheme, Sharding};
use crate::model::{Layer, Model, ModelKind, Module, ModuleKind, NormKind, QkNorm, Role};
use crate::plan::{AdapterDtype, Dtype, Method, Plan, TargetModules, Task, names_module};
use std::rc::Rc;

mod build;
mod shared;

/// Whose weights these are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    /// Nothing of it trains, and it has no adapters.
    pub(super) frozen: bool,
    /// The term that all its weights count as; `None`: each as its kind.
    pub(super) term: Option<Term>,
    /// What stands before the names of its modules.
    pub(super) prefix: &'static str,
}

impl Holder {
    /// The model that the plan trains or runs.
    pub(super) const POLICY: Self = Self { frozen: false, term: None, prefix: "" };
}

/// One layer with its weights.
#[derive(Debug, Clone)]
pub(super) struct LayerWeights {
    pub(super) layer: Rc<Layer>,
    pub(super) tag: LayerTag,
    projections: Vec<(Role, Projection)>,
    norms: Vec<(Role, NormWeights)>,
    /// Stacked routed experts, in the order of the module's tensors.
    pub(super) experts: Vec<Tensor>,
    /// Attention's learned logits, one a head.
    pub(super) sinks: Option<Tensor>,
    /// Parameters that no operator of the step is modelled for (biases and gates of their own): they are held, and get
    /// gradients and optimizer state when everything trains.
    _others: Vec<Tensor>,
}

/// A norm's weights.
#[derive(Debug, Clone)]
pub(super) struct NormWeights {
    pub(super) name: String,
    pub(super) kind: NormKind,
    pub(super) weight: Option<Tensor>,
    pub(super) bias: Option<Tensor>,
}

/// A tensor that trains.
#[derive(Debug, Clone)]
pub(super) struct Trainable {
    pub(super) tensor: Tensor,
    pub(super) tag: LayerTag,
    pub(super) name: Rc<str>,
    pub(super) adapter: bool,
}

/// A tensor of parameters, trained or not.
#[derive(Debug, Clone)]
pub(super) struct Parameter {
    pub(super) tensor: Tensor,
    pub(super) tag: LayerTag,
    pub(super) name: Rc<str>,
    /// Whether it is the table of token embeddings.
    pub(super) token_embedding: bool,
}

/// All weights of a model, on the tape.
#[derive(Debug)]
pub(super) struct ModelWeights {
    pub(super) token_embedding: Option<Tensor>,
    /// Position, type and other embeddings, in order, and whether they are positions.
    pub(super) embeddings: Vec<(Tensor, bool)>,
    pub(super) embedding_norms: Vec<NormWeights>,
    /// Projections around the embeddings (OPT-350m).
    pub(super) embedding_projections: Vec<Projection>,
    pub(super) layers: Vec<Rc<LayerWeights>>,
    pub(super) final_norms: Vec<NormWeights>,
    pub(super) final_projections: Vec<Projection>,
    /// `lm_head` or the encoder's head; `None`: tied.
    pub(super) head: Vec<Projection>,
    pub(super) head_norms: Vec<NormWeights>,
    /// The dense layer that encoders' classification heads put before it.
    pub(super) pooler: Option<Projection>,
    /// The classification head.
    pub(super) score: Option<Projection>,
    pub(super) trainable: Vec<Trainable>,
    /// Every tensor that is not quantised, in the order of the modules.
    pub(super) parameters: Vec<Parameter>,
    /// ZeRO-3's hooks on the modules.
    pub(super) zero3: Option<Rc<Modules>>,
    /// ZeRO-2's hooks on the gradients.
    pub(super) zero2: Option<Rc<Modules>>,
    pub(super) counts: Counts,
    _held: Vec<Tensor>,
}

/// Parameters, in elements.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) base: u64,
    pub(super) adapters: u64,
    pub(super) trainable: u64,
    /// Bytes that quantisation left as they were.
    pub(super) unquantized_bytes: u64,
}

/// How a model's weights are held: what the plan says, for the policy or for a frozen copy.
struct Builder<'a> {
    tape: &'a Rc<Tape>,
    plan: &'a Plan,
    sharding: &'a Sharding,
    holder: Holder,
    trainable: Vec<Trainable>,
    parameters: Vec<Parameter>,
    counts: Counts,
    held: Vec<Tensor>,
}

/// Puts a model's weights on the tape.
pub(super) fn load(tape: &Rc<Tape>, plan: &Plan, model: &Model, sharding: &Sharding, holder: Holder) -> ModelWeights {
    let counts = Counts::default();
    let mut builder = Builder {
        tape,
        plan,
        sharding,
        holder,
        trainable: Vec::new(),
        parameters: Vec::new(),
        counts,
        held: Vec::new(),
    };
    let (outside, start) = (tape.tag(), tape.events_so_far());
    let mut embeddings = Vec::new();
    let (mut embedding_norms, mut embedding_projections) = (Vec::new(), Vec::new());
    let mut token_embedding = None;
    for module in &model.embeddings {
        match (&module.kind, module.role) {
            (ModuleKind::Embedding { rows, width }, role) => {
                let shape = dims(&[
                    (if role == Role::TokenEmbedding { Sym::V } else { Sym::Positions }, *rows),
                    (Sym::H, *width),
                ]);
                let tensor = builder.parameter(Term::EmbeddingWeights, &module.name, shape, outside, 1);
                if role == Role::TokenEmbedding {
                    builder.parameters.iter_mut().rev().take(1).for_each(|table| table.token_embedding = true);
                    token_embedding = Some(tensor);
                } else {
                    embeddings.push((tensor, role == Role::PositionEmbedding));
                }
            }
            (ModuleKind::Norm { .. }, _) => embedding_norms.push(builder.norm(module, NormKind::LayerNorm, outside, 1)),
            (ModuleKind::Linear { .. }, _) => {
                embedding_projections.extend(builder.projection(module, Term::EmbeddingWeights, outside, 1, true));
            }
            (ModuleKind::Tensors { .. }, _) => {
                let others = builder.tensors(module, Term::EmbeddingWeights, outside, 1);
                builder.held.extend(others);
            }
        }
    }
    let mut layers = Vec::new();
    let mut kinds: Vec<(usize, Rc<Layer>)> = Vec::new();
    let simulated = simulated(model, tape.extent, !windows_run_alike(plan, model));
    let model_number = tape.add_model(simulated.runs);
    for (run, repeat) in simulated.layers {
        let known = kinds.iter().position(|(kind, _)| *kind == run);
        let at = known.unwrap_or_else(|| {
            kinds.extend(model.layers.get(run).map(|found| (run, Rc::new(found.layer.clone()))));
            kinds.len().saturating_sub(1)
        });
        let Some((_, kind)) = kinds.get(at) else { continue };
        let index = u32::try_from(layers.len()).unwrap_or(u32::MAX);
        let tag = LayerTag { model: model_number, index, repeat };
        tape.enter_layer(tag);
        layers.push(Rc::new(builder.layer(kind, tag)));
    }
    tape.enter_layer(outside);
    let norm_kind = model.layers.first().map_or(NormKind::LayerNorm, |run| run.layer.norm);
    let (mut final_norms, mut final_projections) = (Vec::new(), Vec::new());
    for module in &model.final_modules {
        match module.kind {
            ModuleKind::Norm { .. } => final_norms.push(builder.norm(module, norm_kind, outside, 1)),
            ModuleKind::Linear { .. } => {
                final_projections.extend(builder.projection(module, Term::EmbeddingWeights, outside, 1, true));
            }
            _ => {
                let others = builder.tensors(module, Term::EmbeddingWeights, outside, 1);
                builder.held.extend(others);
            }
        }
    }
    let (mut head, mut head_norms) = (Vec::new(), Vec::new());
    let scores = plan.task == Task::SequenceClassification || plan.task == Task::Reward;
    if !scores {
        for module in &model.head {
            match module.kind {
                ModuleKind::Linear { .. } => head.extend(builder.head(module, Term::HeadWeights, outside)),
                ModuleKind::Norm { .. } => head_norms.push(builder.norm(module, NormKind::LayerNorm, outside, 1)),
                _ => {
                    let others = builder.tensors(module, Term::HeadWeights, outside, 1);
                    builder.held.extend(others);
                }
            }
        }
    }
    let encoder = model.kind == ModelKind::Encoder;
    let pooler = (scores && encoder)
        .then(|| builder.trained_head("pooler", model.hidden_size, model.hidden_size, true, outside));
    let score = scores.then(|| {
        let name = if encoder { "classifier" } else { "score" };
        builder.trained_head(name, model.hidden_size, plan.num_labels, encoder, outside)
    });
    if tape.extent == Extent::Whole
        && builder.holder.term.is_none()
        && matches!(sharding.scheme, Scheme::Single | Scheme::Ddp)
    {
        let table = token_embedding.as_ref().map_or(0, |table| table.shape().elements());
        let base = element_type(plan.torch_dtype);
        let tied = head.is_empty() && !scores && !encoder;
        let tied_head = if tied { table.saturating_mul(base.bytes()) } else { 0 };
        build::order(tape, start, build::Build { base, tied_head, casts_adapters: builder.adapts() });
    }
    let Builder { trainable, parameters, counts, held, .. } = builder;
    ModelWeights {
        token_embedding,
        embeddings,
        embedding_norms,
        embedding_projections,
        layers,
        final_norms,
        final_projections,
        head,
        head_norms,
        pooler,
        score,
        trainable,
        parameters,
        zero3: None,
        zero2: None,
        counts,
        _held: held,
    }
}

impl Builder<'_> {
    /// The label of a weight.
    fn weight_label(&self, term: Term, name: &str) -> Label {
        self.label(self.holder.term.unwrap_or(term), name)
    }

    fn label(&self, term: Term, name: &str) -> Label {
        if self.holder.prefix.is_empty() || !self.tape.names() {
            self.tape.label(term, name)
        } else {
            self.tape.label(term, &format!("{}.{name}", self.holder.prefix))
        }
    }

    fn adapts(&self) -> bool {
        !self.holder.frozen && self.plan.method != Method::Full && self.plan.task != Task::Inference
    }

    fn trains_all(&self) -> bool {
        !self.holder.frozen && self.plan.method == Method::Full && self.plan.task != Task::Inference
    }

    fn quantizes(&self) -> bool {
        self.plan.method == Method::Qlora
    }

    /// dtype of parameters that are not quantised.
    fn element(&self) -> ElementType {
        // DeepSpeed casts the whole module to its own dtype again.
        let cast = matches!(self.sharding.scheme, Scheme::Zero(_));
        let upcast = self.quantizes() && self.plan.quantization.prepare_for_kbit_training && self.adapts() && !cast;
        if upcast { ElementType::F32 } else { element_type(self.plan.torch_dtype) }
    }

    fn layer(&mut self, layer: &Rc<Layer>, tag: LayerTag) -> LayerWeights {
        let repeat = tag.repeat;
        let mut weights = LayerWeights {
            layer: Rc::clone(layer),
            tag,
            projections: Vec::new(),
            norms: Vec::new(),
            experts: Vec::new(),
            sinks: None,
            _others: Vec::new(),
        };
        for module in &layer.modules {
            match &module.kind {
                ModuleKind::Norm { .. } => {
                    let kind = match (module.role, layer.attention.qk_norm) {
                        (
                            Role::QueryNorm | Role::KeyNorm,
                            Some(QkNorm::PerHead(kind) | QkNorm::WholeProjection(kind)),
                        ) => kind,
                        _ => layer.norm,
                    };
                    weights.norms.push((module.role, self.norm(module, kind, tag, repeat)));
                }
                ModuleKind::Linear { .. } => {
                    let term = projection_term(module.role);
                    if let Some(projection) = self.projection(module, term, tag, repeat, false) {
                        weights.projections.push((module.role, projection));
                    }
                }
                ModuleKind::Embedding { rows, width } => {
                    let shape = dims(&[(Sym::TableRows, *rows), (Sym::Width, *width)]);
                    let tensor = self.parameter(Term::AttentionWeights, &module.name, shape, tag, repeat);
                    weights._others.push(tensor);
                }
                ModuleKind::Tensors { .. } => {
                    let term = if module.role == Role::Sinks { Term::AttentionWeights } else { Term::ExpertWeights };
                    let tensors = self.tensors(module, term, tag, repeat);
                    match module.role {
                        Role::Sinks => weights.sinks = tensors.into_iter().next(),
                        Role::RoutedExperts => weights.experts.extend(tensors),
                        Role::Router => weights.projections.extend(self.router(module, tensors)),
                        _ => weights._others.extend(tensors),
                    }
                }
            }
        }
        weights
    }

    /// A router held as a bare E x h parameter, perhaps with a bias of E, multiplies like a linear layer.
    fn router(&self, module: &Module, tensors: Vec<Tensor>) -> Option<(Role, Projection)> {
        let mut tensors = tensors.into_iter();
        let (weight, bias) = (tensors.next()?, tensors.next());
        let (d_in, d_out) = match weight.shape().sizes() {
            [rows, width] => (*width, *rows),
            _ => return None,
        };
        let weight = BaseWeight::Plain(weight);
        let name = module.name.clone();
        Some((Role::Router, Projection { name, d_in, d_out, sym: Sym::E, weight, bias, adapter: None }))
    }

    /// A parameter of the base model.
    fn parameter(
        &mut self,
        term: Term,
        name: &str,
        shape: super::autograd::Shape,
        tag: LayerTag,
        repeat: u64,
    ) -> Tensor {
        let elements = shape.elements().saturating_mul(repeat);
        self.counts.base = self.counts.base.saturating_add(elements);
        let element = self.element();
        let held = strategy(self.sharding).weight_shape(shape);
        // FSDP2's shards may be wider than what products run in.
        let compute = strategy(self.sharding).compute_element(element);
        let tensor = Tensor::new(self.tape, self.weight_label(term, name), held, element).standing_for(shape, compute);
        if self.quantizes() {
            let bytes = elements.saturating_mul(element.bytes());
            self.counts.unquantized_bytes = self.counts.unquantized_bytes.saturating_add(bytes);
        }
        if self.trains_all() {
            let tensor = self.train(tensor, name, tag, false);
            self.remember(tensor, name, tag)
        } else if self.adapts() && self.plan.lora.modules_to_save.iter().any(|saved| names_module(saved, name)) {
            let tensor = self.remember(tensor, name, tag);
            self.trained_copy(tensor, name, tag)
        } else {
            self.remember(tensor, name, tag)
        }
    }

    /// Lists a tensor of parameters.
    fn remember(&mut self, tensor: Tensor, name: &str, tag: LayerTag) -> Tensor {
        self.parameters.push(Parameter { tensor: tensor.clone(), tag, name: Rc::from(name), token_embedding: false });
        tensor
    }

    /// peft's `modules_to_save`: a copy in the base's dtype that trains in full, beside the frozen original
    /// (utils/other.py ModulesToSaveWrapper).
    fn trained_copy(&mut self, original: Tensor, name: &str, tag: LayerTag) -> Tensor {
        let shape = original.shape();
        let label = self.label(Term::AdapterWeights, name);
        let element = if self.sharding.scheme == Scheme::Fsdp2 { self.element() } else { original.element() };
        let copy = Tensor::new(self.tape, label, strategy(self.sharding).weight_shape(shape), element);
        let copy = copy.standing_for(shape, original.element());
        self.held.push(original);
        let elements = shape.elements().saturating_mul(tag.repeat);
        self.counts.adapters = self.counts.adapters.saturating_add(elements);
        let copy = self.train(copy, name, tag, true);
        self.remember(copy, name, tag)
    }

    /// Makes a leaf of a tensor and remembers it.
    fn train(&mut self, tensor: Tensor, name: &str, tag: LayerTag, adapter: bool) -> Tensor {
        let term = if adapter { Term::AdapterGradients } else { Term::WeightGradients };
        let leaf = tensor.into_leaf(Some(self.label(term, name)));
        let elements = leaf.shape().elements().saturating_mul(tag.repeat);
        self.counts.trainable = self.counts.trainable.saturating_add(elements);
        let prefix = self.holder.prefix;
        let name = if prefix.is_empty() { Rc::from(name) } else { Rc::from(format!("{prefix}.{name}")) };
        self.trainable.push(Trainable { tensor: leaf.clone(), tag, name, adapter });
        leaf
    }

    fn norm(&mut self, module: &Module, kind: NormKind, tag: LayerTag, repeat: u64) -> NormWeights {
        let ModuleKind::Norm { width, weight, bias } = module.kind else {
            return NormWeights { name: module.name.clone(), kind, weight: None, bias: None };
        };
        let shape = dims(&[(Sym::H, width)]);
        let weight = weight.then(|| self.parameter(Term::NormWeights, &module.name, shape, tag, repeat));
        let bias = bias.then(|| self.parameter(Term::NormWeights, &module.name, shape, tag, repeat));
        NormWeights { name: module.name.clone(), kind, weight, bias }
    }

    fn tensors(&mut self, module: &Module, term: Term, tag: LayerTag, repeat: u64) -> Vec<Tensor> {
        let ModuleKind::Tensors { shapes } = &module.kind else { return Vec::new() };
        let mut tensors = Vec::new();
        for (name, sizes) in shapes {
            const SYMBOLS: [Sym; 4] = [Sym::N, Sym::M, Sym::K, Sym::J];
            let pairs: Vec<(Sym, u64)> = SYMBOLS.into_iter().zip(sizes.iter().copied()).collect();
            tensors.push(self.parameter(term, name, dims(&pairs), tag, repeat));
        }
        tensors
    }

    /// `lm_head` and its like: never quantised, never adapted by "all-linear".
    fn head(&mut self, module: &Module, term: Term, tag: LayerTag) -> Option<Projection> {
        let ModuleKind::Linear { d_in, d_out, bias, .. } = module.kind else { return None };
        let weight = self.parameter(term, &module.name, dims(&[(Sym::V, d_out), (Sym::H, d_in)]), tag, 1);
        let bias = bias.then(|| self.parameter(term, &module.name, dims(&[(Sym::V, d_out)]), tag, 1));
        let name = module.name.clone();
        let adapter = self.adapter(module, d_in, d_out, Sym::V, tag, true);
        Some(Projection { name, d_in, d_out, sym: Sym::V, weight: BaseWeight::Plain(weight), bias, adapter })
    }

    /// A layer of the classification head: trained in full beside adapters too (peft adds `classifier` and `score` to
    /// `modules_to_save` for SEQ_CLS, and keeps the frozen original).
    fn trained_head(&mut self, name: &str, d_in: u64, d_out: u64, bias: bool, tag: LayerTag) -> Projection {
        let weight = self.trained(name, dims(&[(Sym::Labels, d_out), (Sym::H, d_in)]), tag);
        let bias = bias.then(|| self.trained(name, dims(&[(Sym::Labels, d_out)]), tag));
        let weight = BaseWeight::Plain(weight);
        Projection { name: name.to_owned(), d_in, d_out, sym: Sym::Labels, weight, bias, adapter: None }
    }

    fn trained(&mut self, name: &str, shape: super::autograd::Shape, tag: LayerTag) -> Tensor {
        let original = self.parameter(Term::HeadWeights, name, shape, tag, 1);
        if self.adapts() && !original.requires_grad() { self.trained_copy(original, name, tag) } else { original }
    }

    fn projection(
        &mut self,
        module: &Module,
        term: Term,
        tag: LayerTag,
        repeat: u64,
        outside: bool,
    ) -> Option<Projection> {
        let ModuleKind::Linear { d_in, d_out, bias, .. } = module.kind else { return None };
        let sym = output_symbol(module.role);
        let weight = if self.quantizes() && !outside {
            self.counts.base = self.counts.base.saturating_add(d_in.saturating_mul(d_out).saturating_mul(repeat));
            self.quantized(&module.name, d_in, d_out)
        } else {
            let (rows, columns) = ((Sym::DOut, d_out), (Sym::DIn, d_in));
            BaseWeight::Plain(self.parameter(term, &module.name, dims(&[rows, columns]), tag, repeat))
        };
        let bias = bias.then(|| self.parameter(term, &module.name, dims(&[(Sym::DOut, d_out)]), tag, repeat));
        let adapter = self.adapter(module, d_in, d_out, sym, tag, outside);
        Some(Projection { name: module.name.clone(), d_in, d_out, sym, weight, bias, adapter })
    }

    /// A quantised weight (bitsandbytes functional.py quantize_4bit, nn/modules.py Linear8bitLt).
    fn quantized(&self, name: &str, d_in: u64, d_out: u64) -> BaseWeight {
        let new = |term, shape, element| Tensor::new(self.tape, self.weight_label(term, name), shape, element);
        let constant = |shape, element| new(Term::QuantizationConstants, shape, element);
        let numbers = d_in.saturating_mul(d_out);
        if self.plan.quantization.bits == 8 {
            let rows = new(Term::QuantizedWeights, dims(&[(Sym::DOut, d_out), (Sym::DIn, d_in)]), ElementType::Byte);
            let scales = constant(dims(&[(Sym::DOut, d_out)]), ElementType::F32);
            return BaseWeight::EightBit { _held: vec![rows, scales] };
        }
        let packed = new(Term::QuantizedWeights, dims(&[(Sym::PackedPairs, numbers.div_ceil(2))]), ElementType::Byte);
        let blocks = numbers.div_ceil(64);
        let nested = self.plan.quantization.double_quant;
        let scales = dims(&[(Sym::WeightBlocks, blocks)]);
        let mut held = vec![packed, constant(dims(&[(Sym::Sixteen, 16)]), ElementType::F32)];
        if nested {
            held.push(constant(scales, ElementType::Byte));
            held.push(constant(dims(&[(Sym::NestedBlocks, blocks.div_ceil(256))]), ElementType::F32));
            held.push(constant(dims(&[(Sym::TwoHundredFiftySix, 256)]), ElementType::F32));
            held.push(constant(dims(&[(Sym::One, 1)]), ElementType::F32));
        } else {
            held.push(constant(scales, ElementType::F32));
        }
        BaseWeight::FourBit { _held: held, nested }
    }

    fn adapter(
        &mut self,
        module: &Module,
        d_in: u64,
        d_out: u64,
        sym: Sym,
        tag: LayerTag,
        outside: bool,
    ) -> Option<Adapter> {
        if !self.adapts() || !is_target(&self.plan.lora.target_modules, &module.name, outside) {
            return None;
        }
        let r = self.plan.lora.r;
        let element = self.adapter_element();
        let compute = strategy(self.sharding).compute_element(element);
        let new = |shape| {
            let label = self.label(Term::AdapterWeights, &module.name);
            Tensor::new(self.tape, label, strategy(self.sharding).weight_shape(shape), element)
                .standing_for(shape, compute)
        };
        let a = new(dims(&[(Sym::R, r), (Sym::DIn, d_in)]));
        let b = new(dims(&[(sym, d_out), (Sym::R, r)]));
        let elements = r.saturating_mul(d_in.saturating_add(d_out)).saturating_mul(tag.repeat);
        self.counts.adapters = self.counts.adapters.saturating_add(elements);
        let a = self.train(a, &module.name, tag, true);
        let b = self.train(b, &module.name, tag, true);
        let (a, b) = (self.remember(a, &module.name, tag), self.remember(b, &module.name, tag));
        Some(Adapter { a, b, r, dropout: self.plan.lora.lora_dropout })
    }

    /// peft's `autocast_adapter_dtype`: fp16 and bf16 adapters become fp32. DeepSpeed casts the whole module, adapters
    /// too, to its own dtype; FSDP2 wants one dtype in a group.
    fn adapter_element(&self) -> ElementType {
        match self.plan.lora.adapter_dtype {
            AdapterDtype::Bfloat16 | AdapterDtype::Float16 => ElementType::Half,
            AdapterDtype::Float32 => ElementType::F32,
            AdapterDtype::Auto if super::sharding::casts_adapters(self.plan) => element_type(self.plan.torch_dtype),
            AdapterDtype::Auto => ElementType::F32,
        }
    }
}

/// Whether a module gets an adapter; "all-linear" leaves the output head out.
fn is_target(targets: &TargetModules, name: &str, outside: bool) -> bool {
    match targets {
        TargetModules::AllLinear => !outside,
        TargetModules::Names(names) => names.iter().any(|target| names_module(target, name)),
    }
}

/// The tensor element type of a plan's dtype.
pub(super) const fn element_type(dtype: Dtype) -> ElementType {
    match dtype {
        Dtype::Bfloat16 | Dtype::Float16 => ElementType::Half,
        Dtype::Float32 => ElementType::F32,
    }
}

fn projection_term(role: Role) -> Term {
    match role {
        Role::Gate | Role::Up | Role::GateUp | Role::Down => Term::FeedForwardWeights,
        Role::Router | Role::SharedGateProjection | Role::SharedUp | Role::SharedDown | Role::SharedExpertGate => {
            Term::ExpertWeights
        }
        _ => Term::AttentionWeights,
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

impl LayerWeights {
    /// The linear layer with `role`.
    pub(super) fn projection(&self, role: Role) -> Option<&Projection> {
        self.projections.iter().find(|(at, _)| *at == role).map(|(_, projection)| projection)
    }

    /// Every parameter of the block of experts: routed and shared ones, router and gate, with their adapters.
    pub(super) fn expert_parameters(&self) -> Vec<&Tensor> {
        let roles =
            [Role::Router, Role::SharedGateProjection, Role::SharedUp, Role::SharedDown, Role::SharedExpertGate];
        let projections = roles.iter().filter_map(|role| self.projection(*role));
        self.experts.iter().chain(projections.flat_map(Projection::parameters)).collect()
    }

    /// The norm with `role`.
    pub(super) fn norm(&self, role: Role) -> Option<&NormWeights> {
        self.norms.iter().find(|(at, _)| *at == role).map(|(_, norm)| norm)
    }
}

impl Parameter {
    /// Elements of the tensor.
    pub(super) fn elements(&self) -> u64 {
        self.tensor.shape().elements()
    }

    /// Lets a framework be told under this number when the gradient is complete.
    pub(super) fn tell_as(&self, number: u32) {
        if let Some(GradSource::Leaf(leaf)) = self.tensor.source() {
            leaf.told_as.set(Some(number));
        }
    }
}

impl Trainable {
    /// Elements of the tensor.
    pub(super) fn elements(&self) -> u64 {
        self.tensor.shape().elements()
    }

    /// Says how many elements of the gradient stay with this rank.
    pub(super) fn keep(&self, elements: u64, element: Option<ElementType>) {
        if let Some(GradSource::Leaf(leaf)) = self.tensor.source() {
            leaf.kept_elements.set(elements);
            leaf.kept_element.set(element);
        }
    }

    /// Whether a hook runs when the gradient is complete.
    pub(super) fn has_hook(&self) -> bool {
        matches!(self.tensor.source(), Some(GradSource::Leaf(leaf)) if leaf.told_as.get().is_some())
    }

    /// Takes the gradient away.
    pub(super) fn take_gradient(&self) -> Option<Tensor> {
        match self.tensor.source() {
            Some(GradSource::Leaf(leaf)) => leaf.grad.take(),
            _ => None,
        }
    }

    /// Puts the gradient of earlier micro-batches in place.
    pub(super) fn hold_gradient(&self, tape: &Rc<Tape>) {
        let Some(GradSource::Leaf(leaf)) = self.tensor.source() else { return };
        let term = if self.adapter { Term::AdapterGradients } else { Term::WeightGradients };
        let (shape, element) = (self.tensor.shape(), self.tensor.element());
        let kept = leaf.kept_elements.get();
        let gradient = if kept < shape.elements() {
            (kept > 0).then(|| {
                Tensor::new(tape, tape.label(Term::GradientShard, &self.name), dims(&[(Sym::Share, kept)]), element)
            })
        } else {
            let element = leaf.kept_element.get().unwrap_or(element);
            Some(Tensor::new(tape, tape.label(term, &self.name), shape, element))
        };
        *leaf.grad.borrow_mut() = gradient;
    }
}
