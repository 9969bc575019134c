//! Which layers are really simulated: a model's layers repeat, singly or in a pattern, and equal ones need no second run.

use super::autograd::{Extent, Run};
use crate::job::{AttentionKernel, Job};
use crate::model::{Attention, Layer, Model};

/// Whether layers that differ in their sliding window alone run alike: no sequence is longer than a window, or every layer
/// gets a mask anyway and no cache is cut to the window.
pub(super) fn windows_run_alike(job: &Job) -> bool {
    let windows = job.model.layers.iter().filter_map(|run| run.layer.attention.sliding_window);
    let Some(shortest) = windows.min() else { return true };
    let longest = job.batches.tokens_per_sequence.saturating_add(job.plan.rollout.new_tokens);
    let generates = !job.trains() || job.plan.is_reinforcement();
    longest < shortest || (!generates && (job.padded || job.attention == AttentionKernel::Eager))
}

/// Which layers are simulated.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Simulated {
    /// In order: index of the layer's run in the model, and how many layers it stands for.
    pub(super) layers: Vec<(usize, u64)>,
    /// The model's layers one after the other, each as the one that stands for it.
    pub(super) runs: Vec<Run>,
}

/// Layers to simulate. `windows`: whether windows tell layers apart.
pub(super) fn simulated(model: &Model, extent: Extent, windows: bool) -> Simulated {
    let sequence = sequence(model, windows);
    // What one layer makes and another reads lives on between them; so do gradients of layers that run again, and of weights that several
    // layers run: each layer's is added to the one that is there, and a layer that stands for others would keep one for each of them.
    let recorded = &model.recorded;
    let exchanges = recorded.layers_exchange() || recorded.layers_share_weights() || !recorded.calls().is_empty();
    if extent != Extent::Representative || exchanges {
        let layers = sequence.into_iter().map(|kind| (kind, 1)).collect();
        return Simulated { layers, runs: Vec::new() };
    }
    by_neighbours(model, &sequence)
}

/// The first of each kind between the same neighbours. What is next to a layer matters to it, as its input is another's
/// output; that windows differ does not, as inputs and outputs are the same. The simulated layers form a chain in which
/// each stands between the neighbours it has in the model.
///
/// The first layer of a kind stands for no other: what layers of that kind alone read and save (full attention's rotary tables
/// among layers with windows) goes once, when backward leaves the first of them.
fn by_neighbours(model: &Model, sequence: &[usize]) -> Simulated {
    let form = |kind: usize| {
        let runs = &model.layers;
        let alike = |other: &usize| match (runs.get(*other), runs.get(kind)) {
            (Some(one), Some(run)) => equal(&one.layer, &run.layer, false) && have_like_modules(model, *other, kind),
            _ => false,
        };
        sequence.iter().copied().find(alike)
    };
    let mut forms: Vec<Form> = Vec::new();
    for (place, kind) in sequence.iter().enumerate() {
        if !forms.iter().any(|known| known.kind == *kind) {
            forms.push(Form { kind: *kind, like: form(*kind), first: place });
        }
    }
    let form_at = |place: Option<usize>| {
        let kind = sequence.get(place?)?;
        forms.iter().find(|known| known.kind == *kind)?.like
    };
    let last = sequence.len().saturating_sub(1);
    let class = |place: usize| Class {
        kind: sequence.get(place).copied(),
        neighbours: [form_at(place.checked_sub(1)), form_at(Some(place + 1))],
        is_first: forms.iter().any(|known| known.first == place),
    };
    let mut classes: Vec<(Class, usize)> = Vec::new();
    let of_place: Vec<usize> = (0..sequence.len())
        .map(|place| {
            let class = class(place);
            let known = classes.iter().position(|(other, _)| *other == class);
            let at = known.unwrap_or_else(|| {
                classes.push((class, place));
                classes.len() - 1
            });
            if let Some((_, latest)) = classes.get_mut(at) {
                *latest = place;
            }
            at
        })
        .collect();
    // Whether one layer may follow another in the chain as if it did in the model.
    let follows = |one: usize, next: usize| {
        form_at(Some(one + 1)) == form_at(Some(next)) && form_at(Some(one)) == form_at(next.checked_sub(1))
    };
    let mut seen = vec![false; classes.len()];
    let is_new =
        |seen: &[bool], place: usize| of_place.get(place).and_then(|class| seen.get(*class)).is_some_and(|seen| !seen);
    let comes_later = |place: usize, than: usize| {
        of_place.get(place).and_then(|class| classes.get(*class)).is_some_and(|(_, latest)| *latest > than)
    };
    let mut chain = Vec::new();
    let mut place = 0;
    while place <= last && place < sequence.len() {
        chain.push(place);
        if let Some(seen) = of_place.get(place).and_then(|class| seen.get_mut(*class)) {
            *seen = true;
        }
        let jump = (place + 1..=last).find(|next| is_new(&seen, *next) && follows(place, *next)).filter(|next| {
            let passed_by = place + 1..*next;
            passed_by.into_iter().all(|other| !is_new(&seen, other) || comes_later(other, *next))
        });
        place = jump.unwrap_or(place + 1);
    }
    // Of a class that is in the chain more than once, the first stands for those that are not in it.
    let stands: Vec<u32> = (0..sequence.len())
        .map(|place| {
            let own = chain.iter().position(|one| *one == place);
            let first = || chain.iter().position(|one| of_place.get(*one) == of_place.get(place));
            u32::try_from(own.or_else(first).unwrap_or(0)).unwrap_or(u32::MAX)
        })
        .collect();
    let kinds: Vec<usize> = chain.iter().filter_map(|place| sequence.get(*place).copied()).collect();
    with_counts(&kinds, &stands)
}

/// What is known of a kind of layers.
struct Form {
    kind: usize,
    /// The first kind that is equal but for its window.
    like: Option<usize>,
    /// Where the first layer of the kind is.
    first: usize,
}

/// What tells layers apart.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Class {
    kind: Option<usize>,
    /// Forms of the layer before and the one behind.
    neighbours: [Option<usize>; 2],
    /// It is the first of its kind.
    is_first: bool,
}

/// `kinds` of the simulated layers, and for each of the model's layers the one that stands for it.
fn with_counts(kinds: &[usize], stands: &[u32]) -> Simulated {
    let mut layers: Vec<(usize, u64)> = kinds.iter().map(|kind| (*kind, 0)).collect();
    let mut runs: Vec<Run> = Vec::new();
    for index in stands {
        let Some((_, count)) = layers.get_mut(*index as usize) else { continue };
        match runs.last_mut() {
            Some(run) if run.index == *index => run.count += 1,
            _ => runs.push(Run { index: *index, count: 1, before: *count }),
        }
        *count += 1;
    }
    Simulated { layers, runs }
}

/// The model's layers one by one, each as the index of the first run with an equal layer.
fn sequence(model: &Model, windows: bool) -> Vec<usize> {
    let mut sequence = Vec::new();
    let mut kinds: Vec<usize> = Vec::new();
    for (i, run) in model.layers.iter().enumerate() {
        let known = |kind: &usize| {
            let other = model.layers.get(*kind);
            other.is_some_and(|other| equal(&other.layer, &run.layer, windows)) && runs_alike(model, *kind, i)
        };
        let kind = kinds.iter().copied().find(known).unwrap_or_else(|| {
            kinds.push(i);
            i
        });
        let count = usize::try_from(run.count).unwrap_or(usize::MAX);
        sequence.extend(std::iter::repeat_n(kind, count));
    }
    sequence
}

/// Whether two runs of layers have the same recorded code.
fn runs_alike(model: &Model, one: usize, other: usize) -> bool {
    model.recorded.block(one) == model.recorded.block(other)
}

/// Whether two runs of layers have the same modules: the code of a layer with a window is another's than that of
/// one without, and to their neighbours they are the same.
fn have_like_modules(model: &Model, one: usize, other: usize) -> bool {
    let recorded = &model.recorded;
    let modules = |run: usize| recorded.program.layers.get(recorded.block(run)?).map(|block| &block.modules);
    modules(one) == modules(other)
}

/// Whether layers are equal, up to their windows where `windows` do not tell them apart.
fn equal(one: &Layer, other: &Layer, windows: bool) -> bool {
    if windows || one.attention.sliding_window == other.attention.sliding_window {
        return one == other;
    }
    let attention = Attention { sliding_window: one.attention.sliding_window, ..other.attention.clone() };
    one.attention == attention && one.modules == other.modules && one.feed_forward == other.feed_forward
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::link;
    use crate::memory::autograd::Wanted;
    use crate::memory::{Phase, PhaseUse, ledger, program};
    use crate::plan::Plan;
    use serde_json::json;

    fn layers(model: &Model) -> Vec<(usize, u64)> {
        let simulated = simulated(model, Extent::Representative, true);
        let all: u64 = simulated.layers.iter().map(|(_, repeat)| repeat).sum();
        assert_eq!(all, model.num_hidden_layers());
        assert_eq!(all, simulated.runs.iter().map(|run| run.count).sum::<u64>());
        simulated.layers
    }

    #[test]
    fn equal_layers_are_run_thrice() {
        let config = json!({"model_type": "llama", "num_hidden_layers": 32});
        let model = Model::from_config("llama", &config).unwrap();
        assert_eq!(layers(&model), [(0, 1), (0, 30), (0, 1)]);
    }

    #[test]
    fn few_layers_are_all_run() {
        for count in 1..=3 {
            let config = json!({"model_type": "llama", "num_hidden_layers": count});
            let model = Model::from_config("llama", &config).unwrap();
            assert_eq!(layers(&model).len() as u64, count);
        }
    }

    #[test]
    fn of_a_pattern_of_windows_the_first_of_each_kind_another_and_the_last_are_run() {
        let config = json!({"model_type": "gemma3_text", "num_hidden_layers": 34});
        let model = Model::from_config("gemma-3", &config).unwrap();
        // Five windows and one full layer, five times; then four windows.
        assert_eq!(layers(&model), [(0, 1), (0, 27), (1, 1), (1, 4), (0, 1)]);
    }

    #[test]
    fn the_order_of_all_layers_is_known() {
        let config = json!({"model_type": "gemma2", "num_hidden_layers": 6});
        let model = Model::from_config("gemma-2", &config).unwrap();
        let simulated = simulated(&model, Extent::Representative, true);
        assert_eq!(simulated.layers.len(), 5);
        let order: Vec<(u32, u64)> = simulated.runs.iter().map(|run| (run.index, run.before)).collect();
        assert_eq!(order, [(0, 0), (1, 0), (2, 0), (3, 0), (2, 1), (4, 0)]);
    }

    #[test]
    fn dense_first_layers_stand_before_the_repetition() {
        let config = json!({"model_type": "deepseek_v3", "num_hidden_layers": 61, "first_k_dense_replace": 3});
        let model = Model::from_config("deepseek", &config).unwrap();
        // Between dense ones and mixtures each stands beside another.
        assert_eq!(layers(&model), [(0, 1), (0, 1), (0, 1), (1, 1), (1, 56), (1, 1)]);
    }

    /// The peak of each phase with some layers run, and with all.
    #[test]
    fn what_some_layers_say_is_what_all_layers_do() {
        for fragment in [
            "v=1&model=meta-llama/Llama-3.2-1B&method=full",
            "v=1&model=google/gemma-3-1b-pt&method=lora&max_length=2048",
            "v=1&model=google/gemma-3-1b-pt&method=full&gradient_checkpointing=true&max_length=2048",
            "v=1&model=google/gemma-2-2b&method=full&num_gpus=4&zero_stage=3&max_length=8192",
            "v=1&model=openai/gpt-oss-20b&method=full&num_gpus=4",
            "v=1&model=deepseek-ai/DeepSeek-V2-Lite&method=lora",
            "v=1&model=Qwen/Qwen1.5-MoE-A2.7B-Chat&method=full&num_gpus=4&framework=fsdp2",
            "v=1&model=facebook/opt-1.3b&method=full&num_gpus=4&framework=fsdp2&gradient_checkpointing=true",
            "v=1&model=google/gemma-3-1b-pt&method=full&num_gpus=2&framework=fsdp2&max_length=1024",
            "v=1&model=Qwen/Qwen2.5-0.5B&task=grpo&method=lora&per_device_train_batch_size=8&num_generations=4",
            "v=1&model=google/gemma-3-1b-pt&task=inference&new_tokens=64&max_length=1024",
            // Full attention's rotary tables are read by layers without a window alone.
            "v=1&model=allenai/OLMo-3-1025-7B&method=lora&max_length=512",
            "v=1&model=allenai/OLMo-3-1025-7B&method=lora&num_gpus=2&zero_stage=2&max_length=512",
            // Nothing reduces what a reference has gathered.
            "v=1&model=nvidia/Nemotron-H-8B-Base-8K&task=dpo&num_gpus=4&framework=fsdp2&reshard_after_forward=false",
            "v=1&model=google/gemma-3-1b-pt&task=dpo&num_gpus=4&framework=fsdp1&reshard_after_forward=false",
            // Few layers of a hybrid attend.
            "v=1&model=nvidia/Nemotron-H-8B-Base-8K&task=inference&new_tokens=32&max_length=512",
            "v=1&model=nvidia/Nemotron-H-8B-Base-8K&task=inference&new_tokens=32&max_length=512&attn_implementation=eager",
            "v=1&model=nvidia/Nemotron-H-8B-Base-8K&task=grpo&method=lora&per_device_train_batch_size=8&num_generations=4",
        ] {
            let job = Job::resolve(&link::decode(fragment).plan).unwrap();
            let named = phases(&job, Extent::Representative, Wanted::Rows);
            assert_eq!(phases(&job, Extent::Representative, Wanted::Moments), named, "{fragment}");
            assert_eq!(named, phases(&job, Extent::EveryLayer, Wanted::Rows), "{fragment}: every layer");
            // The whole tape of a sharded step has the flat tensors that frameworks make, not every parameter's share.
            if matches!(job.sharding.scheme, crate::job::Scheme::Single | crate::job::Scheme::Ddp) {
                assert_eq!(named, phases(&job, Extent::Whole, Wanted::Rows), "{fragment}");
            }
        }
    }

    #[test]
    fn gradients_of_weights_that_layers_share_are_there_once() {
        let kinds = ["linear_attention", "linear_attention", "hybrid"].repeat(5);
        let plan = json!({
            "model": {"name": "zamba2", "config": {
                "model_type": "zamba2", "num_hidden_layers": kinds.len(), "layers_block_type": kinds,
                "hybrid_layer_ids": [2, 5, 8, 11, 14], "hidden_size": 2048, "mamba_d_state": 128, "n_mamba_heads": 64,
                "use_shared_attention_adapter": true, "use_mem_rope": true,
            }},
            "method": "full", "gradient_checkpointing": true, "max_length": 512, "gpu": {"memory_gib": 80},
        });
        let job = Job::resolve(&Plan::from_json(&plan.to_string()).unwrap()).unwrap();
        let backward =
            |extent| phases(&job, extent, Wanted::Rows).into_iter().find(|(phase, _)| *phase == Phase::Backward);
        assert_eq!(backward(Extent::Representative), backward(Extent::EveryLayer));
        assert!(backward(Extent::EveryLayer).is_some());
    }

    /// What each phase has allocated; the whole tape has what making the weights takes as well.
    fn phases(job: &Job, extent: Extent, wanted: Wanted) -> Vec<(Phase, u64)> {
        let step = program::run(job, extent, wanted);
        let phases = ledger::read(&step.record, job.model.num_hidden_layers()).phases;
        let of = |used: &PhaseUse| (used.phase, used.allocated_bytes);
        phases.iter().map(of).filter(|(phase, _)| *phase != Phase::Load).collect()
    }
}
