//! Running other programs, with failures that read as a sentence.

use std::process::{Command, Stdio};

use crate::failure::{Failure, Result};

/// Runs `command` to its end with this terminal's output; anything but success is a failure that ends in `fix`.
pub(crate) fn run(command: &mut Command, fix: &str) -> Result<()> {
    let status = command.status().map_err(|error| not_started(command, &error, fix))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{}` ended with {status}: {fix}", line(command)))) }
}

/// What `command` prints on its standard output, if it starts and succeeds.
pub(crate) fn printed(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The sentence for a program that could not be started at all.
pub(crate) fn not_started(command: &Command, error: &std::io::Error, fix: &str) -> Failure {
    Failure::new(format!("`{}` could not be started ({error}): {fix}", command.get_program().display()))
}

/// The command as one would type it, shortened to what tells it apart.
fn line(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let program = program.rsplit('/').next().unwrap_or(&program).to_owned();
    let words = command.get_args().take(6).map(|word| word.to_string_lossy().into_owned());
    std::iter::once(program).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_the_fix() {
        let failure = run(Command::new("sh").args(["-c", "exit 3"]), "try again.").map_err(|f| f.to_string());
        assert_eq!(failure, Err("`sh -c exit 3` ended with exit status: 3: try again.".to_owned()));
    }

    #[test]
    fn a_missing_program_is_a_failure_and_prints_nothing() {
        let mut missing = Command::new("/nonexistent/program");
        assert!(run(&mut missing, "install it.").is_err());
        assert_eq!(printed(&mut missing), None);
    }
}
