//! The ways to shard the training state, and the ladder of presets, as tables.

use std::io::Write;

use headroom_core::advise::tiers::{Reason, Rung, Tier};
use headroom_core::advise::{Judgement, Level, has_wide_adapters};
use headroom_core::link;
use headroom_core::plan::Offload;
use headroom_core::speed::Range;
use headroom_core::units::gib_text;
use headroom_text::ENGLISH;

use crate::layout::{Align, Table};
use crate::levers::range_text;
use crate::outcome::Failure;

/// Writes every method with every way to shard its state.
pub(super) fn write_tiers(tiers: &[Tier], out: &mut dyn Write) -> Result<(), Failure> {
    let mut table = Table::new(&[Align::Left, Align::Left, Align::Right, Align::Right, Align::Left, Align::Left]);
    table.row(["method", "sharding", "needs GiB", "host GiB", "time of a step", "verdict", "why"]);
    for Tier { alternative, judgement, time, reason, shards_nothing, fewer_bits } in tiers {
        let mut row = vec![ENGLISH.alternative_group(alternative), ENGLISH.alternative_label(alternative)];
        let mut answer = answer(judgement.as_ref(), *time, *reason, *shards_nothing);
        if !fewer_bits.is_empty() {
            let why = answer[4].clone();
            let coarser = (ENGLISH.advice.level_short)(Level::Coarser);
            answer[4] =
                [why.as_str(), coarser].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        }
        row.extend(answer);
        table.row(row);
    }
    writeln!(out)?;
    table.write(out)?;
    if tiers.iter().any(|tier| has_wide_adapters(&tier.alternative.plan)) {
        writeln!(out, "{}", ENGLISH.options().tiers.wide_adapters)?;
    }
    Ok(())
}

/// Writes the four presets, and a link to the one to take.
pub(super) fn write_ladder(ladder: &[Rung], out: &mut dyn Write) -> Result<(), Failure> {
    if ladder.is_empty() {
        return Ok(());
    }
    let mut table =
        Table::new(&[Align::Left, Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Left]);
    table.row(["preset", "sharding", "batch", "length", "needs GiB", "host GiB", "time per token", "verdict", "why"]);
    for Rung { name, plan, judgement, time, reason, levers, shards_nothing } in ladder {
        let batch = format!("{} x {}", plan.per_device_train_batch_size, plan.gradient_accumulation_steps);
        let more: String = levers.iter().map(|lever| format!(" + {}", (ENGLISH.advice.lever)(*lever))).collect();
        let offloads = [plan.offload_optimizer, plan.offload_param].contains(&Offload::Cpu);
        let sharding = ENGLISH.sharding(plan, plan.zero_stage, offloads);
        let mut row = vec![format!("{name}{more}"), sharding, batch, plan.max_length.to_string()];
        row.extend(answer(judgement.as_ref(), *time, *reason, *shards_nothing));
        table.row(row);
    }
    writeln!(out)?;
    table.write(out)?;
    if let Some(chosen) = ladder.iter().find(|rung| rung.reason == Reason::Quickest) {
        writeln!(out, "link     #{}", link::encode(&chosen.plan))?;
    }
    Ok(())
}

/// Need, host memory, time, verdict and reason of one way.
fn answer(judged: Option<&Judgement>, time: Option<Range>, reason: Reason, shards_nothing: bool) -> [String; 5] {
    let gib = |bytes: fn(&Judgement) -> u64| judged.map_or_else(|| "-".to_owned(), |judged| gib_text(bytes(judged)));
    let words = &ENGLISH.options().tiers;
    let why = if reason == Reason::Contradicts { ENGLISH.cannot_run } else { words.reason(reason) };
    let nothing = if shards_nothing { words.shards_nothing } else { "" };
    let why: Vec<&str> = [why, nothing].into_iter().filter(|part| !part.is_empty()).collect();
    [
        gib(|judged| judged.need_bytes),
        gib(|judged| judged.host_bytes),
        time.map_or_else(|| "-".to_owned(), range_text),
        judged
            .map_or(
                "-",
                |judged| if judged.is_guess { (ENGLISH.guessed_fit)(judged.fit) } else { (ENGLISH.fit)(judged.fit) },
            )
            .to_owned(),
        why.join("; "),
    ]
}
