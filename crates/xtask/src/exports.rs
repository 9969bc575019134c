//! `cargo xtask check-exports`: exported files loaded by the libraries that run them, and the defaults that those print.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;
use crate::setup::python::{self, Environment, Holds};

/// An environment and the formats that it reads.
struct Libraries {
    environment: Environment,
    formats: &'static [&'static str],
}

const fn libraries(
    name: &'static str,
    formats: &'static [&'static str],
    packages: &'static [&'static str],
) -> Libraries {
    Libraries { environment: Environment { name, packages, holds: Holds::Torch }, formats }
}

/// An environment whose packages are read and never imported.
const fn sources(name: &'static str, packages: &'static [&'static str]) -> Libraries {
    Libraries { environment: Environment { name, packages, holds: Holds::Nothing }, formats: &[] }
}

/// Every release that the formats and `tests/files/defaults.json` speak of.
const LIBRARIES: [Libraries; 8] = [
    libraries(
        "trl",
        &["trl", "trl-yaml", "transformers"],
        &[
            "trl==1.16.0",
            "transformers==5.23.0",
            "peft==0.21.2",
            "accelerate==1.15.0",
            "bitsandbytes==0.50.2",
            "deepspeed==0.19.8",
            "datasets==5.2.0",
            "PyYAML",
        ],
    ),
    libraries("llamafactory", &["llamafactory"], &["llamafactory==0.9.5", "deepspeed==0.19.8"]),
    libraries("axolotl", &["axolotl"], &["axolotl==0.19.0", "deepspeed==0.19.8"]),
    libraries("ms-swift", &["ms-swift"], &["ms-swift==4.6.0", "deepspeed==0.19.8"]),
    // Nothing is exported for these; their defaults are compared.
    libraries(
        "trl-0.24",
        &[],
        &["trl==0.24.0", "transformers==4.57.6", "peft==0.18.1", "accelerate==1.11.0", "PyYAML"],
    ),
    libraries(
        "transformers-5.24",
        &[],
        &[
            "trl==1.16.0",
            "transformers==5.24.0",
            "peft==0.21.2",
            "accelerate==1.15.0",
            "bitsandbytes==0.50.2",
            "PyYAML",
        ],
    ),
    sources("unsloth-verl", &["unsloth==2026.8.19", "verl==0.8.0", "PyYAML"]),
    sources("unsloth-verl-0.9", &["unsloth==2026.10.9", "verl==0.9.1", "PyYAML"]),
];

/// Checks `formats`, or all; with `newest`, against the latest releases of every library instead of those that are named.
pub(crate) fn check(formats: &[&str], newest: bool) -> Result<()> {
    let known = || LIBRARIES.iter().flat_map(|of| of.formats).copied();
    if let Some(other) = formats.iter().find(|format| !known().any(|one| one == **format)) {
        let all: Vec<&str> = known().collect();
        return Err(Failure::new(format!("`{other}` is no format that is checked; these are: {}.", all.join(", "))));
    }
    let headroom = headroom(true)?;
    let uv = python::uv()?;
    let mut wrong = Vec::new();
    for of in &LIBRARIES {
        let wanted: Vec<&str> =
            of.formats.iter().copied().filter(|format| formats.is_empty() || formats.contains(format)).collect();
        // The latest release is that of the first environment of its kind.
        let again = ["trl-0.24", "transformers-5.24", "unsloth-verl-0.9"].contains(&of.environment.name);
        if newest && again || wanted.is_empty() && !formats.is_empty() {
            continue;
        }
        println!("\n== {}", of.environment.name);
        match of.environment.python(&uv, newest) {
            Ok(python) => wrong.extend(of.check(&python, &headroom, &wanted, newest)?),
            // One trainer that cannot be had does not keep the others from being checked; TRL's libraries are all of them's.
            Err(failure) if of.environment.name != "trl" => {
                println!("{} cannot be installed here and is not checked: {failure}", of.environment.name);
            }
            Err(failure) => return Err(failure),
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("The lines above say what differs: {}.", wrong.join(", "))))
    }
}

impl Libraries {
    /// What of it differs.
    fn check(&self, python: &Path, headroom: &Path, formats: &[&str], newest: bool) -> Result<Vec<String>> {
        let root = checkout::root();
        let mut wrong = Vec::new();
        let mut passes = |mut command: Command, what: &str| {
            let status =
                command.status().map_err(|error| process::not_started(&command, &error, "run the command again."))?;
            if !status.success() {
                wrong.push(format!("{what} of {}", self.environment.name));
            }
            Ok(())
        };
        let mut defaults = of_python(python, &root);
        defaults.arg("trainer_defaults.py").arg("check").arg(root.join("tests/files/defaults.json"));
        defaults.args(newest.then_some("--newest"));
        passes(defaults, "defaults")?;
        if !formats.is_empty() {
            let mut exports = of_python(python, &root);
            exports.args(["-m", "check_exports"]).args(formats).arg("--headroom").arg(headroom);
            exports.arg("--gallery").arg(root.join("crates/core/src/scenario/gallery.rs"));
            exports.arg("--work").arg(root.join("target/check-exports"));
            passes(exports, "exports")?;
        }
        Ok(wrong)
    }
}

/// Python without a network, a GPU or a word to anybody's statistics.
pub(crate) fn of_python(python: &Path, root: &Path) -> Command {
    let mut command = Command::new(python);
    command.current_dir(root.join("python")).env_remove("PYTHONPATH");
    // Bytecode is kept, as importing torch is seconds of compiling, but not among the sources.
    command
        .env_remove("PYTHONDONTWRITEBYTECODE")
        .env("PYTHONPYCACHEPREFIX", checkout::target().join("python-bytecode"));
    command.envs([
        ("PYTHONWARNINGS", "ignore"),
        ("TRANSFORMERS_VERBOSITY", "error"),
        ("CUDA_VISIBLE_DEVICES", ""),
        ("HF_HUB_OFFLINE", "1"),
        ("DO_NOT_TRACK", "1"),
        ("AXOLOTL_DO_NOT_TRACK", "1"),
        ("WANDB_DISABLED", "true"),
        ("TRL_EXPERIMENTAL_SILENCE", "1"),
    ]);
    command
}

/// The command line, built; `optimised`, as its users have it.
pub(crate) fn headroom(optimised: bool) -> Result<PathBuf> {
    let root = checkout::root();
    let mut build = Command::new(checkout::cargo());
    build.current_dir(&root).args(["build", "--quiet", "--package", "headroom"]).args(optimised.then_some("--release"));
    process::run(&mut build, "the lines above say why.")?;
    Ok(checkout::target().join(if optimised { "release" } else { "debug" }).join("headroom"))
}
