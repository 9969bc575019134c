//! What set-up found or installed, lent to the commands that need it. Nothing outside a child process changes.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::Command;

use crate::checkout;
use crate::failure::{Failure, Result};

/// The tools, and the environment in which they find one another.
#[derive(Default)]
pub(crate) struct Toolbox {
    /// Folders looked into before `PATH`.
    pub(crate) folders: Vec<PathBuf>,
    /// Variables set for every child process.
    pub(crate) variables: Vec<(&'static str, OsString)>,
    /// Variables a child process must not inherit.
    pub(crate) without: Vec<&'static str>,
    /// The cargo that builds for wasm32, where it is not the one that runs this program.
    pub(crate) wasm_cargo: Option<PathBuf>,
    /// The browser, once set-up was asked for one.
    pub(crate) chromium: Option<PathBuf>,
}

impl Toolbox {
    /// `program`, run in the root of the checkout with the tools on its `PATH`.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>) -> Result<Command> {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let folders = self.folders.iter().cloned().chain(env::split_paths(&inherited));
        let path = env::join_paths(folders).map_err(|error| {
            Failure::new(format!("The tool cache cannot be put on PATH ({error}): choose another HEADROOM_CACHE."))
        })?;
        let mut command = Command::new(program);
        command.current_dir(checkout::root()).env("PATH", path);
        for name in &self.without {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (*name, value)));
        Ok(command)
    }

    /// The cargo that builds for wasm32.
    pub(crate) fn wasm_cargo(&self) -> Result<Command> {
        self.command(self.wasm_cargo.clone().unwrap_or_else(checkout::cargo))
    }
}
