//! A replay with the plan's own allocator alone says what the whole one says of it.

#![allow(clippy::unwrap_used)]

use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{Replayer, estimate, replay};

const PLANS: [&str; 4] = [
    "v=1&model=meta-llama/Llama-3.2-1B&method=lora",
    "v=1&model=meta-llama/Llama-3.2-1B&method=full&expandable_segments=true&gpu=rtx-3060",
    "v=1&model=Qwen/Qwen2.5-0.5B&method=full&num_gpus=4&zero_stage=2&gpu=t4",
    "v=1&model=Qwen/Qwen2.5-0.5B&method=qlora&max_length=4096&gpu=gtx-1650",
];

#[test]
fn a_judging_replay_is_the_whole_one_without_the_other_allocator() {
    for plan in PLANS {
        let job = Job::resolve(&link::decode(plan).plan).unwrap();
        let (judged, whole) = (Replayer::judging(&job).finish(), replay(&job));
        let expandable = job.plan().expandable_segments;
        assert_eq!(
            (judged.phases.clone(), judged.failure.clone()),
            (whole.phases.clone(), whole.failure.clone()),
            "{plan}"
        );
        let [own, other] = [&judged, &whole].map(|replay| match expandable {
            true => {
                (replay.required_bytes_expandable, replay.reserved_bytes_expandable, replay.demand_expandable.clone())
            }
            false => (replay.required_bytes, replay.reserved_bytes, replay.demand.clone()),
        });
        assert_eq!(own, other, "{plan}");
        let left_out = if expandable { judged.required_bytes } else { judged.required_bytes_expandable };
        assert_eq!(left_out, 0, "{plan}");
        // The verdict, its band and each phase's need are the same.
        let [one, another] = [&judged, &whole].map(|replay| estimate(&job).refined(replay));
        assert_eq!(
            (one.verdict, one.peak.band, one.peak.safe_bytes),
            (another.verdict, another.peak.band, another.peak.safe_bytes)
        );
        let needs = |estimate: &headroom_core::memory::Estimate| {
            estimate
                .phases
                .iter()
                .map(|used| (used.phase, used.allocated_bytes, used.fragmentation_bytes))
                .collect::<Vec<_>>()
        };
        assert_eq!(needs(&one), needs(&another), "{plan}");
    }
}
