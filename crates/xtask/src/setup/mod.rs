//! Set-up: everything a fresh machine lacks, installed once into the tool cache.
//!
//! Every step first looks whether its thing is there *and starts*, so a second run takes seconds and a half-installed
//! tool is installed again.

mod cargo_tools;
mod debian;
mod debian_wasm;
mod meanwhile;
mod npm_tools;
mod paths;
pub(crate) mod python;
mod step;
mod toolbox;
mod wasm_target;

use std::path::PathBuf;

use crate::failure::Result;
use meanwhile::Meanwhile;
use python::{Environment, Holds};
use toolbox::Progress;
pub(crate) use toolbox::Toolbox;
pub(crate) use wasm_target::TARGET;

/// The package of the page, as Trunk builds it.
const PAGE: &str = "headroom-web";

/// What the page's build needs: `serve` and `build` stop here. `profile` is that with which the page will be built, where
/// it will be: its crates are then compiled while tools are.
pub(crate) fn for_building(profile: Option<&'static str>) -> Result<Toolbox> {
    let mut toolbox = Toolbox::default();
    let mut meanwhile = Meanwhile::of(PAGE, profile);
    toolbox.progress = Progress::of(6);
    wasm_target::provide(&mut toolbox)?;
    paths::provide(&mut toolbox)?;
    debian::node(&mut toolbox.progress)?;
    cargo_tools::provide(&mut toolbox, &mut meanwhile)?;
    npm_tools::wasm_opt(&mut toolbox)?;
    npm_tools::esbuild(&mut toolbox)?;
    meanwhile.finish();
    Ok(toolbox)
}

/// What weighs files as browsers fetch them: Node.js.
pub(crate) fn for_weighing(toolbox: &mut Toolbox) -> Result<()> {
    debian::node(&mut toolbox.progress)
}

/// What the tests need besides: a real browser, a Chinese font, the browser tests' packages.
pub(crate) fn for_browser_tests(toolbox: &mut Toolbox) -> Result<()> {
    toolbox.progress = Progress::of(3);
    toolbox.chromium = Some(debian::chromium(&mut toolbox.progress)?);
    debian::chinese_font(&mut toolbox.progress)?;
    npm_tools::browser_tests(&mut toolbox.progress)
}

/// The tools that build documentation sites, but for Python's.
pub(crate) fn for_docs_sites(toolbox: &mut Toolbox) -> Result<()> {
    toolbox.progress = Progress::of(2);
    npm_tools::docs_sites(&mut toolbox.progress)?;
    cargo_tools::mdbook(toolbox)
}

/// A Python that has the tools which build documentation sites.
pub(crate) fn for_pythons_docs_sites() -> Result<PathBuf> {
    DOCS_SITES.python(&python::uv()?, false)
}

/// What Python's documentation systems are made of.
const DOCS_SITES: Environment = Environment {
    name: "docs-sites",
    packages: &[
        "mkdocs-material==9.8.1",
        "mkdocs==1.6.1",
        "sphinx==9.0.4",
        "furo==2025.12.19",
        "nbconvert==7.17.2",
        "ipykernel==7.4.0",
    ],
    holds: Holds::Dependencies,
};
