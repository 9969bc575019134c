//! One plan, one figure: every place that says what a plan needs asks another way, and all ways give the same bytes.

#![allow(clippy::unwrap_used)]

mod runnable_plan;

use headroom_core::advise::tiers::tiers;
use headroom_core::advise::{Baseline, FitOracle, Judgement, Lever, Remembering, Replayed, waterfall};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{self, Replayer};
use headroom_core::plan::Plan;

/// What a terminal says.
fn terminal(job: &Job) -> u64 {
    memory::estimate_replayed(job).peak.band.expected
}

/// What the page's verdict, a scenario and an embedded plan say: the quick estimate, refined by a replay with both allocators.
fn verdict(job: &Job) -> u64 {
    let mut replayer = Replayer::new(job);
    while replayer.advance() {}
    memory::estimate(job).refined(&replayer.finish()).peak.band.expected
}

/// What the matrix, a fix and a hint beside a field say: an outline, refined by a replay with the plan's own allocator.
fn judged(job: &Job) -> u64 {
    let mut replayer = Replayer::judging(job);
    while replayer.advance() {}
    Judgement::from(&memory::outline(job).refined(&replayer.finish())).need_bytes
}

#[test]
fn every_place_says_the_same_of_a_plan() {
    for plan in runnable_plan::runnable_plans(500) {
        let name = link::encode(&plan);
        // A link gives a GPU its own name.
        let plan = link::decode(&name).plan;
        let job = Job::resolve(&plan).unwrap();
        let said = terminal(&job);
        assert_eq!(verdict(&job), said, "page: {name}");
        assert_eq!(judged(&job), said, "matrix, fix and hints: {name}");
        assert_eq!(link::decode(&link::encode(&plan)).plan, plan, "link: {name}");
    }
}

#[test]
fn the_same_change_is_the_same_plan_wherever_it_is_offered() {
    for plan in runnable_plan::runnable_plans(12) {
        let job = Job::resolve(&plan).unwrap();
        let oracle = &Remembering::new(&Replayed);
        let need = |plan: &Plan| oracle.judge(&job.with(plan.clone()).unwrap()).unwrap().need_bytes;
        let own = need(&plan);
        let base = Baseline::of(&job, oracle).unwrap();
        for zero_stage in 0..=3 {
            let lever = Lever::Sharding { zero_stage, offload_optimizer: false, offload_param: false };
            let Some(impact) = base.impact(&job, lever, oracle) else { continue };
            // The lever's plan, the hint's bytes and the first step of a waterfall.
            assert_eq!(i128::from(own) - i128::from(impact.saved_bytes), i128::from(need(&impact.plan)));
            assert_eq!(waterfall(&job, &[lever], oracle)[0].plan, impact.plan);
            // The cell of the matrix at the same stage.
            let cell = |of: &Plan| (of.zero_stage, of.offload_optimizer, of.offload_param, of.distributed.framework);
            let cells = tiers(&job, oracle);
            let same = cells.iter().find(|tier| {
                tier.alternative.method == plan.method && cell(&tier.alternative.plan) == cell(&impact.plan)
            });
            if let Some(tier) = same.filter(|tier| tier.judgement.is_some()) {
                assert_eq!(tier.judgement.unwrap().need_bytes, need(&impact.plan), "{}", link::encode(&impact.plan));
            }
        }
    }
}
