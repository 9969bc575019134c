//! The Debian way to wasm32, for machines that reach package registries but no Rust distribution server.
//!
//! Debian packages a current compiler for building browsers, with the source of the standard library but without a
//! build of it for wasm32. That build is made here once and laid under a sysroot of its own in the tool cache, so
//! later builds need neither an unstable flag nor this module's patience.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::debian;
use super::step::step;
use super::toolbox::Toolbox;
use super::wasm_target::TARGET;
use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;

/// Debian's compiler, cargo, clippy, standard library source and wasm linker.
const PACKAGES: [&str; 5] = ["rustc-web", "cargo-web", "rust-web-clippy", "rust-web-src", "lld-19"];
const RUSTC: &str = "/usr/bin/rustc";
const CARGO: &str = "/usr/bin/cargo";
const LINKER: &str = "wasm-ld-19";

/// The oldest compiler this workspace builds with.
const MINIMUM: &str = env!("CARGO_PKG_RUST_VERSION");

pub(crate) fn provide(toolbox: &mut Toolbox) -> Result<()> {
    toolbox.progress.more(2);
    let fix = "let rustup reach its server and run `rustup target add wasm32-unknown-unknown`";
    let version = step(&mut toolbox.progress, "Debian's Rust compiler", "about half a minute", compiler, || {
        debian::apt_install(&PACKAGES, fix)
    })?;
    let sysroot = checkout::cache()?.join(format!("wasm-std-{version}"));
    let library = sysroot.join("lib").join("rustlib").join(TARGET).join("lib");
    let find = || library.is_dir().then_some(());
    step(
        &mut toolbox.progress,
        &format!("the standard library for {TARGET}, Rust {version}"),
        "about a minute on two cores",
        find,
        || build_standard_library(&sysroot, &library),
    )?;
    // A rustup that runs this program puts its own libraries and compiler in the way of Debian's; general flags would
    // displace those of the target.
    toolbox.without.extend(["LD_LIBRARY_PATH", "RUSTUP_TOOLCHAIN", "CARGO", "RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS"]);
    toolbox.folders.push(PathBuf::from("/usr/bin"));
    toolbox.wasm_cargo = Some(PathBuf::from(CARGO));
    let mut set = |name, value: &str| toolbox.variables.push((name, value.into()));
    set("RUSTC", RUSTC);
    set("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", LINKER);
    set("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS", &format!("--sysroot={}", sysroot.display()));
    Ok(())
}

/// The version of Debian's compiler, if the whole set is there and new enough.
fn compiler() -> Option<String> {
    let said = process::printed(Command::new(RUSTC).arg("--version").env_remove("LD_LIBRARY_PATH"))?;
    let version = said.split_whitespace().nth(1)?.to_owned();
    process::printed(Command::new(LINKER).arg("--version"))?;
    let whole = Path::new(CARGO).is_file()
        && Path::new("/usr/bin/clippy-driver").is_file()
        && Path::new("/usr/lib/rustlib/src/rust/library/std").is_dir();
    (whole && number(&version) >= number(MINIMUM)).then_some(version)
}

/// Major and minor version.
fn number(version: &str) -> Option<(u32, u32)> {
    let mut parts = version.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

fn build_standard_library(sysroot: &Path, library: &Path) -> Result<()> {
    let unwritable = |error: io::Error| {
        Failure::new(format!("{} cannot be written ({error}): check its permissions.", sysroot.display()))
    };
    // An empty crate, for whose sake cargo builds the standard library.
    let pretext = checkout::beside(sysroot, "build");
    let source = pretext.join("src");
    fs::create_dir_all(&source).map_err(unwritable)?;
    fs::write(source.join("lib.rs"), "").map_err(unwritable)?;
    let manifest = "[package]\nname = \"pretext\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n[workspace]\n";
    fs::write(pretext.join("Cargo.toml"), manifest).map_err(unwritable)?;
    process::run(
        Command::new(CARGO)
            // `test` is what wasm tests link against.
            .args(["build", "--release", "--target", TARGET, "-Z", "build-std=std,panic_abort,test"])
            .current_dir(&pretext)
            .env("RUSTC", RUSTC)
            .env("RUSTC_BOOTSTRAP", "1")
            // What link-time optimisation of the page works on; rustup's builds carry it too.
            .env("RUSTFLAGS", "-Cembed-bitcode=yes")
            .env("CARGO_TARGET_DIR", pretext.join("target"))
            .env_remove("CARGO")
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("CARGO_ENCODED_RUSTFLAGS")
            .env_remove("RUSTUP_TOOLCHAIN"),
        "check that this machine reaches its cargo registry, then run the command again.",
    )?;
    // Copied aside and renamed, so that a sysroot that is there is whole.
    let partial = checkout::beside(sysroot, "partial");
    let _ = fs::remove_dir_all(&partial);
    fs::create_dir_all(&partial).map_err(unwritable)?;
    let built = pretext.join("target").join(TARGET).join("release").join("deps");
    for file in fs::read_dir(&built).map_err(unwritable)? {
        let file = file.map_err(unwritable)?;
        let name = file.file_name();
        let shown = name.to_string_lossy();
        if shown.ends_with(".rlib") && !shown.starts_with("libpretext") {
            fs::copy(file.path(), partial.join(&name)).map_err(unwritable)?;
        }
    }
    fs::create_dir_all(library.parent().unwrap_or(sysroot)).map_err(unwritable)?;
    fs::rename(&partial, library).map_err(unwritable)?;
    let _ = fs::remove_dir_all(&pretext);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_by_number() {
        assert!(number("1.100.0") > number("1.88.0"));
        assert!(number("1.88") >= number("1.88.0"));
        assert_eq!(number("nightly"), None);
    }

    #[test]
    fn the_minimum_is_known() {
        assert!(number(MINIMUM).is_some());
    }
}
