//! Set-up: everything a fresh machine lacks, installed once into the tool cache.
//!
//! Every step first looks whether its thing is there *and starts*, so a second run takes seconds and a half-installed
//! tool is installed again.

mod cargo_tools;
mod debian;
mod debian_wasm;
mod npm_tools;
pub(crate) mod python;
mod toolbox;
mod wasm_target;

use std::fs::File;
use std::time::Instant;

use crate::checkout;
use crate::failure::{Failure, Result};
pub(crate) use toolbox::Toolbox;
pub(crate) use wasm_target::TARGET;

/// What the page's build needs: `serve` and `build` stop here.
pub(crate) fn for_building() -> Result<Toolbox> {
    let mut toolbox = Toolbox::default();
    wasm_target::provide(&mut toolbox)?;
    debian::node()?;
    cargo_tools::trunk(&mut toolbox)?;
    cargo_tools::wasm_bindgen(&mut toolbox)?;
    npm_tools::wasm_opt(&mut toolbox)?;
    Ok(toolbox)
}

/// What the tests need besides: a real browser, a Chinese font, the browser tests' packages.
pub(crate) fn for_browser_tests(toolbox: &mut Toolbox) -> Result<()> {
    toolbox.chromium = Some(debian::chromium()?);
    debian::chinese_font()?;
    npm_tools::browser_tests()
}

/// One step of set-up: `find` looks for the thing, `install` brings it when it is not there. Announced with the time
/// it took; `expectation` says beforehand how long it usually takes.
fn step<T>(
    name: &str,
    expectation: &str,
    find: impl Fn() -> Option<T>,
    install: impl FnOnce() -> Result<()>,
) -> Result<T> {
    let start = Instant::now();
    if let Some(found) = find() {
        println!("set-up: {name}: ready ({:.1} s)", start.elapsed().as_secs_f64());
        return Ok(found);
    }
    // Two commands on one machine share the cache: the second waits, then finds what the first has brought.
    let _turn = turn()?;
    if let Some(found) = find() {
        println!("set-up: {name}: ready ({:.1} s)", start.elapsed().as_secs_f64());
        return Ok(found);
    }
    println!("set-up: {name}: installing, {expectation}");
    install()?;
    let found = find().ok_or_else(|| {
        Failure::new(format!(
            "{name} does not start in the version needed even after its installation: install it by hand."
        ))
    })?;
    println!("set-up: {name}: installed ({:.0} s)", start.elapsed().as_secs_f64());
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
        let found = step("thing", "", || Some(7), || Err(Failure::new("installed needlessly")));
        assert_eq!(found.map_err(|failure| failure.to_string()), Ok(7));
    }

    #[test]
    fn what_is_missing_is_installed_and_looked_for_again() {
        let there = Cell::new(false);
        let found = step(
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
        assert!(step("thing", "", || None::<()>, || Ok(())).is_err());
    }
}
