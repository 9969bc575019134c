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
mod toolbox;
mod wasm_target;

use std::fs::File;
use std::path::PathBuf;
use std::time::Instant;

use crate::checkout;
use crate::failure::{Failure, Result};
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

/// One step of set-up: `find` looks for the thing, `install` brings it when it is not there. Announced with the time
/// it took; `expectation` says beforehand how long it usually takes.
fn step<T>(
    progress: &mut Progress,
    name: &str,
    expectation: &str,
    find: impl Fn() -> Option<T>,
    install: impl FnOnce() -> Result<()>,
) -> Result<T> {
    let start = Instant::now();
    let heading = progress.next();
    if let Some(found) = find() {
        println!("{heading}: {name}: ready ({:.1} s)", start.elapsed().as_secs_f64());
        return Ok(found);
    }
    // Two commands on one machine share the cache: the second waits, then finds what the first has brought.
    let _turn = turn()?;
    if let Some(found) = find() {
        println!("{heading}: {name}: ready ({:.1} s)", start.elapsed().as_secs_f64());
        return Ok(found);
    }
    println!("{heading}: {name}: installing, {expectation}");
    install()?;
    let found = find().ok_or_else(|| {
        Failure::new(format!(
            "{name} does not start in the version needed even after its installation: install it by hand."
        ))
    })?;
    println!("{heading}: {name}: installed ({:.0} s)", start.elapsed().as_secs_f64());
    Ok(found)
}

/// The only right to install into the cache, until it is dropped.
fn turn() -> Result<File> {
    let path = checkout::cache()?.join("lock");
    File::create(&path).and_then(|lock| lock.lock().map(|()| lock)).map_err(|error| {
        Failure::new(format!(
            "{} cannot be locked ({error}): set HEADROOM_CACHE to a folder you may write to.",
            path.display()
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn what_is_there_is_not_installed_again() {
        let found =
            step(&mut Progress::default(), "thing", "", || Some(7), || Err(Failure::new("installed needlessly")));
        assert_eq!(found.map_err(|failure| failure.to_string()), Ok(7));
    }

    #[test]
    fn what_is_missing_is_installed_and_looked_for_again() {
        let there = Cell::new(false);
        let found = step(
            &mut Progress::default(),
            "thing",
            "",
            || there.get().then_some(7),
            || {
                there.set(true);
                Ok(())
            },
        );
        assert_eq!(found.map_err(|failure| failure.to_string()), Ok(7));
    }

    #[test]
    fn an_install_that_brings_nothing_is_a_failure() {
        assert!(step(&mut Progress::default(), "thing", "", || None::<()>, || Ok(())).is_err());
    }
}
