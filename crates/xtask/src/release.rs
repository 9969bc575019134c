//! `cargo xtask release`: the site as an archive with checksums, and whether two builds of one commit are the same.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::build;
use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;
use crate::setup::{self, Toolbox};

const ARCHIVE_FIX: &str = "install GNU tar (on macOS: gnu-tar, as `tar` on PATH) and run the command again.";

/// Builds the site and packs it into `target/release-archive`.
pub(crate) fn release() -> Result<()> {
    let toolbox = setup::for_building(Some("web"))?;
    build::build_with(&toolbox)?;
    pack(&toolbox)
}

fn pack(toolbox: &Toolbox) -> Result<()> {
    let root = checkout::root();
    let name = format!("headroom-{}", env!("CARGO_PKG_VERSION"));
    let mut node = toolbox.command("node")?;
    node.arg(root.join("crates/xtask/src/archive.mjs")).arg(root.join("dist")).arg(name);
    process::run(node.arg(root.join("target").join("release-archive")), ARCHIVE_FIX)
}

/// Builds the last commit twice, in clones at different places with nothing of an earlier build, and compares the archives.
pub(crate) fn check() -> Result<()> {
    let folder = checkout::root().join("target").join("release-check");
    let _ = fs::remove_dir_all(&folder);
    let mut sums = Vec::new();
    for place in ["one", "another/place"] {
        let clone = folder.join(place);
        let mut git = Command::new("git");
        git.args(["clone", "--quiet"]).arg(checkout::root()).arg(&clone);
        process::run(&mut git, "check that git is installed and there is room on the disk.")?;
        println!("building the last commit in {}", clone.display());
        // Its own program, as its commit has it, and nothing of this one's environment.
        let mut build = Command::new(checkout::cargo());
        build
            .current_dir(&clone)
            .args(["xtask", "release"])
            .env_remove("CARGO_TARGET_DIR")
            .env_remove("CARGO_MANIFEST_DIR");
        process::run(&mut build, "the lines above say why.")?;
        sums.push(sum(&clone)?);
    }
    let _ = fs::remove_dir_all(&folder);
    match sums.as_slice() {
        [one, another] if one == another => {
            println!("Both builds are the same to the byte: {}", one.trim());
            Ok(())
        }
        _ => Err(Failure::new(format!(
            "Two builds of one commit differ: {}. Compare their files, by the SHA256SUMS inside.",
            sums.join(" and ").replace('\n', "")
        ))),
    }
}

fn sum(clone: &Path) -> Result<String> {
    let path = clone.join("target").join("release-archive").join("SHA256SUMS");
    fs::read_to_string(&path).map_err(|error| {
        Failure::new(format!("{} cannot be read ({error}): run `cargo xtask release` there.", path.display()))
    })
}
