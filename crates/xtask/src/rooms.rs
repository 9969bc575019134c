//! `cargo xtask size`: whose the bytes of the page's modules are, and what changed since that was recorded.

use std::fs;
use std::path::{Path, PathBuf};

use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;
use crate::setup::{self, TARGET, Toolbox};

/// The packages whose modules are weighed, and under what name each is built.
const MODULES: [&str; 2] = ["headroom-web", "headroom-worker"];

/// The profile of the release build.
pub(crate) const PROFILE: &str = "web";

/// Where the sizes are recorded.
const RECORD: &str = "crates/xtask/sizes.txt";

/// Prints the table of each module beside what was recorded; `record` writes it down anew.
pub(crate) fn size(record: bool) -> Result<()> {
    let toolbox = setup::for_building(None)?;
    let page = read(&checkout::root().join("www").join("index.html"))?;
    for module in MODULES {
        let named = named(&toolbox, module, &page)?;
        let mut tool = toolbox.command(checkout::cargo())?;
        tool.args(["run", "--quiet", "--package", "headroom-parts", "--", "sizes"]).arg(&named);
        tool.args(["--label", module, "--against", RECORD]);
        if record {
            tool.args(["--record", RECORD]);
        }
        process::run(&mut tool, "the lines above say why.")?;
    }
    Ok(())
}

/// Builds the module as the release build has it, but with its functions' names.
fn named(toolbox: &Toolbox, module: &str, page: &str) -> Result<PathBuf> {
    let mut build = toolbox.wasm_cargo()?;
    build.args(["build", "--locked", "--profile", PROFILE, "--target", TARGET, "--package", module]);
    process::run(&mut build, "the lines above say why.")?;
    let built = checkout::target().join(TARGET).join(PROFILE).join(format!("{module}.wasm"));
    let folder = checkout::root().join("target").join("named");
    let mut bind = toolbox.command("wasm-bindgen")?;
    bind.args(["--target", "web", "--no-typescript", "--out-name", module, "--out-dir"]).arg(&folder).arg(&built);
    process::run(&mut bind, "the lines above say why.")?;
    let bound = folder.join(format!("{module}_bg.wasm"));
    let small = folder.join(format!("{module}.wasm"));
    let mut shrink = toolbox.command("wasm-opt")?;
    shrink.args(["-Oz", "--debuginfo"]).args(flags(page)?).arg(&bound).arg("--output").arg(&small);
    process::run(&mut shrink, "the lines above say why.")?;
    Ok(small)
}

/// What `page`, from which Trunk reads it, has wasm-opt do besides.
pub(crate) fn flags(page: &str) -> Result<Vec<&str>> {
    let told = page.split_once("data-wasm-opt-params=\"").and_then(|(_, rest)| rest.split_once('"'));
    told.map(|(flags, _)| flags.split_whitespace().collect()).ok_or_else(|| {
        Failure::new(
            "www/index.html has no data-wasm-opt-params: give them there, or change crates/xtask/src/rooms.rs.",
        )
    })
}

pub(crate) fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| {
        Failure::new(format!("{} cannot be read ({error}): restore it from version control.", path.display()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_are_those_of_the_page() {
        assert_eq!(flags("<link data-wasm-opt-params=\"--one --two\">").ok(), Some(vec!["--one", "--two"]));
        assert!(flags("").is_err());
    }

    #[test]
    fn the_page_says_what_wasm_opt_does() {
        let page = read(&checkout::root().join("www").join("index.html")).unwrap_or_default();
        assert!(flags(&page).is_ok_and(|flags| flags.contains(&"--enable-bulk-memory")));
    }
}
