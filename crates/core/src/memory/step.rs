//! The parts of a training step: the forward over all layers, the update around it, gradients that earlier micro-batches
//! have left.

use super::activations::{BackwardHook, ForwardContext, arguments, prepare_masks, run_between, run_layer};
use super::autograd::{ElementType, Extent, Offload, Sym, Tape, Tensor, backward, checkpoint, dims};
use super::loss::{HeadOutput, read_past_module};
use super::optimizer::{self, InBackward};
use super::parameter::Trainable;
use super::phase::Phase;
use super::precision::element_type;
use super::recorded::{run_after, run_before};
use super::sharding::{MicroBatch, strategy};
use super::sizes::Sizes;
use super::term::Term;
use super::weights::{LayerWeights, LoadedModel};
use crate::gpu::multiprocessors;
use crate::job::{Job, Sharding, applies_liger, fuses_experts};
use crate::model::{BatchSizes, Block, Input, ModelKind, Recorded};
use crate::plan::{AttnImplementation, Auto, Plan, Release, Task};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Whether PyTorch is of that release or a later one; where the plan does not say, it is today's.
fn torch_is_since(plan: &Plan, release: (u32, u32)) -> bool {
    plan.software.torch_version().is_none_or(|version| version >= release)
}

/// The context of a forward over the sequences of the job's update.
pub(super) fn forward_context(tape: &Rc<Tape>, job: &Job, training: bool) -> ForwardContext {
    let Job { plan, batches, numerics, .. } = job;
    let behaviour = job.model.behaviour;
    let has_flash = plan.attn_implementation == AttnImplementation::FlashAttention2;
    let transformers = plan.software.transformers.as_deref().and_then(Release::parse);
    let repeats = behaviour.flash_repeats_heads && transformers.is_some_and(|release| release.is_before(4, 48));
    let expand_kv = match plan.expand_kv_heads {
        Auto::Set(expand) => Some(expand),
        Auto::Auto if has_flash && repeats => Some(true),
        Auto::Auto if plan.packs_by_lengths() => Some(true),
        Auto::Auto => None,
    };
    ForwardContext {
        tape: Rc::clone(tape),
        batch: batches.sequences_per_forward,
        length: batches.tokens_per_sequence,
        source: batches.tokens_per_source,
        images: job.images,
        input_grads: job.input_grads(),
        attended: batches.tokens_per_sequence,
        autocast: RefCell::new(numerics.autocast.is_some()),
        argument_element: strategy(&job.sharding).argument_element(),
        cast_weights: RefCell::default(),
        training,
        checkpoints: training && plan.gradient_checkpointing,
        checkpoints_reentrantly: job.trainer.checkpoints_reentrantly(plan),
        without_graph: Cell::new(false),
        drops_out: training && !job.disables_dropout(),
        kernel: job.attention,
        knows_windows: has_flash,
        kernels: plan.software.kernels(),
        fuses_gated_norms: behaviour.takes_gated_norm
            && plan.software.flash_linear_attention.is_some()
            && plan.transformers_release().is_some_and(|release| release.is_before(5, 15)),
        multiprocessors: multiprocessors(&job.gpu).0,
        padded: job.padded,
        expand_kv,
        shares_one_head: torch_is_since(plan, (2, 14)),
        widens_rms_norm: torch_is_since(plan, (2, 12)),
        liger: applies_liger(plan),
        experts: job.experts,
        liger_experts: fuses_experts(plan, &job.model.model_type),
        fuses_adapters: job.trainer.fuses_adapters(plan),
        fused_gemm: job.fused_gemm(),
        cache: (training && job.trains_with_cache()).then(RefCell::default),
        past: None,
        masks: RefCell::default(),
        gathers_experts_at_once: behaviour.gathers_experts_at_once,
        in_leaf: Cell::new(false),
        float16: numerics.float16,
        loaded: element_type(numerics.unquantized),
        scope: RefCell::default(),
        encoder_output: RefCell::default(),
        sizes: RefCell::default(),
        half: ElementType::Half,
        groups: None,
        zero3: None,
        backward_begins: Rc::default(),
        hidden_states: RefCell::default(),
    }
}

/// What is updated in one optimizer step.
pub(super) struct Update<'a> {
    pub(super) tape: &'a Rc<Tape>,
    pub(super) job: &'a Job,
    /// The weights that sharding goes by.
    pub(super) weights: &'a LoadedModel,
    /// Everything that gets a gradient.
    pub(super) trainable: &'a [Trainable],
    /// What comes once the weights are new.
    pub(super) after: &'a dyn Fn(),
}

/// What a micro-batch leaves.
struct MicroStep {
    /// Lives on until the step ends.
    kept: Vec<Tensor>,
    /// Buckets of gradients that are not reduced yet.
    buckets: Vec<Tensor>,
}

/// A forward and its loss.
type Loss<'a> = &'a dyn Fn(&Rc<ForwardContext>) -> Option<HeadOutput>;

impl Update<'_> {
    /// Runs `before` with optimizer state in place and holds what it gives; then `loss` forwards and backwards,
    /// clipping and the optimizer.
    pub(super) fn run(
        &self,
        inputs: Vec<Tensor>,
        before: impl FnOnce() -> Vec<Tensor>,
        loss: impl Fn(&Rc<ForwardContext>) -> Option<HeadOutput>,
    ) {
        let Self { tape, job, weights, trainable, .. } = *self;
        let Job { plan, sharding, .. } = job;
        let strategy = strategy(sharding);
        strategy.shard_gradients(tape, trainable);
        let buffers = strategy.standing_buffers(tape, &weights.sharded(), trainable);
        self.gather_beside();
        tape.mark(|marks, at| marks.states = at);
        let states = optimizer::allocate_states(tape, job, trainable);
        let in_backward = InBackward::hook(tape, job, trainable);
        tape.mark(|marks, at| marks.step = at);
        let experience = before();
        let (mut averaged, mut buckets) = (None, Vec::new());
        if job.batches.forwards_per_step > 1 {
            tape.enter(Phase::Forward);
            averaged = strategy.accumulated(tape, trainable);
            if tape.extent == Extent::Whole && strategy.replays_earlier_batches() {
                let earlier = self.micro_step(&loss, Vec::new(), strategy.reduces_every_batch(), in_backward.as_ref());
                buckets = earlier.map(|ran| ran.buckets).unwrap_or_default();
            } else {
                if strategy.leaves_hold_gradients() && in_backward.is_none() {
                    hold_gradients(tape, trainable);
                }
                buckets = strategy.accumulated_buckets(tape);
            }
            // Later micro-batches repeat the second.
            if job.batches.forwards_per_step > 2 && strategy.runs_unreduced_batch() {
                self.micro_step(&loss, Vec::new(), false, None);
                tape.enter(Phase::Forward);
            }
        }
        strategy.begin_reduced_batch(trainable);
        let Some(MicroStep { kept, .. }) = self.micro_step(&loss, buckets, true, in_backward.as_ref()) else { return };
        optimizer::clip(tape, plan, trainable);
        tape.enter(Phase::OptimizerStep);
        let kept = strategy.flatten_gradients(tape, trainable, kept);
        tape.mark(|marks, at| marks.optimizer_step = at);
        optimizer::step(tape, job, trainable);
        drop((kept, averaged));
        weights.zero2.iter().for_each(|modules| modules.end_step());
        for parameter in trainable {
            tape.enter_layer(parameter.tag);
            drop(parameter.take_gradient());
        }
        tape.enter_layer(super::autograd::NO_LAYER);
        (self.after)();
        tape.mark(|marks, at| marks.end = at);
        drop((experience, states, buffers, inputs));
    }

    /// Forward, loss and backward of one micro-batch; gives back what lives on until the step ends.
    /// `buckets`: those of gradients that are there already; `reduces`: whether gradients are reduced where backward ends.
    /// `in_backward`: the optimizer's updates, where they run in backward.
    fn micro_step(
        &self,
        loss: Loss<'_>,
        buckets: Vec<Tensor>,
        reduces: bool,
        in_backward: Option<&InBackward>,
    ) -> Option<MicroStep> {
        let Self { tape, job, weights, trainable, .. } = *self;
        let sharding = &job.sharding;
        let zero3 = weights.zero3.as_ref();
        tape.enter(Phase::Forward);
        let mut context = forward_context(tape, job, true);
        let batch = MicroBatch { accumulates: job.batches.forwards_per_step > 1, reduces };
        let groups = strategy(sharding).groups(tape, &weights.sharded(), batch);
        context.groups.clone_from(&groups);
        context.zero3 = zero3.cloned();
        let context = Rc::new(context);
        let offload = job.plan.activation_offloading.then(|| self.offload());
        if let Some(offload) = &offload {
            tape.set_saved_tensor_hooks(Some(Rc::<Offload>::clone(offload)));
        }
        let head = read_past_module(job, weights);
        let root = zero3.map(|modules| modules.enter("root", &head.iter().collect::<Vec<_>>()));
        groups.iter().for_each(|groups| groups.begin_forward());
        let head = loss(&context);
        context.autocast.replace(false);
        context.leave_autocast();
        let HeadOutput { mut loss, kept } = head?;
        if let (Some(modules), Some(root)) = (zero3, root) {
            loss = modules.leave(root, &loss);
        }
        groups.iter().for_each(|groups| groups.end_forward());
        tape.enter(Phase::LossBackward);
        groups.iter().for_each(|groups| groups.begin_backward());
        let makes_buckets = buckets.is_empty();
        let reduce = Rc::new(RefCell::new(buckets));
        if makes_buckets {
            context.backward_begins.replace(Some(backward_hook(tape, sharding, &reduce)));
        }
        if let Some(source) = loss.source().cloned() {
            let one =
                Tensor::new(tape, tape.label(Term::LogitsGradients, "loss"), dims(&[(Sym::One, 1)]), ElementType::F32);
            backward(tape, &source, one);
        }
        in_backward.into_iter().for_each(InBackward::end);
        context.backward_begins.take();
        tape.set_saved_tensor_hooks(None);
        offload.iter().for_each(|offload| offload.finish(tape));
        zero3.into_iter().chain(&weights.zero2).for_each(|modules| modules.end_backward());
        let mut buckets = reduce.take();
        let mut held = Vec::new();
        if reduces {
            held = strategy(sharding).end_backward(tape, trainable, &mut buckets);
        } else {
            strategy(sharding).end_earlier_backward(tape, trainable);
        }
        held.extend(groups.iter().flat_map(|groups| groups.end_backward()));
        drop((loss, kept, context.encoder_output.take()));
        if reduces {
            buckets.clear();
        }
        tape.enter_layer(super::autograd::NO_LAYER);
        weights.zero2.iter().for_each(|modules| modules.end_reduction());
        Some(MicroStep { kept: held, buckets })
    }
}

impl Update<'_> {
    /// What the first forwards of frozen models leave gathered for good: steady steps begin with it.
    fn gather_beside(&self) {
        let beside = self.weights.beside.borrow();
        if !beside.is_empty() {
            // The first step's forwards, not loading.
            self.tape.mark(|marks, at| marks.first_forward = marks.first_forward.or(Some(at)));
        }
        beside.iter().for_each(|groups| groups.gather_what_stays());
    }

    /// What moves saved tensors to the host: all but those of parameters.
    fn offload(&self) -> Rc<Offload> {
        let loaded = self.weights.parameters.iter().map(|parameter| parameter.tensor.storage_address());
        let trained = self.trainable.iter().map(|trained| trained.tensor.storage_address());
        Offload::new(loaded.chain(trained).collect(), self.tape.label(Term::OffloadStaging, "saved tensor"))
    }
}

/// Sharding's buffers come with the first gradients.
fn backward_hook(tape: &Rc<Tape>, sharding: &Sharding, into: &Rc<RefCell<Vec<Tensor>>>) -> BackwardHook {
    let buffers = strategy(sharding).backward_buffers();
    let (tape, into) = (Rc::clone(tape), Rc::clone(into));
    Box::new(move || {
        into.borrow_mut().extend(buffers.into_iter().map(|buffer| buffer.allocate(&tape)));
    })
}

/// Token ids and labels.
pub(super) fn batch_inputs(tape: &Rc<Tape>, job: &Job) -> Vec<Tensor> {
    let Job { plan, batches, .. } = job;
    tape.mark(|marks, at| marks.inputs = Some(at));
    let label = |name| tape.label(Term::BatchInputs, name);
    let tokens = dims(&[(Sym::B, batches.sequences_per_forward), (Sym::S, batches.tokens_per_sequence)]);
    let sources = dims(&[(Sym::B, batches.sequences_per_forward), (Sym::S, batches.tokens_per_source)]);
    let read = if job.model.kind == ModelKind::EncoderDecoder { sources } else { tokens };
    let mut inputs = vec![Tensor::new(tape, label("input_ids"), read, ElementType::I64)];
    if plan.task == Task::SequenceClassification {
        let labels = dims(&[(Sym::B, batches.sequences_per_forward)]);
        inputs.push(Tensor::new(tape, label("labels"), labels, ElementType::I64));
    } else {
        inputs.push(Tensor::new(tape, label("labels"), tokens, ElementType::I64));
    }
    inputs.extend(recorded_inputs(tape, job, &job.model.recorded));
    if plan.padded_batch {
        inputs.push(Tensor::new(tape, label("attention_mask"), tokens, ElementType::I64));
    }
    inputs
}

/// What a recorded class reads of a batch beside token ids: pixels, where images are.
fn recorded_inputs(tape: &Rc<Tape>, job: &Job, recorded: &Recorded) -> Vec<Tensor> {
    let batches = &job.batches;
    let (sequences, length) = (batches.sequences_per_forward, batches.tokens_per_sequence);
    let source = batches.tokens_per_source;
    let multiprocessors = multiprocessors(&job.gpu).0;
    let sizes = Sizes::of(recorded, BatchSizes { sequences, length, images: job.images, source, multiprocessors });
    let inputs = recorded.program.inputs.iter();
    let new = |input: &Input| {
        let element = input.held.element(element_type(job.numerics.unquantized));
        Tensor::new(tape, tape.label(Term::BatchInputs, &input.name), sizes.shape(input.shape), element)
    };
    inputs.map(new).collect()
}

/// Gradients of earlier micro-batches are there when the last one's forward begins.
fn hold_gradients(tape: &Rc<Tape>, trainable: &[Trainable]) {
    let outside = tape.tag();
    for parameter in trainable {
        tape.enter_layer(parameter.tag);
        parameter.hold_gradient(tape);
    }
    tape.enter_layer(outside);
}

/// Embeddings, layers, final norm: the hidden states that the head reads.
pub(super) fn forward(context: &Rc<ForwardContext>, job: &Job, weights: &LoadedModel) -> Option<Tensor> {
    let tape = &context.tape;
    let model_module = context.zero3.as_ref().map(|modules| modules.enter("model", &[]));
    // A class may make its own of the mask before its first layer.
    if weights.before.block().is_some_and(Block::takes_masks) {
        prepare_masks(context, &job.model, context.loaded);
    }
    let mut hidden = run_before(context, job, weights)?;
    if context.masks.borrow().is_empty() {
        prepare_masks(context, &job.model, hidden.element());
    }
    let mut inputs_embeds = None;
    let checkpoints = |layer: &LayerWeights| {
        let block = &layer.block;
        let mut parameters = (0..block.owners.len()).flat_map(|module| block.parameters(module));
        job.plan.gradient_checkpointing
            && layer.block.is_checkpointed()
            && tape.grad_enabled()
            && (job.checkpoints_frozen_layers() || parameters.any(|parameter| parameter.requires_grad()))
    };
    for layer in &weights.called() {
        context.keep_hidden_state(&hidden);
        tape.enter_layer(layer.tag);
        if let Some(called_with) = run_between(context, &layer.block, &hidden) {
            hidden = called_with;
        }
        if inputs_embeds.is_none() && layer.block.holds_input() {
            inputs_embeds = Some(hidden.clone());
        }
        let run = |x: &Tensor| {
            if checkpoints(layer) { checkpointed(context, layer, x) } else { run_layer(context, layer, x) }
        };
        hidden = match &context.groups {
            Some(groups) => groups.run_layer(layer.tag, &hidden, run),
            None => run(&hidden),
        };
    }
    tape.enter_layer(super::autograd::NO_LAYER);
    let mut out = hidden.clone();
    if let Some(groups) = &context.groups {
        out = groups.enter_tail(&out, true);
    }
    let of_decoder = inputs_embeds.take_if(|_| weights.after.of.program.has_head_layers());
    out = run_after(context, job, weights, (&out, of_decoder))?;
    context.keep_hidden_state(&out);
    drop((hidden, inputs_embeds));
    context.masks.borrow_mut().clear();
    if let (Some(modules), Some(module)) = (&context.zero3, model_module) {
        out = modules.leave(module, &out);
    }
    Some(out)
}

/// A layer under `torch.utils.checkpoint`: recomputed under the autocast state of its forward.
fn checkpointed(context: &Rc<ForwardContext>, layer: &Rc<LayerWeights>, hidden: &Tensor) -> Tensor {
    let autocast = *context.autocast.borrow();
    let mut masks = context.masks.borrow().clone();
    // A layer's argument is its own mask alone: when the first, whose turn comes last, runs again, the others are gone.
    let others = RefCell::new(Vec::new());
    if layer.tag.index == 0 {
        let own = context.window(layer.layer.attention.sliding_window);
        let (kept, left) = masks.into_iter().partition(|(window, _)| *window == own);
        masks = kept;
        others.replace(left);
    }
    let taken = arguments(context, &layer.block, hidden);
    let ran = Cell::new(false);
    let (inside, layer) = (Rc::clone(context), Rc::clone(layer));
    let run = move |x: &Tensor| {
        let again = ran.replace(true);
        if again {
            others.take();
        }
        inside.without_graph.set(inside.checkpoints_reentrantly && !again);
        let outer = inside.autocast.replace(autocast);
        // Masks are arguments of the checkpointed function, which holds them.
        let held = inside.masks.replace(masks.clone());
        let scope = again.then(|| inside.scope.replace(taken.clone()));
        let out = run_layer(&inside, &layer, x);
        scope.into_iter().for_each(|scope| drop(inside.scope.replace(scope)));
        inside.without_graph.set(false);
        inside.masks.replace(held);
        if !outer && autocast {
            inside.autocast.replace(outer);
            inside.leave_autocast();
        }
        out
    };
    checkpoint(&context.tape, hidden, Rc::new(run))
}
