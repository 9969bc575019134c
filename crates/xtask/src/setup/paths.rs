//! Keeps this machine's folders out of what is compiled for the page: builds of one commit are the same wherever they are made.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use super::toolbox::Toolbox;
use crate::checkout;
use crate::failure::Result;
use crate::process;

const FLAGS: &str = "CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS";

/// Fetches the crates, whose folders are then known, and has the compiler call them and the checkout something else.
pub(super) fn provide(toolbox: &mut Toolbox) -> Result<()> {
    process::run(
        toolbox.wasm_cargo()?.args(["fetch", "--locked", "--quiet"]),
        "if the line above says that Cargo.lock needs to be updated, run `cargo check --workspace`; \
         otherwise check that this machine reaches its cargo registry.",
    )?;
    let home = env::var_os("CARGO_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    let sources = home.and_then(|home| fs::read_dir(home.join("registry").join("src")).ok());
    let mut folders: Vec<PathBuf> = sources.into_iter().flatten().flatten().map(|folder| folder.path()).collect();
    folders.sort();
    let crates = folders.iter().map(|folder| renamed(folder, "crates"));
    let flags: Vec<String> = crates.chain([renamed(&checkout::root(), "headroom")]).flatten().collect();
    let at = toolbox.variables.iter().position(|(name, _)| *name == FLAGS);
    let before = at.map(|at| toolbox.variables.remove(at).1);
    let all: Vec<OsString> = before.into_iter().chain(flags.into_iter().map(OsString::from)).collect();
    toolbox.variables.push((FLAGS, all.join(" ".as_ref())));
    Ok(())
}

/// The compiler's flag, unless the path has a space: cargo parts its flags there, and the build would fail.
fn renamed(folder: &Path, name: &str) -> Option<String> {
    let folder = folder.to_str()?;
    (!folder.contains(' ')).then(|| format!("--remap-path-prefix={folder}={name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_renamed_where_cargo_can_be_told() {
        assert_eq!(renamed(Path::new("/a/b"), "crates").as_deref(), Some("--remap-path-prefix=/a/b=crates"));
        assert_eq!(renamed(Path::new("/a b"), "crates"), None);
    }
}
