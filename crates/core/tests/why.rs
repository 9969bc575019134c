//! Where a change does not do what it is known for, the tensors that say why add up to the difference, and are those that the
//! libraries are known to hold.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::advise::why::{Cause, Why, is_surprising, why};
use headroom_core::advise::{Impact, Lever, Replayed, impacts};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{Phase, Term, estimate_replayed};

fn job(fragment: &str) -> Job {
    let decoded = link::decode(fragment);
    assert!(decoded.problems.is_empty(), "{fragment}: {:?}", decoded.problems);
    Job::resolve(&decoded.plan).unwrap()
}

/// Why the second plan needs what it does beside the first; with every difference counted.
fn between(before: &str, after: &str) -> Why {
    let jobs = [job(before), job(after)];
    let estimates = jobs.each_ref().map(estimate_replayed);
    let why = why(jobs.each_ref(), estimates.each_ref());
    let sum: i64 = why.parts.iter().map(|part| part.more()).sum();
    let [first, second] = why.need_bytes.map(|bytes| i64::try_from(bytes).unwrap());
    assert_eq!(sum, second - first, "{before} -> {after}: {:?}", why.parts);
    why
}

/// What grows, the most first.
fn grown(why: &Why) -> Vec<Term> {
    why.parts.iter().filter(|part| part.more() > 0).map(|part| part.term).collect()
}

#[test]
fn four_bits_cost_a_small_model_memory_by_what_is_upcast() {
    let lora = "v=1&model=Qwen/Qwen2.5-0.5B&gpu=a100-80gb&method=lora";
    let why = between(lora, &lora.replace("lora", "qlora"));
    assert!(why.need_bytes[1] > why.need_bytes[0]);
    assert!(why.causes.contains(&Cause::KbitUpcast), "{:?}", why.causes);
    let grown = grown(&why);
    // The layers' inputs and outputs are fp32, and so is the embedding.
    assert_eq!(grown[0], Term::FeedForwardActivations);
    assert!(grown.contains(&Term::EmbeddingWeights) && grown.contains(&Term::ResidualStream), "{grown:?}");
    let layers = why.parts.iter().find(|part| part.term == Term::FeedForwardActivations).unwrap();
    assert!(layers.modules.contains(&"mlp.gate_proj".to_owned()), "{:?}", layers.modules);
    let base = why.parts.iter().find(|part| part.term == Term::FeedForwardWeights).unwrap();
    assert!(base.more() < 0, "the base does get smaller");
}

#[test]
fn liger_saves_nothing_where_the_optimizer_needs_the_most() {
    let full = "v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&method=full";
    let why = between(full, &format!("{full}&use_liger_kernel=true"));
    let saved = why.need_bytes[0] - why.need_bytes[1];
    assert!(saved < why.need_bytes[0] / 100, "some fragmentation: {saved}");
    assert_eq!(why.causes, [Cause::PeakElsewhere(Phase::OptimizerStep)]);
    let logits = why.elsewhere.iter().find(|one| one.term == Term::LogitsGradients);
    let elsewhere = logits.unwrap();
    assert!(elsewhere.phase != Phase::OptimizerStep && elsewhere.bytes[0] - elsewhere.bytes[1] > saved);
}

#[test]
fn what_does_as_it_is_known_for_needs_no_explanation() {
    let surprising = |fragment: &str| -> Vec<Lever> {
        let own = job(fragment);
        let is_one = |impact: &Impact| is_surprising(impact.lever, impact.saved_bytes, &impact.judgement);
        impacts(&own, &Replayed).into_iter().filter(is_one).map(|impact| impact.lever).collect()
    };
    let full = surprising("v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&method=full");
    assert!(full.contains(&Lever::Liger) && !full.contains(&Lever::EightBitOptimizer), "{full:?}");
    let lora = surprising("v=1&model=Qwen/Qwen2.5-0.5B&gpu=a100-80gb&method=lora");
    assert!(
        lora.contains(&Lever::Qlora) && !lora.contains(&Lever::Liger) && !lora.contains(&Lever::NarrowAdapters),
        "{lora:?}"
    );
    // Faster, and nobody takes them for savers.
    assert!(!full.contains(&Lever::FusedOptimizer) && !lora.contains(&Lever::FusedOptimizer));
}
