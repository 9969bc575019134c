//! TRL's fused LM head: log-probabilities of the labels, tile by tile, without whole logits.
//!
//! `add_fused_lm_head` (trl trainer/utils.py) picks the positions whose label counts, hands them with the head's weight to
//! `ChunkedLogProbFunction` (trl kernels/chunked_logprob.py) and scatters what comes back to the positions again. SFT,
//! DPO, KTO, GRPO and RLOO compute their losses from it.

use super::super::activations::ForwardContext;
use super::super::autograd::{Call, ElementType, Gradients, Label, Shape, Sym, Tape, Tensor, custom, dims};
use super::super::term::Term;
use super::super::weights::LoadedModel;
use super::head::Head;
use super::output::{HeadOutput, scalar};
use super::positions::{chunks, first_positions, indices, pick};
use crate::job::Job;
use std::rc::Rc;

/// Tokens of a tile (chunked_logprob.py `TOKEN_CHUNK_SIZE`).
const TOKENS: u64 = 4096;

/// Columns of a tile, whatever the vocabulary (utils.py `_CHUNKED_LOGPROB_CHUNK_SIZE`).
const COLUMNS: u64 = 32768;

/// Statistics that are kept of each token while tiles are folded: maximum, four sums, the best logit before the label's,
/// the label's logit; all of them whatever is asked for.
const STATISTICS: usize = 7;

/// What a loss asks of the head.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct FusedHead {
    /// Positions of a sequence that are scored against the token after them: s-1 where labels are shifted.
    pub(in crate::memory) positions: u64,
    /// Positions of all sequences whose label counts.
    pub(in crate::memory) labels: u64,
    /// Further fp32 numbers of each position beside its log-probability: entropy, mean logit, log of the sum of squares.
    pub(in crate::memory) further: usize,
    /// Whether each position says if its label was the likeliest.
    pub(in crate::memory) is_top1: bool,
}

/// What the head gives for each position, [b, positions]: zero where no label counts.
#[derive(Debug)]
pub(in crate::memory) struct PerToken {
    /// fp32, with a gradient.
    pub(in crate::memory) log_probs: Tensor,
    /// Of which positions the label counts, and what else was asked for: no gradient goes through it.
    pub(in crate::memory) others: Vec<Tensor>,
}

/// SFT's mean negative log-likelihood, with the entropy and the token accuracy that it reports.
pub(super) fn mean_loss(
    context: &ForwardContext,
    job: &Job,
    weights: &LoadedModel,
    (hidden, marked): (Tensor, Tensor),
) -> Option<HeadOutput> {
    drop(hidden);
    let head = FusedHead {
        positions: context.length.saturating_sub(1).max(1),
        labels: job.label_tokens(context.batch, context.length),
        further: 1,
        is_top1: true,
    };
    let PerToken { log_probs, others } = fused_lm_head(context, weights, marked, head)?;
    let (shape, label) = (log_probs.shape(), context.label(Term::LogProbabilities, "loss"));
    // `-outputs.log_probs`, then its sum over the number of tokens.
    let loss = custom(
        &context.tape,
        &[&log_probs],
        |_| {
            let negative = Tensor::new(&context.tape, label, shape, ElementType::F32);
            drop(negative);
            scalar(context)
        },
        move |call| [Some(Tensor::new(call.tape, label, shape, ElementType::F32))].into(),
    );
    // `compute_loss` reads its metrics before it returns.
    drop((log_probs, others));
    Some(HeadOutput { loss, kept: None })
}

/// Runs the head over `hidden`, [b, s, h], which it holds until it returns.
pub(in crate::memory) fn fused_lm_head(
    context: &ForwardContext,
    weights: &LoadedModel,
    hidden: Tensor,
    head: FusedHead,
) -> Option<PerToken> {
    let tape = &context.tape;
    let label = context.label(Term::LogProbabilities, "");
    let positions = dims(&[(Sym::B, context.batch), (Sym::SLessOne, head.positions)]);
    let mask = Tensor::new(tape, context.label(Term::BatchInputs, "label mask"), positions, ElementType::Byte);
    let read = first_positions(context, &hidden, head.positions);
    let picked = pick(context, &read, &mask, head.labels);
    let per_label = dims(&[(Sym::LabelTokens, head.labels)]);
    tape.moment(label, indices(head.labels), ElementType::I64);
    let targets = Tensor::new(tape, context.label(Term::BatchInputs, "picked labels"), per_label, ElementType::I64);
    let Head { weight, bias } = Head::of(weights)?;
    let scored = log_probabilities(context, &picked, (&weight, bias.as_ref()), &targets, &head);
    let scatter = |element| {
        let zeros = Tensor::new(tape, label, positions, element);
        let out = Tensor::new(tape, label, positions, element);
        // `masked_scatter` counts the mask's ones before each position.
        tape.moment(label, positions, ElementType::I64);
        drop(zeros);
        out
    };
    let log_probs = custom(
        tape,
        &[&scored],
        |_| scatter(ElementType::F32),
        move |call| {
            call.tape.moment(label, indices(head.labels), ElementType::I64);
            [Some(Tensor::new(call.tape, label, per_label, ElementType::F32))].into()
        },
    );
    let mut others: Vec<Tensor> = (0..head.further).map(|_| scatter(ElementType::F32)).collect();
    others.extend(head.is_top1.then(|| scatter(ElementType::Byte)));
    others.push(mask);
    drop((scored, hidden));
    Some(PerToken { log_probs, others })
}

/// What one tile after the other is computed from, in the dtype of the matmuls.
#[derive(Debug, Clone, Copy)]
struct Tiles {
    labels: u64,
    hidden: (Shape, ElementType),
    weight: (Shape, ElementType),
    /// dtype of the matmuls: autocast's, else that of the hidden states.
    compute: ElementType,
    label: Label,
}

impl Tiles {
    fn buffer(&self, tape: &Rc<Tape>) -> Tensor {
        let shape = dims(&[(Sym::Chunk, self.labels.min(TOKENS)), (Sym::VocabularyTile, COLUMNS)]);
        Tensor::new(tape, self.label, shape, self.compute)
    }

    /// Runs `matmuls` matmuls for each tile, with the copies of hidden states and weight that another dtype asks for.
    ///
    /// `keeps`: each copy of the weight lives until the next is there, as a variable does; gives back the last ones.
    fn run(&self, tape: &Rc<Tape>, matmuls: usize, keeps: bool) -> Vec<Tensor> {
        let width = self.hidden.0.width();
        let vocabulary = self.weight.0.elements() / width.max(1);
        let copy = |from: ElementType, symbol, rows| {
            let shape = dims(&[(symbol, rows), (Sym::H, width)]);
            (from != self.compute).then(|| Tensor::new(tape, self.label, shape, self.compute))
        };
        let (mut tokens, mut columns) = (None, None);
        for rows in chunks(self.labels, TOKENS) {
            let next = copy(self.hidden.1, Sym::Chunk, rows);
            tokens = next;
            for rows in chunks(vocabulary, COLUMNS) {
                let next = copy(self.weight.1, Sym::VocabularyTile, rows);
                columns = next;
                (0..matmuls).for_each(|_| tape.matmul_workspace());
                if !keeps {
                    columns = None;
                }
            }
        }
        [tokens, columns].into_iter().flatten().collect()
    }
}

/// `ChunkedLogProbFunction`: [N, h] and the head's weight to N log-probabilities.
fn log_probabilities(
    context: &ForwardContext,
    hidden: &Tensor,
    (weight, bias): (&Tensor, Option<&Tensor>),
    targets: &Tensor,
    head: &FusedHead,
) -> Tensor {
    let tape = &context.tape;
    let tiles = Tiles {
        labels: head.labels,
        hidden: (hidden.shape(), hidden.element()),
        weight: (weight.shape(), weight.element()),
        compute: if *context.autocast.borrow() { context.half } else { hidden.element() },
        label: context.label(Term::ChunkedLoss, ""),
    };
    let per_label = dims(&[(Sym::LabelTokens, head.labels)]);
    let of_bias = bias.map(|bias| (bias.shape(), bias.element()));
    let number = || Tensor::new(tape, tiles.label, per_label, ElementType::F32);
    let inputs: Vec<&Tensor> = [hidden, weight].into_iter().chain(bias).collect();
    custom(
        tape,
        &inputs,
        |recording| {
            let statistics: Vec<Tensor> = (0..STATISTICS).map(|_| number()).collect();
            let buffer = tiles.buffer(tape);
            drop(tiles.run(tape, 1, false));
            // log Z, kept for backward, and with it the entropy where it is asked for.
            let log_z = number();
            let out = number();
            let further: Vec<Tensor> = (0..head.further).map(|_| number()).collect();
            recording.save(hidden);
            recording.save(weight);
            bias.inspect(|bias| recording.save(bias));
            recording.save(targets);
            recording.save(&log_z);
            further.first().inspect(|entropy| recording.save(entropy));
            drop((statistics, buffer));
            out
        },
        move |call| tile_gradients(call, &tiles, of_bias),
    )
}

/// Both gradients are summed in fp32 over all tiles, then cast to their tensors' dtypes while all else still lives.
fn tile_gradients(call: &Call<'_>, tiles: &Tiles, of_bias: Option<(Shape, ElementType)>) -> Gradients {
    let needs = |i: usize| call.needs.get(i).copied().unwrap_or(false);
    let inputs = [Some(tiles.hidden), Some(tiles.weight), of_bias];
    let wanted: Vec<Option<(Shape, ElementType)>> =
        inputs.into_iter().enumerate().map(|(i, input)| input.filter(|_| needs(i))).collect();
    let sums: Vec<Option<Tensor>> = wanted
        .iter()
        .map(|input| input.map(|(shape, _)| Tensor::new(call.tape, tiles.label, shape, ElementType::F32)))
        .collect();
    let buffer = tiles.buffer(call.tape);
    let matmuls = 1 + usize::from(needs(0)) + usize::from(needs(1));
    let copies = tiles.run(call.tape, matmuls, true);
    let gradients = wanted
        .iter()
        .zip(&sums)
        .map(|(input, sum)| {
            let ((shape, element), sum) = (*input).zip(sum.as_ref())?;
            let same = element == ElementType::F32;
            Some(if same { sum.clone() } else { Tensor::new(call.tape, tiles.label, shape, element) })
        })
        .collect();
    drop((copies, sums, buffer));
    gradients
}
