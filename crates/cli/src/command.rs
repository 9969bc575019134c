//! The commands and their options.

use std::ffi::OsString;
use std::io::Write;

use headroom_charts::Palette;
use headroom_core::link;
use lexopt::prelude::*;

use crate::advise::{self, AdviseOptions};
use crate::catalogue::Listing;
use crate::chart::{self, ChartOptions, Kind};
use crate::compare::{self, CompareOptions};
use crate::estimate::{self, EstimateOptions};
use crate::solve::{self, Question, SolveOptions};
use crate::validate::{self, ValidateOptions};
use crate::validate_speed::{self, ValidateSpeedOptions};
use crate::{Failure, Outcome, catalogue, difference};

const HELP: &str = "\
headroom: whether a training run fits in GPU memory, and where every byte goes

Usage:
  headroom estimate [PLAN] [--json] [--all] [--check] what a plan needs, phase by phase and byte by byte
  headroom advise [PLAN] [--json]                     what to change so that it fits, or uses the card
  headroom solve [PLAN] [--max WHAT | --min WHAT]     the most that fits, the fewest or smallest cards
  headroom compare [PLAN] [--json]                    the plan beside its alternatives
  headroom compare PLAN OTHER [--json]                two plans side by side
  headroom chart [PLAN] --svg [--phases | --waterfall | --map] [--dark]   a picture of it as an SVG file
  headroom link [PLAN]                                the plan as a link's fragment
  headroom models | gpus [TEXT] [--json]              what plans can name, and what TEXT finds of it
  headroom validate CASES... [--json] [--terms]       compare estimates with measurements
  headroom validate-speed ROWS.jsonl [--json]         compare relative step times with published ones
  headroom --help | --version

PLAN is a JSON file, JSON text, a link or its fragment, or - for standard input (also without PLAN).
Models and GPUs go by any name that means one: \"model=llama 3.1 8b&gpu=rtx4090\".

Options of estimate:
  --json             machine-readable
  --all              every allocation at the peak, however small
  --check            exit with 1 when the plan does not fit

Options of advise:
  --json             machine-readable
  --target LOW-HIGH  where an idle card is filled to, in per cent of it (default 75-90)
  --summary          what the run should say before it starts, and a checklist, instead of advice
  --markdown         the same as Markdown

Options of solve:
  --max WHAT         batch, length, rank, generations, completion_length or model
  --min WHAT         cards or card
  --json             machine-readable

Options of chart:
  --svg              SVG, the only format
  --phases           memory over the phases of a step instead of the comparison
  --waterfall        what each change of the advice saves, in turn; with a second PLAN, each change on the way there
  --map              batch size by length, coloured by use of the card
  --dark             colours for a dark ground
  --width PIXELS     default 1000; narrow pictures have rows instead of columns
  --height PIXELS    default 420, for columns

Options of validate:
  --json             machine-readable
  --terms            compare the terms and phases of a case, too, where it has them
  --group TEXT       only cases of that group
  --id TEXT          only cases whose id contains TEXT
  --metric TEXT      only metrics whose name contains TEXT
  --worst N          only the N rows with the largest |error|, largest first
  --summary          only the summary
  --all              every row, in the order of the file (the default)

Options of validate-speed:
  --json             machine-readable
  --group TEXT       only groups whose name contains TEXT
  --summary          only the groups
  --all              rows of lower confidence, too
  --plans            instead of comparing, each row with the plan it is read as

CASES and ROWS.jsonl are files with one JSON object a line, or - for standard input.
Exit code: 0 it worked (and, with --check, the plan fits), 1 it does not fit, 2 bad input.
";

/// A command with its options.
pub(crate) enum Command {
    /// Prints how to use the program.
    Help,
    /// Prints its version.
    Version,
    /// Says what a plan needs.
    Estimate(EstimateOptions),
    /// Says what to change.
    Advise(AdviseOptions),
    /// Says what fits at most.
    Solve(SolveOptions),
    /// Sets it beside its alternatives, or beside another plan.
    Compare(CompareOptions),
    /// Draws them.
    Chart(ChartOptions),
    /// Writes it as a link.
    Link(Option<String>),
    /// Lists the models.
    Models(Listing),
    /// Lists the cards.
    Gpus(Listing),
    /// Compares estimates with measurements.
    Validate(ValidateOptions),
    /// Compares relative step times with published ones.
    ValidateSpeed(ValidateSpeedOptions),
}

impl Command {
    /// Reads the command line.
    pub(crate) fn from_args(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        match parser.next()? {
            None | Some(Long("help") | Short('h')) => Ok(Self::Help),
            Some(Long("version") | Short('V')) => Ok(Self::Version),
            Some(Value(name)) => match text(name)?.as_str() {
                "help" => Ok(Self::Help),
                "estimate" => Self::estimate(parser),
                "advise" => Self::advise(parser),
                "solve" => Self::solve(parser),
                "compare" => Self::compare(parser),
                "chart" => Self::chart(parser),
                "link" => Self::link(parser),
                "models" => Self::list(parser, Self::Models),
                "gpus" => Self::list(parser, Self::Gpus),
                "validate" => Self::validate(parser),
                "validate-speed" => Self::validate_speed(parser),
                other => Err(Failure::BadInput(format!("unknown command {other}; see headroom --help"))),
            },
            Some(other) => Err(other.unexpected().into()),
        }
    }

    fn estimate(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        let mut options = EstimateOptions::default();
        while let Some(arg) = parser.next()? {
            match arg {
                Long("json") => options.json = true,
                Long("all") => options.all = true,
                Long("check") => options.check = true,
                Long("help") | Short('h') => return Ok(Self::Help),
                Value(value) if options.source.is_none() => options.source = Some(text(value)?),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Self::Estimate(options))
    }

    fn advise(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        let mut options = AdviseOptions::default();
        while let Some(arg) = parser.next()? {
            match arg {
                Long("json") => options.json = true,
                Long("summary") => options.summary = true,
                Long("markdown") => (options.summary, options.markdown) = (true, true),
                Long("target") => {
                    let shares = text(parser.value()?)?;
                    let known = "--target takes two percentages of the card such as 75-90";
                    let target = advise::target_from(&shares);
                    options.target = target.ok_or_else(|| Failure::BadInput(format!("{known}, not {shares}")))?;
                }
                Long("help") | Short('h') => return Ok(Self::Help),
                Value(value) if options.source.is_none() => options.source = Some(text(value)?),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Self::Advise(options))
    }

    fn solve(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        let mut options = SolveOptions::default();
        while let Some(arg) = parser.next()? {
            match arg {
                Long("json") => options.json = true,
                Long("max") => {
                    let name = text(parser.value()?)?;
                    let known = "--max takes batch, length, rank, generations, completion_length or model";
                    let question = Question::from_name(&name);
                    options.question = Some(question.ok_or_else(|| Failure::BadInput(format!("{known}, not {name}")))?);
                }
                Long("min") => {
                    options.question = Some(match text(parser.value()?)?.as_str() {
                        "cards" => Question::Cards,
                        "card" => Question::Card,
                        other => return Err(Failure::BadInput(format!("--min takes cards or card, not {other}"))),
                    });
                }
                Long("help") | Short('h') => return Ok(Self::Help),
                Value(value) if options.source.is_none() => options.source = Some(text(value)?),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Self::Solve(options))
    }

    fn compare(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        let mut options = CompareOptions::default();
        while let Some(arg) = parser.next()? {
            match arg {
                Long("json") => options.json = true,
                Long("help") | Short('h') => return Ok(Self::Help),
                Value(value) if options.source.is_none() => options.source = Some(text(value)?),
                Value(value) if options.other.is_none() => options.other = Some(text(value)?),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Self::Compare(options))
    }

    fn chart(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        let mut options = ChartOptions::default();
        while let Some(arg) = parser.next()? {
            match arg {
                Long("svg") => {}
                Long("phases") => options.kind = Kind::Phases,
                Long("waterfall") => options.kind = Kind::Waterfall,
                Long("map") => options.kind = Kind::Map,
                Long("dark") => options.palette = Palette::Dark,
                Long("width") => options.width = parser.value()?.parse()?,
                Long("height") => options.height = parser.value()?.parse()?,
                Long("help") | Short('h') => return Ok(Self::Help),
                Value(value) if options.source.is_none() => options.source = Some(text(value)?),
                Value(value) if options.other.is_none() => options.other = Some(text(value)?),
                other => return Err(other.unexpected().into()),
            }
        }
        if options.other.is_some() && options.kind != Kind::Waterfall {
            return Err(Failure::BadInput("chart takes a second plan only with --waterfall".to_owned()));
        }
        Ok(Self::Chart(options))
    }

    fn link(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        let mut source = None;
        while let Some(arg) = parser.next()? {
            match arg {
                Long("help") | Short('h') => return Ok(Self::Help),
                Value(value) if source.is_none() => source = Some(text(value)?),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(Self::Link(source))
    }

    fn list(mut parser: lexopt::Parser, command: fn(Listing) -> Self) -> Result<Self, Failure> {
        let mut listing = Listing::default();
        while let Some(arg) = parser.next()? {
            match arg {
                Long("json") => listing.json = true,
                Long("help") | Short('h') => return Ok(Self::Help),
                // `headroom gpus rtx 4090` needs no quotes.
                Value(word) => listing.text = format!("{} {}", listing.text, text(word)?).trim().to_owned(),
                other => return Err(other.unexpected().into()),
            }
        }
        Ok(command(listing))
    }

    fn validate(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        let mut options = ValidateOptions::default();
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
                Value(value) => options.paths.push(text(value)?),
                other => return Err(other.unexpected().into()),
            }
        }
        if options.paths.is_empty() {
            return Err(Failure::BadInput(
                "validate needs a file of cases, one JSON object a line, or - for standard input".to_owned(),
            ));
        }
        Ok(Self::Validate(options))
    }

    fn validate_speed(mut parser: lexopt::Parser) -> Result<Self, Failure> {
        let mut options = ValidateSpeedOptions::default();
        let mut path = None;
        while let Some(arg) = parser.next()? {
            match arg {
                Long("json") => options.json = true,
                Long("summary") => options.summary_only = true,
                Long("all") => options.all = true,
                Long("plans") => options.plans = true,
                Long("group") => options.group = Some(text(parser.value()?)?),
                Long("help") | Short('h') => return Ok(Self::Help),
                Value(value) if path.is_none() => path = Some(text(value)?),
                other => return Err(other.unexpected().into()),
            }
        }
        let missing = "validate-speed needs a file of rows, one JSON object a line, or - for standard input";
        options.path = path.ok_or_else(|| Failure::BadInput(missing.to_owned()))?;
        Ok(Self::ValidateSpeed(options))
    }

    /// Does it.
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<Outcome, Failure> {
        match self {
            Self::Help => out.write_all(HELP.as_bytes())?,
            Self::Version => writeln!(out, "headroom {}", env!("CARGO_PKG_VERSION"))?,
            Self::Estimate(options) => return estimate::run(&options, out),
            Self::Advise(options) => advise::run(&options, out)?,
            Self::Solve(options) => solve::run(&options, out)?,
            Self::Compare(options) if options.other.is_some() => difference::run(&options, out)?,
            Self::Compare(options) => compare::run(&options, out)?,
            Self::Chart(options) => chart::run(&options, out)?,
            Self::Link(source) => {
                let plan = estimate::plan_from(source.as_deref())?;
                writeln!(out, "#{}", link::encode(&plan))?;
            }
            Self::Models(listing) => catalogue::models(&listing, out)?,
            Self::Gpus(listing) => catalogue::gpus(&listing, out)?,
            Self::Validate(options) => validate::run(&options, out)?,
            Self::ValidateSpeed(options) => validate_speed::run(&options, out)?,
        }
        Ok(Outcome::Fine)
    }
}

fn text(value: OsString) -> Result<String, Failure> {
    value.into_string().map_err(|value| Failure::BadInput(format!("{} is not UTF-8", value.to_string_lossy())))
}
