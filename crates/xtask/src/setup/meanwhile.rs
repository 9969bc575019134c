//! What is compiled of the page while the tools are being installed.

use std::process::{Child, Command, Stdio};

use super::wasm_target::TARGET;

/// A build in the background. What it compiles, the real build finds done; what it cannot, the real build reports.
pub(crate) struct Meanwhile {
    package: &'static str,
    profile: Option<&'static str>,
    running: Option<Child>,
}

impl Meanwhile {
    /// Builds `package` with `profile`, as Trunk will; nothing where there is no profile.
    pub(crate) fn of(package: &'static str, profile: Option<&'static str>) -> Self {
        Self { package, profile, running: None }
    }

    /// Begins with `cargo`, unless it has begun.
    pub(super) fn begin(&mut self, mut cargo: Command) {
        let (Some(profile), None) = (self.profile, &self.running) else { return };
        cargo.args(["build", "--quiet", "--target", TARGET, "--package", self.package, "--bin", self.package]);
        cargo.args(["--profile", profile, "--locked"]);
        cargo.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        self.running = cargo.spawn().ok();
        if self.running.is_some() {
            println!("        meanwhile the page's own crates are being compiled");
        }
    }

    /// Waits for its end: a second cargo in the same folder would wait as well, and say less.
    pub(super) fn finish(mut self) {
        let Some(mut running) = self.running.take() else { return };
        if matches!(running.try_wait(), Ok(None)) {
            println!("set-up: every tool is there; the page's crates are still being compiled");
        }
        let _ = running.wait();
    }
}

impl Drop for Meanwhile {
    /// Where set-up fails, nothing of it goes on.
    fn drop(&mut self) {
        if let Some(mut running) = self.running.take() {
            let _ = running.kill();
            let _ = running.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_profile_nothing_is_begun() {
        let mut none = Meanwhile::of("a", None);
        none.begin(Command::new("true"));
        assert!(none.running.is_none());
        none.finish();
    }

    #[test]
    fn what_was_begun_goes_on_once_and_is_waited_for() {
        let mut some = Meanwhile::of("a", Some("b"));
        some.begin(Command::new("true"));
        let first = some.running.as_ref().map(Child::id);
        some.begin(Command::new("true"));
        assert_eq!(some.running.as_ref().map(Child::id), first);
        assert!(first.is_some());
        some.finish();
    }
}
