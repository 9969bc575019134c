//! What packages, page and terminal are asked, so that their answers can be compared.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::checkout;
use crate::exports;
use crate::failure::{Failure, Result, cannot_write};
use crate::process;

/// What is compared: a file with a link to a plan on each line, and the terminal's program.
pub(crate) struct Asked {
    pub(crate) plans: PathBuf,
    pub(crate) terminal: PathBuf,
}

impl Asked {
    /// The first `count` plans that are drawn, and the terminal as the tests have built it.
    pub(crate) fn some(count: &str) -> Result<Self> {
        Ok(Self { plans: drawn_plans(count)?, terminal: exports::headroom(false)? })
    }
}

/// A file of links to `count` plans drawn at random, one a line.
pub(crate) fn drawn_plans(count: &str) -> Result<PathBuf> {
    let mut draw = Command::new(checkout::cargo());
    draw.current_dir(checkout::root());
    draw.args(["run", "--quiet", "--release", "--package", "headroom-validation", "--", "plans", count]);
    let links = process::printed(&mut draw)
        .ok_or_else(|| Failure::new("The plans cannot be drawn: run `cargo test --package headroom-validation`."))?;
    let path = checkout::packages().join("plans.txt");
    fs::create_dir_all(checkout::packages())
        .and_then(|()| fs::write(&path, links))
        .map_err(|error| cannot_write(&path, &error))?;
    Ok(path)
}
