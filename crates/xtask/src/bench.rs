//! `cargo xtask bench`: how fast the core answers.

use crate::checkout;
use crate::failure::Result;
use crate::process;
use crate::setup::Toolbox;

pub(crate) fn bench() -> Result<()> {
    let mut command = Toolbox::default().command(checkout::cargo())?;
    process::run(
        command.args(["bench", "--package", "headroom-core", "--bench", "estimate"]),
        "the lines above say why.",
    )
}
