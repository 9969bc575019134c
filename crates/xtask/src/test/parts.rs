//! The parts of the tests: which program runs each, and how.

use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use super::browser::{browser_tests, free_ports};
use super::tally::Tally;
use crate::asked::Asked;
use crate::checkout;
use crate::failure::{Failure, Result};
use crate::package;
use crate::process;
use crate::setup::{TARGET, Toolbox};

/// The crate of the page, whose first view it is.
const PAGE: &str = "headroom-web";
/// The other crate that builds for wasm only: the engine as a module.
const WORKER: &str = "headroom-worker";
/// The Python module, which `cargo xtask package` builds and tests: no other test needs a Python.
const PYTHON: &str = "headroom-python";
/// The npm package's module: it builds for wasm only.
const NPM: &str = "headroom-npm";
const ELSEWHERE: [&str; 8] = ["--exclude", PAGE, "--exclude", WORKER, "--exclude", PYTHON, "--exclude", NPM];

pub(super) fn formatting() -> Result<Tally> {
    check(cargo()?.args(["fmt", "--all", "--check"]), "run `cargo fmt --all`.")
}

pub(super) fn lints() -> Result<Tally> {
    let mut clippy = cargo()?;
    clippy.args(["clippy", "--workspace"]).args(ELSEWHERE).args(["--all-targets", "--", "--deny", "warnings"]);
    check(&mut clippy, "fix what the lines above name.")
}

pub(super) fn page_lints(toolbox: &Toolbox) -> Result<Tally> {
    let mut clippy = toolbox.wasm_cargo()?;
    clippy.args(["clippy", "--package", PAGE, "--package", WORKER, "--package", NPM, "--target", TARGET]);
    clippy.args(["--", "--deny", "warnings"]);
    check(&mut clippy, "fix what the lines above name.")
}

pub(super) fn native() -> Result<Tally> {
    counted(cargo()?.args(["test", "--workspace"]).args(ELSEWHERE).arg("--no-fail-fast"))
}

pub(super) fn report() -> Result<Tally> {
    check(&mut crate::validate::command(&["--check"])?, "run `cargo xtask validate` and look at what changed.")
}

/// A part of the golden files; `cargo xtask golden --check` compares the whole.
pub(super) fn golden() -> Result<Tally> {
    check(&mut crate::validate::command(&["golden", "--check", "--every", "25"])?, "run `cargo xtask golden --check`.")
}

pub(super) fn wasm(toolbox: &Toolbox) -> Result<Tally> {
    let mut tests = toolbox.wasm_cargo()?;
    tests.args(["test", "--target", TARGET, "--test", "wasm"]);
    tests.args(["--package", "headroom-core", "--package", "headroom-charts"]);
    tests.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER", "wasm-bindgen-test-runner");
    counted(&mut tests)
}

pub(super) fn release_build(toolbox: &Toolbox) -> Result<Tally> {
    crate::build::build_with(toolbox).map(|()| Tally::of(true))
}

/// Of how many drawn plans the suite compares the answers of packages and page with the terminal's; `cargo xtask package --check` does
/// so for two thousand.
const PLANS: &str = "60";

/// The npm package, installed and compared with the terminal.
pub(super) fn packages(toolbox: &Toolbox) -> Result<Tally> {
    package::npm(toolbox)?;
    package::compare(toolbox, None, &Asked::some(PLANS)?)?;
    Ok(Tally::of(true))
}

pub(super) fn browser(toolbox: &Toolbox, filter: &[&str]) -> Result<Tally> {
    let asked = Asked::some(PLANS)?;
    counted(&mut browser_tests(toolbox, filter, &asked)?)
}

/// Documentation systems of `tests/docs-sites` whose tools come from the registries of Rust and Node; those of Python.
const SITES: [&str; 4] = ["bare", "vitepress", "mdbook", "docusaurus"];
const PYTHONS_SITES: [&str; 3] = ["mkdocs", "sphinx", "jupyter"];

/// Documentation sites with embedded plans, Python's where there is one.
pub(super) fn docs_sites(toolbox: &Toolbox, python: Option<&Path>) -> Result<Tally> {
    let [site, _] = free_ports()?;
    let root = checkout::root();
    let mut tests = toolbox.command("npx")?;
    tests
        .current_dir(root.join("tests").join("docs-sites"))
        .args(["--no-install", "playwright", "test"])
        .env("HEADROOM_SITE_PORT", site.to_string())
        .env("HEADROOM_DOCS_SITES", SITES.join(","));
    if let Some(python) = python {
        tests
            .env("HEADROOM_DOCS_SITES", [&SITES[..], &PYTHONS_SITES].concat().join(","))
            .env("HEADROOM_DOCS_PYTHON", python);
    }
    if let Some(chromium) = &toolbox.chromium {
        tests.env("HEADROOM_CHROMIUM", chromium);
    }
    counted(&mut tests)
}

/// The cargo at hand, in its own environment: what wasm needs is no business of the native crates.
fn cargo() -> Result<Command> {
    Toolbox::default().command(checkout::cargo())
}

/// A program whose success is the whole test.
fn check(command: &mut Command, fix: &str) -> Result<Tally> {
    process::run(command, fix).map(|()| Tally::of(true))
}

/// A test runner: its output is passed on as it comes, and counted.
fn counted(command: &mut Command) -> Result<Tally> {
    if std::io::stdout().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let started = command.stdout(Stdio::piped()).spawn();
    let mut runner = started.map_err(|error| process::not_started(command, &error, "run `cargo xtask setup`."))?;
    let mut tally = Tally::default();
    if let Some(output) = runner.stdout.take() {
        let mut terminal = std::io::stdout();
        for line in BufReader::new(output).split(b'\n').map_while(std::result::Result::ok) {
            // A terminal that went away does not change the outcome.
            let _ = terminal.write_all(&line).and_then(|()| terminal.write_all(b"\n"));
            tally.read(&String::from_utf8_lossy(&line));
        }
    }
    let status = runner.wait();
    let passed = status.is_ok_and(|status| status.success());
    if !passed && tally.failed == 0 {
        // It broke before or after its tests, for instance while it was being compiled.
        tally.failed = 1;
    }
    if passed && tally.passed == 0 {
        return Err(Failure::new("The runner ran no test at all: check what it was asked to run."));
    }
    Ok(tally)
}
