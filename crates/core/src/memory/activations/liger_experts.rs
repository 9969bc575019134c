//! Liger's stacked experts: one function gathers, multiplies, gates and sums, and keeps only what gate and up were made of
//! (liger-kernel 0.8.5 transformers/swiglu.py `LigerExperts`, ops/fused_moe.py `LigerFusedMoEFunction`).

use super::super::autograd::{Dim, ElementType, Shape, Sym, Tensor, custom, dims};
use super::super::term::Term;
use super::ForwardContext;

/// Rows of a tile of the kernels (ops/fused_moe.py `BLOCK_M_TOKEN`).
const TILE_ROWS: u64 = 64;
/// Visits that one program of the kernels that sort them reads (`compute_routing_metadata`).
const SORTED_AT_ONCE: u64 = 1024;

/// The stacked weights, E x 2I x h and E x h x I, as the module's forward reads them.
pub(super) struct Stacked {
    pub(super) gate_up: Tensor,
    pub(super) down: Tensor,
}

impl Stacked {
    /// I, from E x h x I.
    fn width(&self) -> u64 {
        self.down.shape().width()
    }

    /// E, from E x 2I x h.
    fn num_experts(&self) -> u64 {
        let one = self.width().saturating_mul(2).saturating_mul(self.gate_up.shape().width());
        self.gate_up.shape().elements() / one.max(1)
    }
}

/// Runs the experts that tokens visit; `chosen` has their numbers, int64, tokens x experts a token, `weights` what each
/// counts.
///
/// Autocast does not know the function: all it makes is in the dtype of `x`, or of the gradient. Backward makes the gradients
/// of both weights whether they train or not, and all that it makes lives until it returns.
pub(super) fn fused_experts(
    context: &ForwardContext,
    stacked: &Stacked,
    x: &Tensor,
    (weights, chosen): (&Tensor, &Tensor),
) -> Tensor {
    let visits = chosen.shape();
    let rows = Rows::of(x, stacked.width(), visits);
    let num_experts = stacked.num_experts();
    let (gate_up, down) = (stacked.gate_up.shape(), stacked.down.shape());
    let (of_x, of_weights) = (x.shape(), (weights.shape(), weights.element()));
    let routing = |name| context.label(Term::RouterActivations, name);
    custom(
        &context.tape,
        &[x, &stacked.gate_up, &stacked.down, weights],
        |recording| {
            let new = |name, shape, element| {
                Tensor::new(&context.tape, context.label(Term::ExpertActivations, name), shape, element)
            };
            let number = |name, shape| Tensor::new(&context.tape, routing(name), shape, ElementType::I32);
            let numbers = number("int32", visits);
            let sorted = Sorted::of(context, num_experts, chosen);
            let before = new("gate_up", rows.both, x.element());
            let product = new("product", rows.inner, x.element());
            let out = new("down", rows.hidden, x.element());
            let sum = Tensor::new(&context.tape, context.passing(), of_x, x.element());
            for kept in [x, &stacked.gate_up, &stacked.down, &before, weights] {
                recording.save(kept);
            }
            sorted.kept.iter().for_each(|kept| recording.save(kept));
            drop((numbers, product, out));
            sum
        },
        move |call| {
            let element = call.grad.element();
            let before = call.grad_like(rows.both, element);
            let weighted = call.grad_like(rows.inner, element);
            let scores = call.grad_like(visits, element);
            let grad_down = call.grad_like(down, call.saved.get(2).map_or(element, Tensor::element));
            let by_visit = call.grad_like(rows.hidden, element);
            let grad_x = call.grad_like(of_x, element);
            let grad_gate_up = call.grad_like(gate_up, call.saved.get(1).map_or(element, Tensor::element));
            drop((before, weighted, by_visit));
            // The engine gives a gradient the dtype of its input (torch/csrc/autograd/engine.cpp validate_outputs).
            let (shape, wanted) = of_weights;
            let grad_weights = if wanted == element { scores } else { call.grad_like(shape, wanted) };
            [Some(grad_x), Some(grad_gate_up), Some(grad_down), Some(grad_weights)].into()
        },
    )
}

/// Shapes of what has a row for each visit.
#[derive(Clone, Copy)]
struct Rows {
    both: Shape,
    inner: Shape,
    hidden: Shape,
}

impl Rows {
    fn of(x: &Tensor, width: u64, visits: Shape) -> Self {
        let rows = |sym, width| visits.with(Dim::new(sym, width));
        Self {
            both: rows(Sym::TwoI, width.saturating_mul(2)),
            inner: rows(Sym::I, width),
            hidden: rows(Sym::H, x.shape().width()),
        }
    }
}

/// Visits by expert.
struct Sorted {
    /// What backward reads, int32.
    kept: Vec<Tensor>,
}

impl Sorted {
    /// `compute_routing_metadata`; balanced routing decides how many tiles there are.
    fn of(context: &ForwardContext, num_experts: u64, chosen: &Tensor) -> Self {
        let visits = chosen.shape();
        let label = context.label(Term::RouterActivations, "visits by expert");
        let new = |shape| Tensor::new(&context.tape, label, shape, ElementType::I32);
        let each = |more| dims(&[(Sym::E, num_experts.saturating_add(more))]);
        let count = visits.elements();
        let blocks = count.div_ceil(SORTED_AT_ONCE).max(1);
        let by_block = new(dims(&[(Sym::E, num_experts), (Sym::N, blocks)]));
        let counts = new(each(0));
        let starts = new(each(1));
        let tiles_before = new(each(1));
        let of_expert = count.div_ceil(num_experts.max(1));
        let tiles = dims(&[(Sym::E, num_experts), (Sym::N, of_expert.div_ceil(TILE_ROWS))]);
        let (first_rows, owners) = (new(tiles), new(tiles));
        let [scatter, back, gather] = [visits, visits, visits].map(new);
        drop((by_block, counts, tiles_before));
        // topk keeps its indices for backward.
        Self { kept: vec![starts, gather, scatter, back, first_rows, owners, chosen.clone()] }
    }
}
