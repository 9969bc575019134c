//! The page's module without what libraries export and no page asks for.

use std::fs;
use std::path::{Path, PathBuf};

use crate::checkout;
use crate::failure::{Failure, Result};
use crate::rooms::{flags, read};
use crate::setup::Toolbox;
use crate::split::{parts, run};

/// The page's module, as Trunk begins its name.
const PAGE: &str = "headroom-web";

/// In the names of what Leptos' server functions export: streams that this page never makes.
const UNUSED: &str = "intounderlying";

/// Trims the page's module of the site in `dist`.
pub(crate) fn trim(toolbox: &Toolbox, dist: &Path) -> Result<()> {
    let (module, loader) = (found(dist, "_bg.wasm")?, found(dist, ".js")?);
    let trimmed = checkout::root().join("target").join("trimmed.wasm");
    run(parts()?.arg("trim").args([&module, &trimmed]).arg(UNUSED))?;
    let page = read(&checkout::root().join("www").join("index.html"))?;
    let mut shrink = toolbox.command("wasm-opt")?;
    run(shrink.arg("-Oz").args(flags(&page)?).arg(&trimmed).arg("--output").arg(&module))?;
    run(parts()?.arg("trim-loader").args([&loader, &module, &loader]))
}

/// The page's file in `dist` that ends so.
fn found(dist: &Path, end: &str) -> Result<PathBuf> {
    let listed = fs::read_dir(dist).map_err(|error| {
        Failure::new(format!("{} cannot be read ({error}): run the command again.", dist.display()))
    })?;
    let is_it = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(PAGE) && name.ends_with(end)
    };
    listed.flatten().map(|file| file.path()).find(is_it).ok_or_else(|| {
        Failure::new(format!(
            "There is no {PAGE}*{end} in {}: Trunk names it in another way than it did.",
            dist.display()
        ))
    })
}
