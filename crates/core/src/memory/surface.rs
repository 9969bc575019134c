//! Allocated memory over batch size and length, from few estimates.
//!
//! Between two plans that differ in b and s alone the same operators run in the same order, until a threshold is crossed
//! (a window shorter than the sequence, a kernel for few tokens). Every size is a product of symbols, and none has more
//! than one b or two s: so at any moment of the step the allocated bytes are c + c'b with coefficients quadratic in s. So the
//! tape is cut in pieces of a few operators, the peak of each piece is interpolated through exact estimates at two batch
//! sizes and two lengths, three where that is not enough, and the peak is the highest of theirs. Further exact estimates
//! in between check it: a rectangle where one of them is off is cut in two.

use super::autograd::{Extent, Peaks, Wanted};
use super::program;
use super::sharding::Acts;
use crate::job::Job;
use crate::order;
use crate::plan::Plan;

/// How far an estimate that checks an interpolation may be off, as a share of it: less than what is promised of the others.
const TOLERANCE: f64 = 0.001;

/// The plan with another batch size and length: that of answers where a task generates what it trains on.
fn with(plan: &Plan, batch: u64, length: u64) -> Plan {
    let mut plan = Plan { per_device_train_batch_size: batch, ..plan.clone() };
    if plan.is_reinforcement() {
        plan.rollout.max_completion_length = Some(length);
    } else {
        plan.max_length = length;
    }
    plan
}

/// Peak of allocated tensors for every pair of `batches` and `lengths`, both ascending; rows are lengths (of
/// answers, `rollout.max_completion_length`, where a task generates what it trains on). Bytes, as in [`Peak::allocated_bytes`](super::Peak) of an outline, to 0.5 % for
/// 96 of 100 plans (2.1 % at the worst cell of 300 plans drawn at random).
pub fn surface(job: &Job, batches: &[u64], lengths: &[u64]) -> Vec<Vec<u64>> {
    let mut grid = vec![vec![0; batches.len()]; lengths.len()];
    let Some(last_batch) = batches.len().checked_sub(1) else { return grid };
    let mut known = Known { job, batches, lengths, estimates: Vec::new(), even_in_batch: false, acts: None };
    let bands = known.bands();
    let area = |lengths| Area { batches: (0, last_batch), lengths, linear: true };
    // The shortest first: what is even in the batch there is even at greater lengths, where fewer parts can be the peak.
    let mut open: Vec<Area> = bands.into_iter().rev().map(area).collect();
    while let Some(area) = open.pop() {
        let fitted = match known.fit(area) {
            Ok(fitted) => fitted.leading(&known),
            Err(others) => {
                open.extend(others.into_iter().rev());
                continue;
            }
        };
        for (s, row) in grid.iter_mut().enumerate().take(area.lengths.1 + 1).skip(area.lengths.0) {
            for (b, cell) in row.iter_mut().enumerate().take(area.batches.1 + 1).skip(area.batches.0) {
                *cell = fitted.at(&known, b, s).0;
            }
        }
    }
    grid
}

/// Batch sizes and lengths: the first and the last index of each.
#[derive(Debug, Clone, Copy)]
struct Area {
    batches: (usize, usize),
    lengths: (usize, usize),
    /// Whether need is linear in the length too: no scores of every token with every other are materialised.
    linear: bool,
}

/// The index in the middle.
const fn middle((first, last): (usize, usize)) -> usize {
    first + (last - first) / 2
}

impl Area {
    /// Batch sizes at which it is estimated.
    fn batch_nodes(self) -> impl Iterator<Item = usize> + Clone {
        let (first, last) = self.batches;
        [Some(first), (last > first).then_some(last)].into_iter().flatten()
    }

    /// Lengths at which it is estimated.
    fn length_nodes(self) -> impl Iterator<Item = usize> + Clone {
        let (first, last) = self.lengths;
        let between = middle(self.lengths);
        let between = (between > first && between < last && !self.linear).then_some(between);
        [Some(first), between, (last > first).then_some(last)].into_iter().flatten()
    }

    /// Its halves, cut across the batch sizes. A batch of one runs without copies that more sequences need, so it goes by
    /// itself first.
    fn by_batch(self, batches: &[u64]) -> [Self; 2] {
        let (first, last) = self.batches;
        let cut = if batches.get(first) == Some(&1) { first } else { middle(self.batches) };
        [Self { batches: (first, cut), ..self }, Self { batches: (cut + 1, last), ..self }]
    }

    fn by_length(self) -> [Self; 2] {
        let ((first, last), cut) = (self.lengths, middle(self.lengths));
        [Self { lengths: (first, cut), ..self }, Self { lengths: (cut + 1, last), ..self }]
    }
}

/// What is estimated so far.
struct Known<'a> {
    job: &'a Job,
    batches: &'a [u64],
    lengths: &'a [u64],
    /// With indices of batch size and length: the peaks.
    estimates: Vec<((usize, usize), Peaks)>,
    /// Whether all batch sizes were found to lie between the first and the last, at some lengths.
    even_in_batch: bool,
    /// What DeepSpeed's stage 3 does in all of them.
    acts: Option<Acts>,
}

impl Known<'_> {
    /// Lengths between which no sliding window begins to cut: first and last index of each.
    fn bands(&self) -> Vec<(usize, usize)> {
        let prompt = if self.job.plan.is_reinforcement() { self.job.plan.rollout.max_prompt_length() } else { 0 };
        let models = std::iter::once(&self.job.model).chain(self.job.instances.iter().map(|one| &one.model));
        let windows = models.flat_map(|model| &model.layers).filter_map(|run| run.layer.attention.sliding_window);
        let mut cuts: Vec<usize> =
            windows.map(|window| self.lengths.partition_point(|s| s.saturating_add(prompt) < window)).collect();
        cuts.push(self.lengths.len());
        order::sort(&mut cuts, Ord::cmp);
        cuts.dedup();
        let mut first = 0;
        let mut bands = Vec::new();
        for cut in cuts.into_iter().filter(|cut| *cut > 0) {
            bands.push((first, cut - 1));
            first = cut;
        }
        bands
    }

    fn exact(&mut self, b: usize, s: usize) -> &Peaks {
        let at = self.estimates.iter().position(|(place, _)| *place == (b, s)).unwrap_or_else(|| {
            let (batch, length) =
                (self.batches.get(b).copied().unwrap_or(1), self.lengths.get(s).copied().unwrap_or(1));
            let job = self.job.with_size(with(&self.job.plan, batch, length));
            let extent = if job.plan.activation_offloading { Extent::EveryLayer } else { Extent::Representative };
            let how = (extent, Wanted::Pieces);
            let step = program::run_beside(&job, how, &mut self.acts);
            self.estimates.push(((b, s), step.record.into_peaks()));
            self.estimates.len() - 1
        });
        &self.estimates[at].1
    }

    /// The peaks at a place that has been estimated.
    fn known(&self, place: (usize, usize)) -> Option<&Peaks> {
        self.estimates.iter().find(|(other, _)| *other == place).map(|(_, peaks)| peaks)
    }

    /// Interpolates an area through its nodes and checks that in between.
    ///
    /// # Errors
    /// What is to be tried in its place: the area with more nodes, or its parts.
    fn fit(&mut self, area: Area) -> Result<Fitted, Vec<Area>> {
        let ends = self.exact(area.batches.0, area.lengths.0).ends.clone();
        let count = ends.len();
        let is_alone = area.batches.0 < area.batches.1 && self.batches.get(area.batches.0) == Some(&1);
        for b in area.batch_nodes() {
            // Without the copies that more sequences need the pieces are others.
            if is_alone && self.exact(b, area.lengths.0).ends != ends {
                return Err(area.by_batch(self.batches).into());
            }
            let first = self.exact(b, area.lengths.0).ends.len();
            if first != count {
                return Err(area.by_batch(self.batches).into());
            }
            for s in area.length_nodes() {
                if self.exact(b, s).ends.len() != first {
                    return Err(area.by_length().into());
                }
            }
        }
        let fitted = Fitted::new(self, area);
        let (batch, length) = (middle(area.batches), middle(area.lengths));
        let few = middle((area.batches.0, batch));
        let between = |(first, last): (usize, usize), nodes: usize| last - first + 1 > nodes;
        if area.linear && between(area.lengths, 2) {
            // What is not the peak here may be it elsewhere: with few sequences what does not grow with them is.
            for b in [area.batches.1, area.batches.0] {
                self.exact(b, length);
                if !fitted.holds_throughout(self, (b, length)) {
                    return Err(vec![Area { linear: false, ..area }]);
                }
            }
        }
        let (even_in_batch, all) = (self.even_in_batch, (0, self.batches.len().saturating_sub(1)));
        let mut holds = |(b, s): (usize, usize)| {
            let exact = self.exact(b, s).pieces.iter().copied().max().unwrap_or(0);
            let off = i128::from(fitted.at(self, b, s).0).abs_diff(exact);
            off as f64 <= exact as f64 * TOLERANCE
        };
        let (first, last) = area.lengths;
        let many = middle((batch, area.batches.1));
        // Next to a batch of one, which may run otherwise, too.
        let beside = (area.batches.0 + 1).min(area.batches.1);
        let places = [(batch, length), (few, first), (many, last), (beside, last)];
        // Between shorter lengths, what more sequences take is seen to be even already.
        if between(area.batches, 2) && !even_in_batch && !places.into_iter().all(&mut holds) {
            return Err(area.by_batch(self.batches).into());
        }
        let (short, long) = (middle((first, length)), middle((length, last)));
        let places = [(area.batches.1, short), (batch, long), (few, short)];
        let places = places.into_iter().take(if even_in_batch { 2 } else { 3 });
        if between(area.lengths, 3) && !{ places }.all(&mut holds) {
            return Err(area.by_length().into());
        }
        self.even_in_batch |= area.batches == all;
        Ok(fitted)
    }
}

/// Nodes of an area: two batch sizes, two or three lengths.
const NODES: usize = 6;

/// An area's pieces, ready to be interpolated.
struct Fitted {
    area: Area,
    /// Of each stretch, the number of its pieces.
    counts: Vec<usize>,
    /// Bytes of each piece at the nodes, batch size by batch size.
    pieces: Vec<[f64; NODES]>,
}

impl Fitted {
    fn new(known: &Known<'_>, area: Area) -> Self {
        let nodes = area.batch_nodes().flat_map(|b| area.length_nodes().map(move |s| (b, s)));
        let estimates: Vec<&Peaks> = nodes.filter_map(|node| known.known(node)).collect();
        let (mut pieces, mut counts) = (Vec::new(), Vec::new());
        for stretch in 0..estimates.first().map_or(0, |one| one.ends.len()) {
            // Where a kernel writes something more, its whole stretch is one piece.
            let mut of: [&[i128]; NODES] = [&[]; NODES];
            of.iter_mut().zip(&estimates).for_each(|(of, one)| *of = one.stretch(stretch));
            let of = of.get(..estimates.len()).unwrap_or_default();
            let count = of.first().map_or(0, |pieces| pieces.len());
            let alike = of.iter().all(|pieces| pieces.len() == count);
            let count = if alike { count } else { 1 };
            counts.push(count);
            for piece in 0..count {
                let mut at_nodes = [0.0; NODES];
                for (at, pieces) in at_nodes.iter_mut().zip(of) {
                    let bytes = if alike { pieces.get(piece) } else { pieces.iter().max() };
                    *at = bytes.map_or(0.0, |bytes| *bytes as f64);
                }
                pieces.push(at_nodes);
            }
        }
        Self { area, counts, pieces }
    }

    /// Whether every piece at a place that is estimated is where it is interpolated.
    fn holds_throughout(&self, known: &Known<'_>, (b, s): (usize, usize)) -> bool {
        let Some(exact) = known.known((b, s)) else { return false };
        let weights = self.weights(known, b, s);
        let off = exact.pieces.iter().copied().max().unwrap_or(0) as f64 * TOLERANCE;
        let mut first = 0;
        self.counts.iter().enumerate().all(|(stretch, count)| {
            let interpolated = self.pieces.iter().skip(first).take(*count).map(|piece| weighted(piece, &weights));
            first += count;
            let pieces = exact.stretch(stretch);
            let close = |(one, other): (f64, i128)| (one - other as f64).abs() <= off;
            if *count == 1 {
                interpolated.zip(pieces.iter().copied().max()).all(close)
            } else {
                pieces.len() == *count && interpolated.zip(pieces.iter().copied()).all(close)
            }
        })
    }

    /// Only those pieces that hold the most somewhere, as far as a few places tell.
    fn leading(mut self, known: &Known<'_>) -> Self {
        const PLACES: usize = 6;
        let places = |(first, last): (usize, usize)| (0..=PLACES).map(move |i| first + (last - first) * i / PLACES);
        let mut leading: Vec<usize> = Vec::new();
        for b in places(self.area.batches) {
            leading.extend(places(self.area.lengths).map(|s| self.at(known, b, s).1));
        }
        order::sort(&mut leading, Ord::cmp);
        leading.dedup();
        self.pieces = leading.into_iter().filter_map(|piece| self.pieces.get(piece).copied()).collect();
        self
    }

    /// The piece that holds the most at a place: bytes and which.
    fn at(&self, known: &Known<'_>, b: usize, s: usize) -> (u64, usize) {
        let of_nodes = self.weights(known, b, s);
        let mut highest = (0.0f64, 0);
        for (i, piece) in self.pieces.iter().enumerate() {
            let bytes = weighted(piece, &of_nodes);
            if bytes > highest.0 {
                highest = (bytes, i);
            }
        }
        (highest.0.round() as u64, highest.1)
    }

    /// Weights of the nodes at a place.
    fn weights(&self, known: &Known<'_>, b: usize, s: usize) -> [f64; NODES] {
        let size = |of: &[u64], i: usize| of.get(i).map_or(0.0, |size| *size as f64);
        let across = weights(self.area.batch_nodes(), b, |i| size(known.batches, i));
        let along = weights(self.area.length_nodes(), s, |i| size(known.lengths, i));
        let mut of_nodes = [0.0; NODES];
        let products = across.iter().flat_map(|one| along.iter().map(move |other| one * other));
        of_nodes.iter_mut().zip(products).for_each(|(weight, product)| *weight = product);
        of_nodes
    }
}

fn weighted(bytes: &[f64; NODES], weights: &[f64; NODES]) -> f64 {
    bytes.iter().zip(weights).map(|(bytes, weight)| bytes * weight).sum()
}

/// Lagrange's weights of nodes at a place.
fn weights(nodes: impl Iterator<Item = usize> + Clone, at: usize, size: impl Fn(usize) -> f64) -> Vec<f64> {
    let of = |node: usize| -> f64 {
        let others = nodes.clone().filter(|other| *other != node);
        others.map(|other| (size(at) - size(other)) / (size(node) - size(other))).product()
    };
    nodes.clone().map(of).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::link;
    use crate::memory::outline;

    /// Every point is what an estimate of its own says, to 0.5 %.
    fn compare(fragment: &str, batches: &[u64], lengths: &[u64]) {
        let plan = link::decode(fragment).plan;
        let job = Job::resolve(&plan).unwrap();
        let grid = surface(&job, batches, lengths);
        for (row, s) in grid.iter().zip(lengths) {
            for (bytes, b) in row.iter().zip(batches) {
                let own = with(&plan, *b, *s);
                let Ok(alone) = job.with(own) else { continue };
                let alone = outline(&alone);
                let alone = alone.peak.allocated_bytes;
                assert!(bytes.abs_diff(alone) <= alone / 200, "{fragment} b {b} s {s}: {bytes}, alone {alone}");
            }
        }
    }

    const BATCHES: [u64; 7] = [1, 2, 3, 5, 8, 16, 64];
    const LENGTHS: [u64; 8] = [64, 128, 500, 1024, 1536, 4096, 6000, 16384];

    #[test]
    fn far_apart_sizes_are_close() {
        for fragment in [
            "v=1&model=Qwen/Qwen3-4B&method=lora",
            "v=1&model=google/gemma-2-9b&gradient_checkpointing=true",
            "v=1&model=mistralai/Mistral-7B-v0.1&method=qlora&gradient_checkpointing=true",
            "v=1&model=Qwen/Qwen3-30B-A3B&method=lora&use_liger_kernel=true",
            "v=1&model=meta-llama/Llama-3.1-8B&num_gpus=8&zero_stage=3&gradient_accumulation_steps=4",
            "v=1&model=Qwen/Qwen2.5-0.5B&padded_batch=true&torch_dtype=float32&mixed_precision=bf16",
        ] {
            compare(fragment, &BATCHES, &LENGTHS);
        }
    }

    #[test]
    fn maps_as_the_page_draws_them_are_close() {
        for fragment in [
            "v=1&model=google/gemma-2-9b&method=full&num_gpus=4&zero_stage=2&attn_implementation=eager",
            "v=1&model=google/gemma-3-1b-pt&method=full",
            "v=1&model=Qwen/Qwen3-4B&method=full&use_liger_kernel=true",
            "v=1&model=meta-llama/Llama-3.1-8B&task=dpo&method=lora",
            "v=1&model=Qwen/Qwen2.5-7B&task=grpo&method=full&num_gpus=8&zero_stage=3&per_device_train_batch_size=8",
            "v=1&model=Qwen/Qwen2.5-0.5B&task=grpo&method=lora&engine=vllm&vllm_mode=colocate&per_device_train_batch_size=8",
            "v=1&model=Qwen/Qwen2.5-0.5B&task=ppo&method=full&per_device_train_batch_size=8",
            "v=1&model=Qwen/Qwen3-4B&task=inference&new_tokens=64",
        ] {
            let job = Job::resolve(&link::decode(fragment).plan).unwrap();
            let (batches, lengths) = crate::advise::map::axes(&job, 24);
            let (batches, lengths): (Vec<u64>, Vec<u64>) =
                (batches.into_iter().step_by(3).collect(), lengths.into_iter().step_by(2).collect());
            compare(fragment, &batches, &lengths);
        }
    }
}
