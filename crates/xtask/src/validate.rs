//! `cargo xtask validate`: estimates beside measurements, and what is written from them.

use std::process::Command;

use crate::checkout;
use crate::failure::Result;
use crate::process;
use crate::setup::Toolbox;

pub(crate) fn validate(check: bool) -> Result<()> {
    process::run(&mut command(check)?, "the lines above say why.")
}

/// Writes the report, or with `check` fails when it is out of date.
pub(crate) fn command(check: bool) -> Result<Command> {
    let mut command = Toolbox::default().command(checkout::cargo())?;
    command.args(["run", "--quiet", "--release", "--package", "headroom-validation"]);
    if check {
        command.args(["--", "--check"]);
    }
    Ok(command)
}
