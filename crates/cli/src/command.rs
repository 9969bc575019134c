//! The commands and their options.

use std::ffi::OsString;
use std::io::Write;

use lexopt::prelude::*;

use crate::validate::{self, ValidateOptions};
use crate::{Failure, Outcome};

const HELP: &str = "\
headroom: whether a training run fits in GPU memory, and where every byte goes

Usage:
  headroom validate CASES.jsonl [--json] [--terms]    compare estimates with measurements
  headroom --help | --version

Options of validate:
  --json             machine-readable
  --terms            compare the terms and phases of a case, too, where it has them
  --group TEXT       only cases of that group
  --id TEXT          only cases whose id contains TEXT
  --metric TEXT      only metrics whose name contains TEXT
  --worst N          only the N rows with the largest |error|, largest first
  --summary          only the summary
  --all              every row, in the order of the file (the default)

CASES.jsonl is a file, or - for standard input.
Exit code: 0 it worked (and, with --check, the plan fits), 1 it does not fit, 2 bad input.
";

/// A command with its options.
pub(crate) enum Command {
    /// Prints how to use the program.
    Help,
    /// Prints its version.
    Version,
    /// Compares estimates with measurements.
    Validate(ValidateOptions),
}

impl Command {
    /// Reads the command line.
    pub(crate) fn from_args(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        match parser.next()? {
            None | Some(Long("help") | Short('h')) => Ok(Self::Help),
            Some(Long("version") | Short('V')) => Ok(Self::Version),
            Some(Value(name)) => match text(name)?.as_str() {
                "help" => Ok(Self::Help),
                "validate" => Self::validate(parser),
                other => Err(Failure::BadInput(format!("unknown command {other}; see headroom --help"))),
            },
            Some(other) => Err(other.unexpected().into()),
        }
    }

    fn validate(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        let mut options = ValidateOptions::default();
        let mut path = None;
        while let Some(arg) = parser.next()? {
            match arg {
                Long("json") => options.json = true,
                Long("terms") => options.terms = true,
                Long("summary") => options.summary_only = true,
                Long("all") => {
                    options.worst = None;
                    options.summary_only = false;
                }
                Long("group") => options.group = Some(text(parser.value()?)?),
                Long("id") => options.id = Some(text(parser.value()?)?),
                Long("metric") => options.metric = Some(text(parser.value()?)?),
                Long("worst") => options.worst = Some(parser.value()?.parse()?),
                Long("help") | Short('h') => return Ok(Self::Help),
                Value(value) if path.is_none() => path = Some(text(value)?),
                other => return Err(other.unexpected().into()),
            }
        }
        options.path = path.ok_or_else(|| {
            Failure::BadInput(
                "validate needs a file of cases, one JSON object a line, or - for standard input".to_owned(),
            )
        })?;
        Ok(Self::Validate(options))
    }

    /// Does it.
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Outcome, Failure> {
        match self {
            Self::Help => out.write_all(HELP.as_bytes())?,
            Self::Version => writeln!(out, "headroom {}", env!("CARGO_PKG_VERSION"))?,
            Self::Validate(options) => validate::run(&options, out)?,
        }
        Ok(Outcome::Fine)
    }
}

fn text(value: OsString) -> Result<String, Failure> {
    value.into_string().map_err(|value| Failure::BadInput(format!("{} is not UTF-8", value.to_string_lossy())))
}
