//! The commands, and how the command line is read.

use std::ffi::OsString;
use std::io::Write;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};

use crate::advise::{self, AdviseOptions};
use crate::catalogue::Listing;
use crate::chart::{self, ChartOptions};
use crate::compare::{self, CompareOptions};
use crate::diagnose::{self, DiagnoseOptions};
use crate::estimate::{self, EstimateOptions};
use crate::export::{self, ExportOptions};
use crate::import::{self, ImportOptions};
use crate::link::{self, LinkOptions};
use crate::lint::{self, LintOptions};
use crate::outcome::{Failure, Outcome};
use crate::solve::{self, SolveOptions};
use crate::validate::{self, ValidateOptions};
use crate::validate_speed::{self, ValidateSpeedOptions};
use crate::{catalogue, input};

const AFTER_HELP: &str = "\
PLAN is a JSON file, JSON text, a link or its fragment, or - for standard input (also without PLAN).
Models and GPUs go by any name that means one: \"model=llama 3.1 8b&gpu=rtx4090\".

Exit code: 0 it worked; 1 it worked, and the plan or its evaluation does not fit (estimate --check),
nothing fits (solve), or a file contradicts itself (lint); 2 bad input, or too little of it: what is said names what is wrong or missing.";

/// headroom: whether a training run fits in GPU memory, and where every byte goes.
#[derive(Parser)]
#[command(name = "headroom", version, after_help = AFTER_HELP, args_override_self = true, max_term_width = 100)]
pub(crate) struct Program {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    own: OwnModel,
}

/// A model that no one here knows: options of every command that takes a plan.
#[derive(clap::Args)]
struct OwnModel {
    /// A recorded program, for a class of models that is not known here (docs/own-models.md).
    #[arg(long = "program", value_name = "FILE", global = true)]
    programs: Vec<String>,
    /// A config.json in place of the plan's model.
    #[arg(long, value_name = "FILE", global = true)]
    config: Option<String>,
}

/// A command with its options.
#[derive(Subcommand)]
enum Command {
    /// What a plan needs, phase by phase and byte by byte.
    Estimate(EstimateOptions),
    /// What to change so that a plan fits, or uses the GPU.
    Advise(AdviseOptions),
    /// The most that fits, the fewest or the smallest GPUs.
    Solve(SolveOptions),
    /// A plan beside its alternatives, or beside another plan.
    Compare(CompareOptions),
    /// A picture of a plan as an SVG file.
    Chart(ChartOptions),
    /// A plan, or two that are compared, as a link; its title; what a link says.
    Link(LinkOptions),
    /// What files of trainers and launch commands say, as a plan.
    Import(ImportOptions),
    /// A plan as files that the real tools run.
    Export(ExportOptions),
    /// What the text of a failure, a monitor or a memory snapshot states, and what is behind it.
    Diagnose(DiagnoseOptions),
    /// What contradicts itself in files of trainers and launch commands.
    Lint(LintOptions),
    /// The models that plans can name.
    Models(Listing),
    /// The GPUs that plans can name.
    Gpus(Listing),
    /// Compares estimates with measurements.
    Validate(ValidateOptions),
    /// Compares relative step times with published ones.
    ValidateSpeed(ValidateSpeedOptions),
}

/// What the command line asks for.
pub(crate) enum Asked {
    /// To do something.
    Run(Program),
    /// To print this: help, or the version.
    Print(String),
}

impl Program {
    /// Reads the command line, of which the first word is the program.
    pub(crate) fn from_args(args: impl IntoIterator<Item = OsString>) -> Result<Asked, Failure> {
        match Self::try_parse_from(args) {
            Ok(program) if program.command.is_none() => Ok(Asked::Print(Self::command().render_help().to_string())),
            Ok(program) => Ok(Asked::Run(program)),
            Err(error) => match error.kind() {
                ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Asked::Print(error.render().to_string())),
                _ => Err(Failure::BadInput(in_one_line(&error.render().to_string()))),
            },
        }
    }

    /// Does what it asks for.
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Outcome, Failure> {
        let Some(command) = self.command else { return Ok(Outcome::Fine) };
        input::use_own(&self.own.programs, self.own.config.as_deref())?;
        match command {
            Command::Estimate(options) => return estimate::run(&options, out),
            Command::Advise(options) => advise::run(&options, out)?,
            Command::Solve(options) => return solve::run(&options, out),
            Command::Diagnose(options) => return diagnose::run(&options, out),
            Command::Import(options) => return import::run(&options, out),
            Command::Export(options) => return export::run(&options, out),
            Command::Lint(options) => return lint::run(&options, out),
            Command::Compare(options) => compare::run(&options, out)?,
            Command::Chart(options) => chart::run(&options, out)?,
            Command::Link(options) => link::run(&options, out)?,
            Command::Models(listing) => catalogue::models(&listing, out)?,
            Command::Gpus(listing) => catalogue::gpus(&listing, out)?,
            Command::Validate(options) => validate::run(&options, out)?,
            Command::ValidateSpeed(options) => validate_speed::run(&options, out)?,
        }
        Ok(Outcome::Fine)
    }
}

/// What clap says about a mistake over several lines, in one: what is wrong, what may have been meant, which help to ask for.
fn in_one_line(rendered: &str) -> String {
    let mut said = String::new();
    let mut helper = "headroom".to_owned();
    for line in rendered.lines().map(str::trim).filter(|line| !line.is_empty()) {
        if let Some(usage) = line.strip_prefix("Usage: ") {
            let is_name = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
            helper = usage.split(' ').take_while(is_name).collect::<Vec<_>>().join(" ");
        } else if !line.starts_with("For more information") {
            let line = line.strip_prefix("error: ").unwrap_or(line);
            let between = if said.is_empty() || said.ends_with(':') { "" } else { ";" };
            let gap = if said.is_empty() { "" } else { " " };
            said.push_str(&format!("{between}{gap}{line}"));
        }
    }
    format!("{said}; see {helper} --help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Program::command().debug_assert();
    }

    #[test]
    fn a_mistake_is_told_in_one_line() {
        let rendered = "error: unexpected argument '--al' found\n\n  tip: a similar argument exists: '--all'\n\n\
                        Usage: headroom estimate --all [PLAN]\n\nFor more information, try '--help'.\n";
        let expected = "unexpected argument '--al' found; tip: a similar argument exists: '--all'; \
                        see headroom estimate --help";
        assert_eq!(in_one_line(rendered), expected);
        let missing = "error: the following required arguments were not provided:\n  <CASES>...\n\n\
                       Usage: headroom validate <CASES>...\n";
        let expected = "the following required arguments were not provided: <CASES>...; see headroom validate --help";
        assert_eq!(in_one_line(missing), expected);
    }
}
