//! Rust's standard library for wasm32: from rustup, or else the Debian way.

use std::env;
use std::path::Path;
use std::process::Command;

use super::debian_wasm;
use super::step::step;
use super::toolbox::Toolbox;
use crate::failure::{Failure, Result};
use crate::process;

pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Set to anything, it makes set-up take the Debian way, as on a machine where rustup can fetch nothing.
const PRETEND_NO_RUSTUP: &str = "HEADROOM_PRETEND_NO_RUSTUP";

pub(crate) fn provide(toolbox: &mut Toolbox) -> Result<()> {
    let pretend = env::var_os(PRETEND_NO_RUSTUP).is_some_and(|value| !value.is_empty());
    let rustup = if pretend {
        let _ = toolbox.progress.next();
        Err(Failure::new(format!("{PRETEND_NO_RUSTUP} is set: rustup is taken to fetch nothing.")))
    } else {
        step(
            &mut toolbox.progress,
            &format!("Rust's standard library for {TARGET}"),
            "a few seconds",
            installed,
            add_target,
        )
    };
    rustup.or_else(|failure| {
        println!("set-up: {failure}");
        println!("set-up: taking Debian's compiler and building the standard library for wasm instead");
        debian_wasm::provide(toolbox)
    })
}

/// Whether the compiler that cargo uses here has the standard library for wasm32.
fn installed() -> Option<()> {
    let folder = process::printed(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]))?;
    let mut files = Path::new(&folder).read_dir().ok()?.flatten();
    files.any(|file| file.file_name().to_string_lossy().starts_with("libstd-")).then_some(())
}

fn add_target() -> Result<()> {
    process::run(Command::new("rustup").args(["target", "add", TARGET]), "rustup cannot fetch the target here.")
}
