//! The tools that cargo installs: Trunk and the command-line tool of wasm-bindgen.
//!
//! What is on PATH in the right version is taken as it is; where `cargo binstall` is there, it may bring a finished build.
//! Otherwise they are compiled, and then not by their own release profile: Trunk's asks for link-time optimisation over
//! everything in one piece, for the sake of a program that here waits for other programs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::meanwhile::Meanwhile;
use super::step::step;
use super::toolbox::Toolbox;
use crate::checkout;
use crate::failure::Result;
use crate::process;

/// The newest Trunk that the minimum Rust version of this workspace can build.
const TRUNK: &str = "0.21.14";

/// The mdBook that one of the documentation sites is built with.
const MDBOOK: &str = "0.5.4";

const FIX: &str = "check that this machine reaches its cargo registry and has a C linker, then run the command again.";

/// How both are compiled. None but the crates in [`BUSY`] works long enough here for optimisation to be worth its time.
const PROFILE: [(&str, &str); 5] = [
    ("CARGO_PROFILE_RELEASE_LTO", "off"),
    ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16"),
    ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "false"),
    ("CARGO_INCREMENTAL", "0"),
];

/// The crates that read and write the page's module, tens of megabytes while it is being worked on.
const BUSY: [&str; 6] = ["walrus", "wasmparser", "wasm-encoder", "leb128fmt", "wasm-bindgen-cli-support", "gimli"];

/// A program that cargo installs.
struct Tool {
    package: &'static str,
    version: String,
    /// What must start, in this version.
    programs: &'static [&'static str],
    /// How it is compiled beyond what holds for both.
    options: Vec<String>,
    expectation: &'static str,
}

impl Tool {
    /// Builds and serves the page, without looking for newer versions of itself and without serving through TLS.
    fn trunk() -> Self {
        Self {
            package: "trunk",
            version: TRUNK.to_owned(),
            programs: &["trunk"],
            options: vec!["--locked".to_owned(), "--no-default-features".to_owned()],
            expectation: "some minutes on two cores",
        }
    }

    /// Writes the JavaScript side of the wasm module and runs tests in wasm. It works only with the very version of the
    /// crate, so the version comes from `Cargo.lock`. Installed without `--locked`: the lock file of a fresh release may
    /// name crates that a registry mirror does not have yet. It asks browsers on this machine alone, so without TLS.
    fn wasm_bindgen() -> Result<Self> {
        let optimised = BUSY.map(|name| format!("--config=profile.release.package.{name}.opt-level=2"));
        Ok(Self {
            package: "wasm-bindgen-cli",
            version: checkout::locked_version("wasm-bindgen")?,
            programs: &["wasm-bindgen", "wasm-bindgen-test-runner"],
            options: [vec!["--no-default-features".to_owned()], optimised.to_vec()].concat(),
            expectation: "a minute or two on two cores",
        })
    }

    /// Builds one of the documentation sites that the tests look at, without what serves it.
    fn mdbook() -> Self {
        let options = ["--locked", "--no-default-features", "--features", "search"];
        Self {
            package: "mdbook",
            version: MDBOOK.to_owned(),
            programs: &["mdbook"],
            options: options.map(str::to_owned).to_vec(),
            expectation: "about half a minute",
        }
    }

    /// What it is called where people read it: its first program.
    fn name(&self) -> &'static str {
        self.programs.first().copied().unwrap_or(self.package)
    }

    fn folder(&self) -> Result<PathBuf> {
        Ok(checkout::cache()?.join(format!("{}-{}", self.name(), self.version)))
    }

    /// Where its programs start in the right version: in the tool cache, or on PATH, for which no folder is named.
    fn found(&self, folder: &Path) -> Option<Option<PathBuf>> {
        let programs = folder.join("bin");
        if self.programs.iter().all(|program| starts(&programs.join(program), &self.version)) {
            return Some(Some(programs));
        }
        self.programs.iter().all(|program| starts(Path::new(program), &self.version)).then_some(None)
    }

    fn install(&self, folder: &Path, build: &Path) -> Result<()> {
        if self.bring_finished(folder) {
            return Ok(());
        }
        let mut install = Command::new(checkout::cargo());
        install.args(["install", "--force", self.package, "--version", &self.version, "--root"]).arg(folder);
        install.args(&self.options).current_dir(checkout::cache()?);
        // Not in this checkout's target folder, and without what this checkout asks of rustc.
        install.env("CARGO_TARGET_DIR", build).envs(PROFILE).env_remove("RUSTFLAGS");
        process::run(&mut install, FIX)
    }

    /// Whether `cargo binstall` is there and has a finished build. Where it fails, what it says is of no use: the compiler
    /// comes next.
    fn bring_finished(&self, folder: &Path) -> bool {
        let binstall = |words: &[&str]| {
            let mut command = Command::new(checkout::cargo());
            command.arg("binstall").args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command
        };
        if !binstall(&["-V"]).status().is_ok_and(|status| status.success()) {
            return false;
        }
        println!("        asking cargo binstall for a finished build of {} {}", self.package, self.version);
        let package = format!("{}@{}", self.package, self.version);
        let mut bring = binstall(&["--no-confirm", "--disable-strategies", "compile", "--force", "--root"]);
        bring.arg(folder).arg(package).status().is_ok_and(|status| status.success()) && self.found(folder).is_some()
    }
}

/// Trunk and wasm-bindgen, in the versions that this checkout needs. What `meanwhile` compiles of the page is begun when one
/// of them has to be compiled, since either leaves a core idle now and then.
pub(crate) fn provide(toolbox: &mut Toolbox, meanwhile: &mut Meanwhile) -> Result<()> {
    // One folder for both: they have crates in common, and what an interrupted installation compiled is not lost.
    let build = checkout::cache()?.join("cargo-tools.build");
    for tool in [Tool::trunk(), Tool::wasm_bindgen()?] {
        let folder = tool.folder()?;
        let title = format!("{} {}", tool.name(), tool.version);
        let install = || {
            meanwhile.begin(toolbox.wasm_cargo()?);
            tool.install(&folder, &build)
        };
        let mut progress = toolbox.progress;
        let programs = step(&mut progress, &title, tool.expectation, || tool.found(&folder), install)?;
        toolbox.progress = progress;
        toolbox.folders.extend(programs);
    }
    // Only a cache of the compiler's work: what cannot be removed does no harm.
    let _ = fs::remove_dir_all(&build);
    Ok(())
}

/// mdBook, for the documentation sites.
pub(crate) fn mdbook(toolbox: &mut Toolbox) -> Result<()> {
    let tool = Tool::mdbook();
    let (folder, build) = (tool.folder()?, checkout::cache()?.join("cargo-tools.build"));
    let title = format!("{} {}", tool.name(), tool.version);
    let mut progress = toolbox.progress;
    let install = || tool.install(&folder, &build);
    let programs = step(&mut progress, &title, tool.expectation, || tool.found(&folder), install)?;
    toolbox.progress = progress;
    toolbox.folders.extend(programs);
    // As above.
    let _ = fs::remove_dir_all(&build);
    Ok(())
}

/// Whether `program` starts and is of this version.
fn starts(program: &Path, version: &str) -> bool {
    let said = process::printed(Command::new(program).arg("--version"));
    said.is_some_and(|said| said.split_whitespace().any(|word| word.trim_start_matches('v') == version))
}
