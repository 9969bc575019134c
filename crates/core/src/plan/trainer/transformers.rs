//! Which release of transformers a trainer's release runs with, where the plan does not say it.

use crate::plan::TrainerName;
use crate::release::Release;

/// What a trainer runs with from a release on.
struct RunsWith {
    trainer: TrainerName,
    since: Release,
    transformers: Release,
}

const fn row(trainer: TrainerName, since: [u32; 3], transformers: [u32; 3]) -> RunsWith {
    let [major, minor, patch] = since;
    let since = Release::new(major, minor, patch);
    let [major, minor, patch] = transformers;
    RunsWith { trainer, since, transformers: Release::new(major, minor, patch) }
}

/// Of each trainer the older first. The newest that a trainer's package asks for (`Requires-Dist`), which is what its measured
/// steps ran with.
static ROWS: &[RunsWith] = &[
    // TRL before 1.0 was measured with 4.57.
    row(TrainerName::Trl, [0, 0, 0], [4, 57, 0]),
    // `transformers<4.53`, then up to 4.57, then up to 5.6.
    row(TrainerName::LlamaFactory, [0, 0, 0], [4, 52, 0]),
    row(TrainerName::LlamaFactory, [0, 9, 4], [4, 57, 0]),
    row(TrainerName::LlamaFactory, [0, 9, 5], [5, 6, 0]),
    // `transformers<5.20`; the releases of ms-swift 3 came out before transformers 5.
    row(TrainerName::MsSwift, [0, 0, 0], [4, 57, 0]),
    row(TrainerName::MsSwift, [4, 0, 0], [5, 19, 0]),
    // 0.5.0 asks for 4.46, 0.17.0 for 5.9.0, 0.19.0 for 5.16.1.
    row(TrainerName::Axolotl, [0, 0, 0], [4, 57, 0]),
    row(TrainerName::Axolotl, [0, 17, 0], [5, 9, 0]),
    row(TrainerName::Axolotl, [0, 19, 0], [5, 16, 1]),
];

/// The release of transformers under `release` of `trainer`; `None`: the newest.
pub(super) fn of(trainer: TrainerName, release: Release) -> Option<Release> {
    match trainer {
        TrainerName::Trl if !release.is_before(1, 0) => None,
        TrainerName::Transformers => Some(release),
        _ => ROWS.iter().rfind(|row| row.trainer == trainer && row.since <= release).map(|row| row.transformers),
    }
}
