//! Which plans the golden files are about.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use headroom_core::link;
use headroom_core::plan::Plan;
use headroom_core::scenario::SCENARIOS;

use super::{DRAWS, RECORDED_DRAWS, draw};
use crate::{case, kept};

/// A plan and where it comes from.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// `allocator alloc-lora-101`, `link 007`, `scenario reward_model lora`, `draw 0012`.
    pub origin: String,
    /// The plan.
    pub plan: Plan,
    /// Whether it was drawn at random.
    pub drawn: bool,
}

/// Every plan once, in an order that does not change: measured cases, links, scenarios, draws.
pub(super) fn all() -> Result<Vec<Asked>, String> {
    let mut plans = measured()?;
    plans.extend(links()?);
    for scenario in SCENARIOS {
        let of = |plan: &headroom_core::scenario::ScenarioPlan| Asked {
            origin: format!("scenario {} {}", scenario.id, plan.key),
            plan: plan.plan(),
            drawn: false,
        };
        plans.extend(scenario.plans.iter().map(of));
    }
    plans.extend((0..DRAWS).map(|index| Asked {
        origin: format!("draw {index:04}"),
        plan: draw::plan(index),
        drawn: true,
    }));
    plans.extend((0..RECORDED_DRAWS).map(|index| Asked {
        origin: format!("recorded-draw {index:03}"),
        plan: draw::of_recorded(index),
        drawn: true,
    }));
    let mut seen = BTreeSet::new();
    plans.retain(|asked| seen.insert(link::encode(&asked.plan)));
    Ok(plans)
}

fn measured() -> Result<Vec<Asked>, String> {
    let read = |case: case::Case| {
        let plan = Plan::from_value(&case.plan).ok()?;
        Some(Asked { origin: format!("{} {}", case.file, case.id), plan, drawn: false })
    };
    Ok(kept::cases(&kept::folder())?.into_iter().filter_map(read).collect())
}

fn links() -> Result<Vec<Asked>, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/links/v1.txt");
    let text = fs::read_to_string(&path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    let links = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split('\t').next());
    let read = |(number, text): (usize, &str)| Asked {
        origin: format!("link {number:03}"),
        plan: link::decode(text).plan,
        drawn: false,
    };
    Ok(links.enumerate().map(read).collect())
}
