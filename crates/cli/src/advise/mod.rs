//! `headroom advise`: what to change so that a plan fits its GPUs, or uses them.

mod ladder;
mod options;
mod summary;
mod text;

use std::io::Write;

use headroom_answers::{Estimated, advised};

pub(crate) use options::AdviseOptions;

use crate::estimate;
use crate::json::answer;
use crate::outcome::Failure;

/// Runs the command.
pub(crate) fn run(options: &AdviseOptions, out: &mut dyn Write) -> Result<(), Failure> {
    let estimated = Estimated::of(estimate::job_from(options.source.as_deref())?);
    if options.summary || options.markdown {
        return summary::write(&estimated, options, out);
    }
    let advised = advised(estimated, options.target);
    if options.json { answer(advised.to_json(), out) } else { text::write(&advised, out) }
}
