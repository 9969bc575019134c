//! `cargo xtask validate`: estimates beside measurements, and what is written from them. `cargo xtask golden`: answers to
//! thousands of plans, to the byte.

use std::process::Command;

use crate::checkout;
use crate::failure::Result;
use crate::process;
use crate::setup::Toolbox;

pub(crate) fn validate(words: &[&str]) -> Result<()> {
    process::run(&mut command(words)?, "the lines above say why.")
}

/// Writes the report, or with `--check` fails when it is out of date; with `golden`, the same of the golden files.
pub(crate) fn command(words: &[&str]) -> Result<Command> {
    let mut command = Toolbox::default().command(checkout::cargo())?;
    command.args(["run", "--quiet", "--release", "--package", "headroom-validation", "--"]).args(words);
    Ok(command)
}
