//! Python environments, with the libraries that read exported files and the tools that build documentation sites. Each holds
//! releases that agree with one another; `uv` keeps one copy of what several have in common.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, iter};

use super::debian::apt_install;
use super::step::step;
use super::toolbox::Progress;
use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;

/// What makes the environments.
const UV: &str = "0.13.9";

const FIX: &str = "check that this machine reaches its Python package registry, then run the command again.";

/// Packages that are installed together.
pub(crate) struct Environment {
    /// What it is for.
    pub(crate) name: &'static str,
    /// Packages with their releases, the trainer's own first.
    pub(crate) packages: &'static [&'static str],
    /// What comes along.
    pub(crate) holds: Holds,
}

/// What an environment holds beside the packages that are named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    /// What they ask for, and torch in the one release that all environments share.
    Torch,
    /// What they ask for.
    Dependencies,
    /// Nothing: they can be read and not imported.
    Nothing,
}

/// The newest torch that every environment gets: once on disk, whatever a trainer asks for.
const TORCH: &str = "torch==2.15.0";

/// `uv`, by pip into an environment of its own.
pub(crate) fn uv() -> Result<PathBuf> {
    let folder = checkout::cache()?.join(format!("uv-{UV}"));
    let program = folder.join("bin").join("uv");
    let python = "install Python 3.10 or newer with pip and venv";
    // Debian's python3 comes without what makes environments.
    let makes = || process::printed(Command::new("python3").args(["-c", "import ensurepip, venv"])).map(|_| ());
    step(&mut Progress::default(), "Python", "about half a minute", makes, || {
        apt_install(&["python3", "python3-venv"], python)
    })?;
    let find = || {
        let said = process::printed(Command::new(&program).arg("--version"))?;
        said.split_whitespace().any(|word| word == UV).then(|| program.clone())
    };
    step(&mut Progress::default(), &format!("uv {UV}"), "about 10 seconds", find, || {
        process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder), &format!("{python}."))?;
        let mut pip = Command::new(folder.join("bin").join("python"));
        process::run(pip.args(["-m", "pip", "install", "--quiet"]).arg(format!("uv=={UV}")), FIX)
    })
}

impl Environment {
    /// Its Python, installed if it is not there yet; `newest` takes the latest releases instead of those that are named.
    pub(crate) fn python(&self, uv: &Path, newest: bool) -> Result<PathBuf> {
        let folder = checkout::cache()?.join(format!("python-{}{}", self.name, if newest { "-newest" } else { "" }));
        let python = folder.join("bin").join("python");
        let wanted = self.wanted(newest);
        let noted = folder.join("headroom-packages");
        let find = || {
            let there = fs::read_to_string(&noted).ok()? == wanted.join("\n");
            process::printed(Command::new(&python).arg("--version")).filter(|_| there).map(|_| python.clone())
        };
        let title = format!("Python packages of {}{}", self.name, if newest { ", the newest" } else { "" });
        let expectation = match self.holds {
            Holds::Torch => "some minutes and up to 5 GB for the first",
            Holds::Dependencies | Holds::Nothing => "about half a minute",
        };
        step(&mut Progress::default(), &title, expectation, find, || {
            process::run(self.uv(uv)?.args(["venv", "--quiet", "--clear"]).arg(&folder), FIX)?;
            let overrides = folder.join("overrides");
            let write = |path: &Path, text: &str| {
                fs::write(path, text).map_err(|error| {
                    Failure::new(format!("{} cannot be written ({error}): check its permissions.", path.display()))
                })
            };
            write(&overrides, if newest { "torch\n" } else { TORCH })?;
            let mut install = self.uv(uv)?;
            install.args(["pip", "install", "--quiet", "--python"]).arg(&python);
            match self.holds {
                Holds::Torch => install.arg("--override").arg(&overrides).args(self.torch_backend(uv, &python)?),
                Holds::Dependencies => &mut install,
                Holds::Nothing => install.arg("--no-deps"),
            };
            process::run(install.args(&wanted), FIX)?;
            write(&noted, &wanted.join("\n"))
        })
    }

    /// Adds the Python of packages whose other part is compiled for GPUs, which is left out.
    pub(crate) fn add_uncompiled(&self, uv: &Path, python: &Path, packages: &[&str]) -> Result<()> {
        let noted = python.with_file_name("headroom-uncompiled");
        let there = || fs::read_to_string(&noted).is_ok_and(|text| text == packages.join("\n"));
        let title = format!("Python packages of {}, uncompiled", self.name);
        step(
            &mut Progress::default(),
            &title,
            "about a minute",
            || there().then_some(()),
            || {
                let install = |more: &[&str]| -> Result<Command> {
                    let mut install = self.uv(uv)?;
                    install.args(["pip", "install", "--quiet", "--python"]).arg(python).args(more);
                    Ok(install)
                };
                process::run(&mut install(&["setuptools", "wheel", "packaging", "ninja", "einops"])?, FIX)?;
                let mut own = install(&["--no-deps", "--no-build-isolation"])?;
                for package in ["MAMBA", "CAUSAL_CONV1D"] {
                    own.env(format!("{package}_SKIP_CUDA_BUILD"), "TRUE").env(format!("{package}_FORCE_BUILD"), "TRUE");
                }
                process::run(own.args(packages), FIX)?;
                fs::write(&noted, packages.join("\n")).map_err(|error| {
                    Failure::new(format!("{} cannot be written ({error}): check its permissions.", noted.display()))
                })
            },
        )
    }

    fn wanted(&self, newest: bool) -> Vec<String> {
        let named = iter::once(TORCH).filter(|_| self.holds == Holds::Torch).chain(self.packages.iter().copied());
        // Never an earlier release: what others ask for may be met by one that asks for less.
        named.map(|package| if newest { package.replace("==", ">=") } else { package.to_owned() }).collect()
    }

    /// torch's CPU build where its own registry can be reached; else the one that any package registry has.
    fn torch_backend(&self, uv: &Path, python: &Path) -> Result<Vec<&'static str>> {
        let mut asked = self.uv(uv)?;
        asked.args([
            "pip",
            "install",
            "--quiet",
            "--dry-run",
            "--no-deps",
            "--torch-backend",
            "cpu",
            TORCH,
            "--python",
        ]);
        asked.arg(python).stdout(Stdio::null()).stderr(Stdio::null());
        if asked.status().is_ok_and(|status| status.success()) {
            return Ok(vec!["--torch-backend", "cpu"]);
        }
        println!("set-up: torch's CPU builds cannot be reached from here: taking the one with CUDA's libraries");
        Ok(Vec::new())
    }

    /// `uv` with its own cache beside the environments, which then share one copy of each file, and pip's registry.
    fn uv(&self, uv: &Path) -> Result<Command> {
        let mut command = Command::new(uv);
        command.env("UV_CACHE_DIR", checkout::cache()?.join("uv-cache"));
        let as_pip = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
        let settings: [(&str, Option<OsString>); 3] = [
            ("UV_DEFAULT_INDEX", as_pip("PIP_INDEX_URL")),
            ("SSL_CERT_FILE", as_pip("PIP_CERT")),
            ("UV_FIND_LINKS", as_pip("PIP_FIND_LINKS")),
        ];
        for (name, value) in settings {
            if let Some(value) = value.filter(|_| env::var_os(name).is_none()) {
                command.env(name, value);
            }
        }
        Ok(command)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_are_no_earlier_ones() {
        let of = Environment { name: "x", packages: &["axolotl==0.19.0", "PyYAML"], holds: Holds::Torch };
        assert_eq!(of.wanted(false), [TORCH, "axolotl==0.19.0", "PyYAML"]);
        assert_eq!(of.wanted(true), ["torch>=2.15.0", "axolotl>=0.19.0", "PyYAML"]);
        assert_eq!(Environment { holds: Holds::Nothing, ..of }.wanted(true), ["axolotl>=0.19.0", "PyYAML"]);
    }
}
