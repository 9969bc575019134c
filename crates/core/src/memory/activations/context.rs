//! What is the same for every layer of a step.

use super::super::autograd::{Dim, ElementType, Label, LayerTag, Shape, Sym, Tape, Tensor, cast, dims};
use super::super::sharding::{Groups, Modules};
use super::super::sizes::Sizes;
use super::super::term::Term;
use super::scope::Scope;
use crate::job::{AttentionKernel, FusedGemm, HeldExperts, InputGrads};
use crate::model::{BatchImages, BatchSizes, KernelPackages, Recorded};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// What is the same for every layer.
pub(in crate::memory) struct ForwardContext {
    pub(in crate::memory) tape: Rc<Tape>,
    /// b, sequences in this forward.
    pub(in crate::memory) batch: u64,
    /// s, tokens of each.
    pub(in crate::memory) length: u64,
    /// Tokens of each source, of an encoder-decoder, whose targets have `length`.
    pub(in crate::memory) source: u64,
    /// Images of this forward.
    pub(in crate::memory) images: BatchImages,
    /// Which input embeddings are made to require gradients.
    pub(in crate::memory) input_grads: InputGrads,
    /// Tokens attended to: s, or more when a cache holds earlier ones.
    pub(in crate::memory) attended: u64,
    /// Whether autocast is on.
    pub(in crate::memory) autocast: RefCell<bool>,
    /// dtype that sharding casts the arguments of layers to.
    pub(in crate::memory) argument_element: Option<ElementType>,
    /// Autocast's weight cache.
    pub(in crate::memory) cast_weights: RefCell<CastWeights>,
    /// Whether this forward trains.
    pub(in crate::memory) training: bool,
    /// Gradient checkpointing runs layers again.
    pub(in crate::memory) checkpoints: bool,
    /// Checkpoints are reentrant.
    pub(in crate::memory) checkpoints_reentrantly: bool,
    /// A reentrant checkpoint's first forward runs, which records no graph.
    pub(in crate::memory) without_graph: Cell<bool>,
    /// Whether dropout acts.
    pub(in crate::memory) drops_out: bool,
    /// Attention kernel.
    pub(in crate::memory) kernel: AttentionKernel,
    /// Attention is the flash-attention package's own, not PyTorch's.
    pub(in crate::memory) knows_windows: bool,
    /// Packages with kernels for recorded layers that are installed.
    pub(in crate::memory) kernels: KernelPackages,
    /// flash-linear-attention's kernel stands in for gated norms.
    pub(in crate::memory) fuses_gated_norms: bool,
    /// Multiprocessors of the GPU.
    pub(in crate::memory) multiprocessors: u64,
    /// A mask with real padding reaches attention.
    pub(in crate::memory) padded: bool,
    /// k and v are repeated to all heads before attention.
    pub(in crate::memory) expand_kv: Option<bool>,
    /// Fused kernels share one head of keys and values among all queries' without being asked (PyTorch 2.14 and later).
    pub(in crate::memory) shares_one_head: bool,
    /// Autocast runs PyTorch's RMSNorm in fp32 (2.12 and later).
    pub(in crate::memory) widens_rms_norm: bool,
    /// Liger's kernels stand in for norms, SwiGLU and loss.
    pub(in crate::memory) liger: bool,
    /// How routed experts are held.
    pub(in crate::memory) experts: HeldExperts,
    /// Liger's function stands in for stacked experts.
    pub(in crate::memory) liger_experts: bool,
    /// axolotl's kernels run adapted projections of one input together.
    pub(in crate::memory) fuses_adapters: bool,
    /// bitsandbytes may multiply without a dequantised copy (0.50 and later).
    pub(in crate::memory) fused_gemm: FusedGemm,
    /// Keys and values are kept, each with the layer that they are of.
    pub(in crate::memory) cache: Option<RefCell<Vec<(LayerTag, Tensor)>>>,
    /// Those of the tokens before, layer by layer, when this forward reads only the newest one.
    pub(in crate::memory) past: Option<RefCell<VecDeque<(LayerTag, Tensor)>>>,
    /// The mask that attention gets, by the sliding window it is for.
    pub(in crate::memory) masks: RefCell<Vec<(Option<u64>, Tensor)>>,
    /// The half type is float16, not bfloat16.
    pub(in crate::memory) float16: bool,
    /// FSDP's groups, which gather and free around modules.
    pub(in crate::memory) groups: Option<Rc<Groups>>,
    /// ZeRO-3's hooks around every module.
    pub(in crate::memory) zero3: Option<Rc<Modules>>,
    /// ZeRO-3 gathers a block of experts with its router as one module.
    pub(in crate::memory) gathers_experts_at_once: bool,
    /// Modules inside the one that runs have no hooks of ZeRO-3's.
    pub(in crate::memory) in_leaf: Cell<bool>,
    /// What happens when backward through the layers begins: sharding takes its buffers then.
    pub(in crate::memory) backward_begins: Rc<RefCell<Option<BackwardHook>>>,
    /// What every layer reads and the head's input, where the outputs are to hold them (`output_hidden_states`), each with
    /// the layer that made it.
    pub(in crate::memory) hidden_states: RefCell<Option<Vec<(LayerTag, Tensor)>>>,
    /// dtype that weights are held in.
    pub(in crate::memory) loaded: ElementType,
    /// What recorded blocks leave for each other.
    pub(in crate::memory) scope: RefCell<Scope>,
    /// What an encoder-decoder's encoder gave, which the model's outputs hold.
    pub(in crate::memory) encoder_output: RefCell<Option<Tensor>>,
    /// A recorded program's shapes for this forward's batch, once they are known.
    pub(in crate::memory) sizes: RefCell<Option<Rc<Sizes>>>,
    /// dtype that matmuls run in under autocast.
    pub(in crate::memory) half: ElementType,
}

/// Runs once.
pub(in crate::memory) type BackwardHook = Box<dyn FnOnce()>;

/// Weights that autocast has cast and keeps until the region ends.
#[derive(Default)]
pub(in crate::memory) struct CastWeights {
    made: Vec<(LayerTag, Tensor)>,
    /// By the number of the leaf, where in `made` its copy is.
    places: BTreeMap<u64, usize>,
}

impl CastWeights {
    fn of(&self, leaf: u64) -> Option<Tensor> {
        self.made.get(*self.places.get(&leaf)?).map(|(_, tensor)| tensor.clone())
    }

    fn keep(&mut self, leaf: u64, tag: LayerTag, tensor: Tensor) {
        self.places.insert(leaf, self.made.len());
        self.made.push((tag, tensor));
    }
}

impl ForwardContext {
    /// The shapes of a program's tensors in this forward.
    pub(in crate::memory) fn sizes(&self, recorded: &Recorded) -> Rc<Sizes> {
        let made = || Sizes::of(recorded, self.batch_sizes());
        Rc::clone(self.sizes.borrow_mut().get_or_insert_with(made))
    }

    /// The same in a layer whose attention reads `keys` tokens, earlier ones among them, and the shapes of what is made of these alone.
    pub(super) fn sizes_with_keys(&self, recorded: &Recorded, keys: u64) -> (Rc<Sizes>, Rc<[Shape]>) {
        Sizes::with_keys(recorded, self.batch_sizes(), keys)
    }

    fn batch_sizes(&self) -> BatchSizes {
        let (sequences, length, images, source) = (self.batch, self.length, self.images, self.source);
        BatchSizes { sequences, length, images, source, multiprocessors: self.multiprocessors }
    }

    /// Runs what reads one token of each sequence.
    pub(in crate::memory) fn of_one_token<T>(&self, recorded: &Recorded, run: impl FnOnce() -> T) -> T {
        let (sequences, images, source) = (self.batch, self.images, self.source);
        let multiprocessors = self.multiprocessors;
        let batch = BatchSizes { sequences, length: 1, images, source, multiprocessors };
        let whole = self.sizes.replace(Some(Sizes::of(recorded, batch)));
        let out = run();
        self.sizes.replace(whole);
        out
    }

    /// Keeps `hidden` for the model's outputs, where they are to hold hidden states.
    pub(in crate::memory) fn keep_hidden_state(&self, hidden: &Tensor) {
        if let Some(states) = self.hidden_states.borrow_mut().as_mut() {
            states.push((self.tape.tag(), hidden.detach()));
        }
    }

    /// Frees the keys and values that the model's outputs hold, layer by layer.
    pub(in crate::memory) fn drop_cache(&self) {
        let Some(cache) = &self.cache else { return };
        let outside = self.tape.tag();
        for (tag, tensor) in cache.take() {
            self.tape.enter_layer(tag);
            drop(tensor);
        }
        self.tape.enter_layer(outside);
    }

    /// A label.
    pub(in crate::memory) fn label(&self, term: Term, name: &str) -> Label {
        self.tape.label(term, name)
    }

    /// The label of what lives for moments.
    pub(in crate::memory) fn passing(&self) -> Label {
        self.tape.label(Term::ForwardTemporaries, "")
    }

    /// Whether attention takes padding out of what it reads and puts it back into what it gives, in place of a mask.
    pub(super) fn unpads(&self) -> bool {
        self.padded && self.knows_windows && self.kernel == AttentionKernel::Flash
    }

    /// Which mask an attention with this window reads: short of the window, `sdpa` needs none of its own; the flash-attention
    /// package knows windows and needs none at all (transformers integrations/flash_attention.py).
    pub(in crate::memory) fn window(&self, window: Option<u64>) -> Option<u64> {
        let reads = |window: &u64| self.length >= *window && !self.knows_windows;
        window.filter(|window| self.kernel == AttentionKernel::Eager || reads(window))
    }

    /// Runs a module over `x`; `parameters` are its own, not those of modules inside.
    pub(in crate::memory) fn module(
        &self,
        name: &str,
        parameters: &[&Tensor],
        x: &Tensor,
        forward: impl FnOnce(&Tensor) -> Tensor,
    ) -> Tensor {
        match &self.zero3 {
            Some(modules) if !self.in_leaf.get() => {
                modules.run(name, parameters, Some(x), |seen| forward(seen.unwrap_or(x)))
            }
            _ => forward(x),
        }
    }

    /// The same of a module that ZeRO-3 takes as a whole (`z3_leaf_module`): `parameters` are all that it and modules
    /// inside have.
    pub(in crate::memory) fn leaf_module(
        &self,
        name: &str,
        parameters: &[&Tensor],
        x: &Tensor,
        forward: impl FnOnce(&Tensor) -> Tensor,
    ) -> Tensor {
        self.module(name, parameters, x, |x| {
            let outer = self.in_leaf.replace(true);
            let out = forward(x);
            self.in_leaf.set(outer);
            out
        })
    }

    /// Runs a module that takes token ids, which have no gradient.
    pub(in crate::memory) fn embedding_module(
        &self,
        name: &str,
        table: &Tensor,
        look_up: impl FnOnce() -> Tensor,
    ) -> Tensor {
        match &self.zero3 {
            Some(modules) => modules.run(name, &[table], None, |_| look_up()),
            None => look_up(),
        }
    }

    /// `[b, s, width]`.
    pub(in crate::memory) fn tokens(&self, sym: Sym, width: u64) -> Shape {
        dims(&[(Sym::B, self.batch), (Sym::S, self.length)]).with(Dim::new(sym, width))
    }

    /// `x` as autocast hands it to a matmul.
    pub(in crate::memory) fn cast_input(&self, x: &Tensor) -> Tensor {
        if *self.autocast.borrow() { cast(x, self.half, self.label(Term::AutocastInputs, "")) } else { x.clone() }
    }

    /// `weight` as autocast hands it to a matmul: fp32 leaves that train are cast once and kept until the region ends
    /// (`cached_cast` in aten/src/ATen/autocast_mode.cpp).
    pub(in crate::memory) fn cast_weight(&self, weight: &Tensor, name: &str) -> Tensor {
        if !*self.autocast.borrow() || weight.element() == self.half {
            return weight.clone();
        }
        let id = match weight.source() {
            Some(super::super::autograd::GradSource::Leaf(leaf)) => Some(leaf.id),
            _ => None,
        };
        if let Some(hit) = id.and_then(|id| self.cast_weights.borrow().of(id)) {
            return hit;
        }
        let tensor = cast(weight, self.half, self.label(Term::AutocastWeights, name));
        if let Some(id) = id {
            self.cast_weights.borrow_mut().keep(id, self.tape.tag(), tensor.clone());
        }
        tensor
    }

    /// What the model's own forward gives to a loss outside it, as its hooks hand it over.
    pub(in crate::memory) fn give(&self, output: Tensor) -> Tensor {
        let groups = self.groups.as_ref().filter(|_| self.training);
        groups.map_or_else(|| output.clone(), |groups| groups.give(&output))
    }

    /// The model's own forward ends where what it gives is read outside it: with it autocast's region, and what FSDP's hooks
    /// hold for overlap.
    pub(in crate::memory) fn leave_forward(&self) {
        self.autocast.replace(false);
        self.leave_autocast();
        self.groups.iter().for_each(|groups| groups.end_forward());
    }

    /// Ends the autocast region: the weight cache goes, layer by layer.
    pub(in crate::memory) fn leave_autocast(&self) {
        let outside = self.tape.tag();
        for (tag, tensor) in self.cast_weights.take().made {
            self.tape.enter_layer(tag);
            drop(tensor);
        }
        self.tape.enter_layer(outside);
    }
}
