//! `cargo xtask package`: the core for scripts, as an npm package and a Python wheel in `target/packages`, and the crates as archives
//! in `target/package`. Nothing is published.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::asked::{Asked, drawn_plans};
use crate::checkout;
use crate::exports;
use crate::failure::{Result, cannot_write};
use crate::process;
use crate::rooms::{PROFILE, flags, read};
use crate::setup::python::{self, Environment, Holds};
use crate::setup::{self, TARGET, Toolbox};

const NPM: &str = "headroom-npm";

const ABOVE: &str = "the lines above say why.";

/// What builds the wheel.
const PACKAGING: Environment =
    Environment { name: "packaging", packages: &["maturin==1.16.0"], holds: Holds::Dependencies };

/// How many plans `--check` sends through all of them.
const PLANS: &str = "2000";

/// The crates that other programs may use, and what those need.
const CRATES: [&str; 8] = [
    "headroom-torch",
    "headroom-core",
    "headroom-text",
    "headroom-charts",
    "headroom-answers",
    "headroom-files",
    "headroom-validation",
    "headroom",
];

/// Builds all of them.
pub(crate) fn package() -> Result<()> {
    let toolbox = setup::for_building(None)?;
    let _ = fs::remove_dir_all(checkout::packages());
    npm(&toolbox)?;
    wheel(&toolbox)?;
    crates(false)
}

/// The crates as archives; `verified`: each is also built from its archive.
fn crates(verified: bool) -> Result<()> {
    let mut pack = Command::new(checkout::cargo());
    pack.current_dir(checkout::root()).args(["package", "--quiet", "--locked", "--allow-dirty"]);
    pack.args(CRATES.iter().flat_map(|name| ["--package", name])).args((!verified).then_some("--no-verify"));
    process::run(&mut pack, ABOVE)
}

/// Builds all of them, the crates from their archives too, runs the examples of their READMEs, and compares their answers to many plans with the terminal's; to a part of them
/// with the page's too, which has to be built.
pub(crate) fn check() -> Result<()> {
    package()?;
    let mut toolbox = setup::for_building(None)?;
    let python = PACKAGING.python(&python::uv()?, false)?;
    let asked = Asked { plans: drawn_plans(PLANS)?, terminal: exports::headroom(true)? };
    compare(&toolbox, Some(&python), &asked)?;
    crates(true)?;
    setup::for_browser_tests(&mut toolbox)?;
    crate::build::build_with(&toolbox)?;
    crate::test::browser::answers_of_the_page(&toolbox, &asked)
}

/// The npm package, as a folder and as an archive.
pub(crate) fn npm(toolbox: &Toolbox) -> Result<()> {
    let root = checkout::root();
    let mut build = toolbox.wasm_cargo()?;
    build.args(["build", "--locked", "--profile", PROFILE, "--target", TARGET, "--package", NPM]);
    process::run(&mut build, ABOVE)?;
    let to = checkout::packages().join("npm");
    let built = checkout::target().join(TARGET).join(PROFILE).join("headroom_npm.wasm");
    let mut bind = toolbox.command("wasm-bindgen")?;
    bind.args(["--target", "web", "--no-typescript", "--out-name", "headroom", "--out-dir"]).arg(&to).arg(&built);
    process::run(&mut bind, ABOVE)?;
    let module = to.join("headroom_bg.wasm");
    let page = read(&root.join("www").join("index.html"))?;
    let mut shrink = toolbox.command("wasm-opt")?;
    shrink.arg("-Oz").args(flags(&page)?).arg(&module).arg("--output").arg(&module);
    process::run(&mut shrink, ABOVE)?;
    let sources = root.join("crates").join("npm").join("package");
    for name in ["api.js", "node.js", "browser.js", "index.d.ts", "README.md"] {
        copy(&sources.join(name), &to.join(name))?;
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT"] {
        copy(&root.join(name), &to.join(name))?;
    }
    let described = read(&sources.join("package.json"))?.replace("{{version}}", env!("CARGO_PKG_VERSION"));
    fs::write(to.join("package.json"), described).map_err(|error| cannot_write(&to, &error))?;
    let mut pack = toolbox.command("npm")?;
    pack.current_dir(&to).args(["pack", "--silent", "--pack-destination", ".."]);
    process::run(&mut pack, ABOVE)
}

/// The wheel, for this machine's system and every Python from 3.9 on.
fn wheel(toolbox: &Toolbox) -> Result<()> {
    let python = PACKAGING.python(&python::uv()?, false)?;
    let mut build = toolbox.command(&python)?;
    build.args(["-m", "maturin", "build", "--release", "--locked", "--quiet", "--interpreter"]).arg(&python);
    build
        .arg("--manifest-path")
        .arg(checkout::root().join("crates/python/Cargo.toml"))
        .arg("--out")
        .arg(checkout::packages());
    process::run(&mut build, ABOVE)
}

/// Has the packages answer like the terminal; the wheel where there is a Python.
pub(crate) fn compare(toolbox: &Toolbox, python: Option<&Path>, asked: &Asked) -> Result<()> {
    let mut tests = toolbox.command("node")?;
    tests.arg(checkout::root().join("tests/packages/check.mjs")).arg("--packages").arg(checkout::packages());
    tests.arg("--headroom").arg(&asked.terminal).arg("--plans").arg(&asked.plans);
    if let Some(python) = python {
        tests.arg("--python").arg(python);
    }
    process::run(&mut tests, "the lines above say what differs.")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).map_err(|error| cannot_write(to, &error))
}
