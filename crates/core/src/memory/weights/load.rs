//! A model's weights onto the tape, from the embeddings to the head.

use super::builder::{Builder, Built, Place};
use super::linear::Linear;
use super::model::{Holder, LoadedModel};
use super::modules::{LayerWeights, NormWeights, Part, Projection, RecordedBlock, TableAdapter};
use super::order::{self, Construction};
use crate::job::{Job, Scheme};
use crate::memory::autograd::{ElementType, Extent, LayerTag, Sym, Tape, Tensor, dims};
use crate::memory::loading::Turns;
use crate::memory::parameter::{Parameter, Trainable};
use crate::memory::period::{simulated, windows_run_alike};
use crate::memory::precision::element_type;
use crate::memory::term::Term;
use crate::model::{Layer, ModelKind, ModelPart, Module, ModuleKind, Role};
use crate::plan::unties_head;
use std::cell::RefCell;
use std::rc::Rc;

/// Puts a model's weights on the tape.
pub(in crate::memory) fn load(tape: &Rc<Tape>, job: &Job, holder: Holder) -> LoadedModel {
    let mut builder = Builder::new(tape, job, holder);
    let (outside, start) = (tape.tag(), tape.events_so_far());
    let embeddings = builder.embeddings(outside);
    let layers = builder.layers(outside);
    let behind = (&job.model.final_modules[..], None);
    let after = builder.recorded(&job.model.recorded, Part::After, behind, Place::Outside(outside));
    let head = builder.heads(outside, embeddings.original.as_ref());
    builder.begin(None);
    builder.idle(outside);
    builder.put_parts_in_order(start);
    if tape.extent != Extent::Whole && holder.term.is_none() && job.sharding.loads_whole_base {
        builder.hold_whole_base();
    }
    if tape.extent == Extent::Whole
        && holder.term.is_none()
        && matches!(job.sharding.scheme, Scheme::Single | Scheme::Ddp)
    {
        builder.put_in_order(start, embeddings.token.as_ref(), &head);
    }
    let Built { trainable, parameters, counts, held, idle, .. } = builder.built;
    LoadedModel {
        token_embedding: embeddings.token,
        token_adapter: embeddings.adapter,
        layers,
        last_norm: after.last_norm(),
        head: head.language.projections,
        head_norms: head.language.norms,
        tied_bias: head.language.bias,
        head_gain: head.language.gain,
        has_language_head: head.score.is_none() && !job.embeds(),
        pooler: head.pooler,
        score: head.score,
        trainable,
        parameters,
        zero3: None,
        zero2: None,
        as_loaded: RefCell::default(),
        beside: RefCell::default(),
        counts,
        before: embeddings.before,
        after,
        _held: held,
        _idle: idle,
    }
}

/// Norms and linear layers outside the layers.
#[derive(Default)]
struct Modules {
    norms: Vec<NormWeights>,
    projections: Vec<Projection>,
    /// Of a head whose weight is the token embedding's.
    bias: Option<Tensor>,
    /// A factor for each logit.
    gain: Option<Tensor>,
}

/// What stands before the layers.
struct Embeddings {
    token: Option<Tensor>,
    /// The table as the model has it, where peft trains a copy.
    original: Option<Tensor>,
    adapter: Option<TableAdapter>,
    before: RecordedBlock,
}

/// What stands behind them: the language-model head, or a classification head in its place.
#[derive(Default)]
struct Heads {
    language: Modules,
    /// The language-model head reads a weight of its own because of adapters, and is tied in the model.
    is_apart: bool,
    pooler: Option<Projection>,
    score: Option<Projection>,
}

impl Builder<'_> {
    fn embeddings(&mut self, outside: LayerTag) -> Embeddings {
        let modules = &self.job.model.embeddings;
        let before = self.recorded(&self.job.model.recorded, Part::Before, (modules, None), Place::Outside(outside));
        let token = before.token_embedding(modules);
        let (mut original, mut adapter) = (None, None);
        let table = modules.iter().find(|module| module.role == Role::TokenEmbedding);
        if let (Some(table), Some(token)) = (table, &token) {
            let sizes = [token.shape().rows().elements(), token.shape().width()];
            // A copy that trains stands behind it.
            let found = self.built.parameters.iter().find(|parameter| *parameter.name == *table.name);
            original = found.map(|original| original.tensor.clone());
            self.stays = self.job.freezes(table);
            adapter = self.table_adapter(&table.name, sizes, outside);
            self.leave();
        }
        Embeddings { token, original, adapter, before }
    }

    /// Every simulated layer; equal ones share their description.
    fn layers(&mut self, outside: LayerTag) -> Vec<Rc<LayerWeights>> {
        let (tape, model) = (self.tape, &self.job.model);
        let mut layers = Vec::new();
        let mut kinds: Vec<(usize, Rc<Layer>)> = Vec::new();
        let simulated = simulated(model, tape.extent, !windows_run_alike(self.job));
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
            layers.extend(model.recorded.block(run).map(|block| Rc::new(self.layer(kind, block, tag))));
        }
        tape.enter_layer(outside);
        layers
    }

    /// Modules outside the layers.
    fn modules(&mut self, modules: &[Module], outside: LayerTag) -> Modules {
        let mut found = Modules::default();
        for module in modules {
            match module.kind {
                ModuleKind::Norm { .. } => found.norms.push(self.norm(module, outside)),
                ModuleKind::Linear { .. } => {
                    let projection = self.projection(module, Term::EmbeddingWeights, Place::Outside(outside));
                    found.projections.extend(projection);
                }
                ModuleKind::Embedding { .. } | ModuleKind::Tensors { .. } => {
                    let others = self.tensors(module, Term::EmbeddingWeights, outside);
                    self.built.held.extend(others);
                }
            }
        }
        found
    }

    /// Modules that no batch runs: they take what they weigh, and get no gradient.
    fn idle(&mut self, outside: LayerTag) {
        let before = self.built.trainable.len();
        for module in &self.job.model.idle {
            self.begin(Some(module));
            let is_linear = matches!(module.kind, ModuleKind::Linear { .. });
            if is_linear
                && let Some(projection) = self.projection(module, Term::AttentionWeights, Place::Layer(outside))
            {
                self.built.idle.push(projection);
            } else if let ModuleKind::Embedding { rows, width } = module.kind {
                let shape = dims(&[(Sym::Positions, rows), (Sym::H, width)]);
                let table = self.parameter(Term::EmbeddingWeights, &module.name, shape, outside);
                self.built.held.push(table);
            } else {
                let more = self.modules(std::slice::from_ref(module), outside);
                self.built.held.extend(more.norms.into_iter().flat_map(|norm| [norm.weight, norm.bias]).flatten());
            }
        }
        self.leave_untouched(before);
        self.leave();
    }

    /// `table`: the model's own table of token embeddings, which a tied head reads.
    fn heads(&mut self, outside: LayerTag, table: Option<&Tensor>) -> Heads {
        let mut heads = Heads::default();
        let model = &self.job.model;
        if self.job.scores() {
            let encoder = model.kind == ModelKind::Encoder;
            let d_in = model.hidden_size;
            let linear = |name, d_out| Linear { name, d_in, d_out, sym: Sym::Labels, bias: encoder };
            heads.pooler = match (encoder, model.behaviour.classifies_pooled) {
                (true, _) if self.job.pools_before_head_layers() => None,
                (true, true) => self.pooler(outside),
                (true, false) => Some(self.trained_head(linear("pooler", d_in), outside)),
                (false, _) => None,
            };
            let score = linear(if encoder { "classifier" } else { "score" }, self.job.plan.num_labels);
            heads.score = Some(self.trained_head(score, outside));
            return heads;
        }
        if self.job.embeds() {
            heads.pooler = model.behaviour.has_pooler.then(|| self.unread_pooler(outside)).flatten();
            return heads;
        }
        if self.job.has_value_head() && !self.holder.frozen {
            heads.score = Some(self.value_head(model.hidden_size, outside));
        }
        for module in &model.head {
            self.stays = self.job.freezes(module);
            match module.kind {
                ModuleKind::Linear { .. } => heads.language.projections.extend(self.head(module, outside)),
                ModuleKind::Norm { .. } => {
                    heads.language.norms.push(self.norm(module, outside));
                }
                ModuleKind::Embedding { .. } | ModuleKind::Tensors { .. } => {
                    let before = self.built.trainable.len();
                    let others = self.tensors(module, Term::HeadWeights, outside);
                    if module.role == Role::HeadGain {
                        heads.language.gain = others.into_iter().next();
                        continue;
                    }
                    // Beside a head that has its own bias nothing reads it.
                    let is_read = heads.language.projections.is_empty();
                    heads.language.bias = others.first().filter(|_| is_read).cloned();
                    if !is_read {
                        self.leave_untouched(before);
                    }
                    self.built.held.extend(others);
                }
            }
        }
        self.leave();
        let unties = self.adapts() && unties_head(&self.job.plan, model);
        if let Some(table) = table.filter(|_| unties && heads.language.projections.is_empty()) {
            let bias = heads.language.bias.take();
            heads.language.projections.push(self.untied_head(table, bias, outside));
            heads.is_apart = true;
        }
        heads
    }

    /// `BertPooler`: quantised and adapted like any linear layer.
    fn pooler(&mut self, outside: LayerTag) -> Option<Projection> {
        let width = self.job.model.hidden_size;
        let kind = ModuleKind::Linear { d_in: width, d_out: width, bias: true, conv1d: false, tied: false };
        let dense = Module {
            name: "pooler.dense".to_owned(),
            role: Role::Other,
            kind,
            part: ModelPart::default(),
            path: "pooler.dense".to_owned(),
        };
        self.projection(&dense, Term::HeadWeights, Place::Layer(outside))
    }

    /// The pooler where no gradient reaches it. What keeps flat tensors of all parameters that train has it in them
    /// nonetheless.
    fn unread_pooler(&mut self, outside: LayerTag) -> Option<Projection> {
        let before = self.built.trainable.len();
        let pooler = self.pooler(outside);
        self.leave_untouched(before);
        pooler
    }

    /// Takes parameters from the number `before` on for what trains in name alone: no gradient reaches them, and so an optimizer keeps
    /// no state for them (torch/optim/adamw.py `_init_group`), unless flat tensors of all parameters have them.
    pub(super) fn leave_untouched(&mut self, before: usize) {
        let is_flat = !matches!(self.job.sharding.scheme, Scheme::Single | Scheme::Ddp | Scheme::Fsdp2);
        if !is_flat {
            let elements = |one: Trainable| one.elements().saturating_mul(one.tag.repeat);
            let untouched = self.built.trainable.drain(before..).map(elements);
            self.built.counts.untouched = untouched.fold(self.built.counts.untouched, u64::saturating_add);
        }
    }

    /// What of the base is there beside this rank's shares before anything is sharded. A replay brings loading and what it
    /// leaves into an order of its own, and empties the cache behind it.
    fn hold_whole_base(&self) {
        let eight_bit = self.job.sharding.partitions_eight_bit;
        let loaded = element_type(self.job.numerics.weights);
        let beside = |one: &Parameter| {
            // `CB`, the whole of an 8-bit weight, is the parameter's own storage until then.
            let whole = match one.apart {
                Some(_) if eight_bit => 0,
                apart => one.elements().saturating_mul(apart.unwrap_or(loaded).bytes()),
            };
            whole.saturating_sub(one.tensor.storage_bytes()).saturating_mul(one.tag.repeat)
        };
        let bytes = self.built.parameters.iter().map(beside).fold(0, u64::saturating_add);
        let term = if self.quantizes() { Term::QuantizedWeights } else { Term::FeedForwardWeights };
        let label = self.tape.label(term, "before sharding");
        self.tape.moment(label, dims(&[(Sym::N, bytes)]), ElementType::Byte);
    }

    /// Brings what is on the tape from `start` on into the order in which a program makes it.
    fn put_in_order(&self, start: usize, token_embedding: Option<&Tensor>, head: &Heads) {
        let table = token_embedding.map_or(0, |table| table.shape().elements());
        let base = element_type(self.job.numerics.weights);
        let decodes = self.job.model.kind != ModelKind::Encoder;
        let replaced = self.job.embeds() || head.score.is_some() && !self.job.has_value_head();
        let tied = (head.is_apart || head.language.projections.is_empty()) && !replaced && decodes;
        let tied_head = if tied { table.saturating_mul(base.bytes()) } else { 0 };
        let turns = || Turns::of(self.built.parameters.iter().chain(&self.built.quantized));
        let quantizes_while_loading = self.quantizes_while_loading().then(turns);
        let casts_adapters = self.adapts();
        order::rewrite(self.tape, start, Construction { base, tied_head, casts_adapters, quantizes_while_loading });
    }

    /// Whether the replay has to follow transformers as it quantises what it loads.
    pub(super) fn quantizes_while_loading(&self) -> bool {
        self.tape.extent == Extent::Whole && self.holder.term.is_none() && self.job.quantizes_while_loading()
    }
}
