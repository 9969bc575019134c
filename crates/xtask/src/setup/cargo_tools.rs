//! The tools that cargo installs: Trunk and the command-line tool of wasm-bindgen.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::step;
use super::toolbox::Toolbox;
use crate::checkout;
use crate::failure::Result;
use crate::process;

/// The newest Trunk that the minimum Rust version of this workspace can build.
const TRUNK: &str = "0.21.14";

const FIX: &str = "check that this machine reaches its cargo registry and has a C linker, then run the command again.";

/// Builds and serves the page.
pub(crate) fn trunk(toolbox: &mut Toolbox) -> Result<()> {
    let folder = checkout::cache()?.join(format!("trunk-{TRUNK}"));
    let find = || starts(&folder, "trunk", TRUNK);
    let install = || install(&folder, &["trunk", "--version", TRUNK, "--locked"]);
    step(&format!("trunk {TRUNK}"), "about 6 minutes on two cores", find, install)?;
    toolbox.folders.push(folder.join("bin"));
    Ok(())
}

/// Writes the JavaScript side of the wasm module and runs tests in wasm. It works only with the very version of the
/// crate, so the version comes from `Cargo.lock`. Installed without `--locked`: the lock file of a fresh release may
/// name crates that a registry mirror does not have yet.
pub(crate) fn wasm_bindgen(toolbox: &mut Toolbox) -> Result<()> {
    let version = checkout::locked_version("wasm-bindgen")?;
    let folder = checkout::cache()?.join(format!("wasm-bindgen-{version}"));
    let find = || {
        starts(&folder, "wasm-bindgen", &version)?;
        starts(&folder, "wasm-bindgen-test-runner", &version)
    };
    let install = || install(&folder, &["wasm-bindgen-cli", "--version", &version]);
    step(&format!("wasm-bindgen {version}"), "about 2 minutes on two cores", find, install)?;
    toolbox.folders.push(folder.join("bin"));
    Ok(())
}

/// Whether `program` in `folder` starts and is of this version.
fn starts(folder: &Path, program: &str, version: &str) -> Option<()> {
    let said = process::printed(Command::new(folder.join("bin").join(program)).arg("--version"))?;
    said.split_whitespace().any(|word| word == version).then_some(())
}

fn install(folder: &Path, package: &[&str]) -> Result<()> {
    // Built beside the result, not in this checkout's target folder, and without what this checkout asks of rustc.
    let build = checkout::beside(folder, "build");
    let outcome = process::run(
        Command::new(checkout::cargo())
            .args(["install", "--force", "--root"])
            .arg(folder)
            .args(package)
            .current_dir(checkout::cache()?)
            .env("CARGO_TARGET_DIR", &build)
            .env_remove("RUSTFLAGS"),
        FIX,
    );
    // Only a cache of the compiler's work: what cannot be removed does no harm.
    let _ = fs::remove_dir_all(&build);
    outcome
}
