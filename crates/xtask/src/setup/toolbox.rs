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
    /// Which step of set-up comes next.
    pub(crate) progress: Progress,
    /// The browser, once set-up was asked for one.
    pub(crate) chromium: Option<PathBuf>,
}

/// How far set-up has come.
#[derive(Clone, Copy, Default)]
pub(crate) struct Progress {
    done: u32,
    of: u32,
}

impl Progress {
    /// At the beginning of so many steps.
    pub(super) fn of(steps: u32) -> Self {
        Self { done: 0, of: steps }
    }

    /// So many more steps than was thought.
    pub(super) fn more(&mut self, steps: u32) {
        self.of += steps;
    }

    /// How the lines of the next step begin; without a count where nobody knows how many there are.
    pub(super) fn next(&mut self) -> String {
        self.done += 1;
        if self.of == 0 { "set-up".to_owned() } else { format!("set-up {} of {}", self.done, self.of) }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_where_their_number_is_known() {
        let mut progress = Progress::of(2);
        assert_eq!(progress.next(), "set-up 1 of 2");
        progress.more(1);
        assert_eq!(progress.next(), "set-up 2 of 3");
        assert_eq!(Progress::default().next(), "set-up");
    }
}
