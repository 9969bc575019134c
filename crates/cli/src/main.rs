//! `headroom`: the page's answers in a terminal and for scripts.
//!
//! Exit codes: 0, it worked. 1, the answer is no: the plan does not fit, a search finds nothing, a file contradicts itself. 2, bad input,
//! with one clear line on standard error, or input that lacks what the answer names.

mod advise;
mod catalogue;
mod chart;
mod command;
mod compare;
mod diagnose;
mod difference;
mod estimate;
mod export;
mod import;
mod input;
mod json;
mod layout;
mod levers;
mod link;
mod lint;
mod outcome;
mod raster;
mod solve;
mod validate;
mod validate_speed;

use std::io::{self, ErrorKind, Write};
use std::process::ExitCode;

use command::{Asked, Program};
use outcome::{Failure, Outcome};

fn main() -> ExitCode {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let result = Program::from_args(std::env::args_os())
        .and_then(|asked| match asked {
            Asked::Run(program) => program.run(&mut out),
            Asked::Print(text) => Ok(out.write_all(text.as_bytes()).map(|()| Outcome::Fine)?),
        })
        .and_then(|outcome| out.flush().map(|()| outcome).map_err(Failure::from));
    match result {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::DoesNotFit | Outcome::Faulty) => ExitCode::from(1),
        Ok(Outcome::Incomplete) => ExitCode::from(2),
        // The reader (`head`, `less`) has seen enough: not a fault.
        Err(Failure::Output(error)) if error.kind() == ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            let message = match failure {
                Failure::BadInput(message) => message,
                Failure::Output(error) => format!("cannot write standard output: {error}"),
            };
            // Nothing is left to tell the caller when standard error is closed too.
            let _ = writeln!(io::stderr(), "headroom: {}", input::one_line(&message));
            ExitCode::from(2)
        }
    }
}
