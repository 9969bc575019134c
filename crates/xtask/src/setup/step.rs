//! One step of set-up: looked for first, installed where it is missing.

use std::fs::File;
use std::time::Instant;

use super::toolbox::Progress;
use crate::checkout;
use crate::failure::{Failure, Result};

/// One step of set-up: `find` looks for the thing, `install` brings it when it is not there. Announced with the time
/// it took; `expectation` says beforehand how long it usually takes.
pub(super) fn step<T>(
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
