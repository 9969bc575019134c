//! Headroom's answers for scripts. A plan comes as text, a JSON object or a link, and the answer is JSON: the same to the byte from the
//! terminal, the packages for Node and Python, and the page. Keys are added, never renamed or removed.

mod accuracy;
mod advise;
mod diagnose;
mod estimate;
mod json;
mod link;
mod plan;
mod step_time;

pub use advise::{Advised, advised};
pub use diagnose::diagnose;
pub use estimate::{Estimated, estimate_json};
pub use json::{sorted, text, text_sorted};
pub use link::{Linked, Wanted, linked};
pub use plan::{from_link, job_of, link_from_text, looks_like_link, one_line, plan_from_text, problems_text};

/// What a plan needs, every byte; as `headroom estimate --json`.
///
/// # Errors
/// A sentence that names what is wrong with the plan and its fix.
pub fn estimate(plan: &str) -> Result<String, String> {
    Estimated::of(job_of(&plan_from_text(plan)?)?).to_json().map_err(|error| error.to_string())
}

/// What to change so that a plan fits its GPUs, or uses them; as `headroom advise --json`.
///
/// # Errors
/// A sentence that names what is wrong with the plan and its fix.
pub fn advise(plan: &str) -> Result<String, String> {
    let estimated = Estimated::of(job_of(&plan_from_text(plan)?)?);
    advised(estimated, headroom_core::advise::fill::Target::default()).to_json().map_err(|error| error.to_string())
}

/// A link to `plan`, or to it and `other` compared; as `headroom link`.
///
/// # Errors
/// A sentence that names what is wrong with a plan and its fix.
pub fn link(plan: &str, other: Option<&str>, wanted: &Wanted) -> Result<String, String> {
    let mut link = link_from_text(plan)?;
    if let Some(other) = other {
        link.other = Some(plan_from_text(other)?);
    }
    Ok(linked(link, wanted)?.address)
}

/// What a link says, as `headroom link --json`: its title, every field of its plan, and of a second one.
///
/// # Errors
/// A sentence that names what is wrong with the link and its fix.
pub fn read_link(link: &str) -> Result<String, String> {
    linked(from_link(link.trim())?, &Wanted::default())?.to_json().map_err(|error| error.to_string())
}
