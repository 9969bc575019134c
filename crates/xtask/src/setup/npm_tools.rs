//! What comes from the npm registry: `wasm-opt`, `esbuild`, and the packages of the browser tests.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::step::step;
use super::toolbox::{Progress, Toolbox};
use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;

/// The major version of Binaryen; npm's package of it is `<major>.0.0`, Trunk calls it `version_<major>`.
const BINARYEN: &str = "132";

/// The version of esbuild.
const ESBUILD: &str = "0.28.2";

const FIX: &str = "check that this machine reaches its npm registry, then run the command again.";

/// Shrinks the wasm module of the release build. Trunk would download it from elsewhere; the npm package is the same.
pub(crate) fn wasm_opt(toolbox: &mut Toolbox) -> Result<()> {
    let folder = checkout::cache()?.join(format!("binaryen-{BINARYEN}.0.0"));
    let programs = folder.join("node_modules").join(".bin");
    let program = programs.join("wasm-opt");
    let find = || {
        let said = process::printed(Command::new(&program).arg("--version"))?;
        said.contains(&format!("version {BINARYEN}")).then_some(())
    };
    step(&mut toolbox.progress, &format!("wasm-opt {BINARYEN}"), "about 10 seconds", find, || {
        let package = format!("binaryen@{BINARYEN}.0.0");
        fs::create_dir_all(&folder).map_err(|error| {
            Failure::new(format!("{} cannot be created ({error}): check its permissions.", folder.display()))
        })?;
        npm(&folder, &["install", "--no-save", "--no-package-lock", &package])
    })?;
    toolbox.folders.push(programs);
    // With the version named, Trunk takes the program on PATH and downloads nothing.
    toolbox.variables.push(("TRUNK_TOOLS_WASM_OPT", format!("version_{BINARYEN}").into()));
    Ok(())
}

/// Makes scripts and styles of the release build small.
pub(crate) fn esbuild(toolbox: &mut Toolbox) -> Result<()> {
    let folder = checkout::cache()?.join(format!("esbuild-{ESBUILD}"));
    let programs = folder.join("node_modules").join(".bin");
    let program = programs.join("esbuild");
    let find = || {
        let said = process::printed(Command::new(&program).arg("--version"))?;
        (said.trim() == ESBUILD).then_some(())
    };
    step(&mut toolbox.progress, &format!("esbuild {ESBUILD}"), "about 5 seconds", find, || {
        fs::create_dir_all(&folder).map_err(|error| {
            Failure::new(format!("{} cannot be created ({error}): check its permissions.", folder.display()))
        })?;
        npm(&folder, &["install", "--no-save", "--no-package-lock", &format!("esbuild@{ESBUILD}")])
    })?;
    toolbox.folders.push(programs);
    Ok(())
}

/// The packages of `tests/e2e`, exactly as its lock file has them.
pub(crate) fn browser_tests(progress: &mut Progress) -> Result<()> {
    locked_packages(progress, "e2e", "packages of the browser tests")
}

/// The packages of `tests/docs-sites`.
pub(crate) fn docs_sites(progress: &mut Progress) -> Result<()> {
    locked_packages(progress, "docs-sites", "packages of the documentation sites")
}

fn locked_packages(progress: &mut Progress, tests: &str, title: &str) -> Result<()> {
    let folder = checkout::root().join("tests").join(tests);
    let lock = folder.join("package-lock.json");
    let installed = folder.join("node_modules").join("package-lock.json.installed");
    let find = || {
        let wanted = fs::read(&lock).ok()?;
        let present = fs::read(&installed).ok()?;
        (wanted == present).then_some(())
    };
    step(progress, title, "about 10 seconds", find, || {
        npm(&folder, &["ci"])?;
        fs::copy(&lock, &installed).map(|_| ()).map_err(|error| {
            Failure::new(format!("{} cannot be written ({error}): check its permissions.", installed.display()))
        })
    })
}

fn npm(folder: &Path, words: &[&str]) -> Result<()> {
    process::run(
        Command::new("npm")
            .args(words)
            .args(["--no-audit", "--no-fund", "--loglevel=error"])
            .current_dir(folder)
            // The browser is the system's own.
            .env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")
            .stdout(Stdio::null()),
        FIX,
    )
}
