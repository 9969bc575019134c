//! `cargo xtask check-links`: links in numbers that the suite has no time for.

use crate::checkout;
use crate::failure::Result;
use crate::process;
use crate::setup::Toolbox;

pub(crate) fn check() -> Result<()> {
    let mut command = Toolbox::default().command(checkout::cargo())?;
    command.env("HEADROOM_ALL_LINKS", "1").args(["test", "--release", "--package", "headroom-core"]);
    command.args(["--test", "links_at_length", "--", "--nocapture"]);
    process::run(&mut command, "the lines above say which link.")
}
