//! `cargo xtask`: set-up, serve, build, test, bench, validate, golden. Needs nothing but cargo; brings the rest itself.

mod asked;
mod bench;
mod build;
mod checkout;
mod exports;
mod failure;
mod fuzz;
mod links;
mod minify;
mod package;
mod process;
mod record;
mod release;
mod rooms;
mod serve;
mod setup;
mod size;
mod split;
mod test;
mod trim;
mod validate;

use std::env;
use std::process::ExitCode;

use failure::{Failure, Result};

const USAGE: &str = "\
cargo xtask serve [--port N]   the page on 127.0.0.1, built anew and reloaded on every change
cargo xtask build              the optimised static site in dist/
cargo xtask package            the core for scripts, as an npm package and a Python wheel, in target/packages
cargo xtask package --check    the same, and whether they answer 2,000 plans to the byte like terminal and page
cargo xtask release            the site as an archive with checksums, in target/release-archive
cargo xtask release --check    whether two builds of the last commit, each from nothing, are the same to the byte
cargo xtask test               all tests: native, in wasm, and of the release build in a real browser
cargo xtask test --only PART   one part of them: rust, wasm or e2e; what follows e2e goes to Playwright
cargo xtask test --docs-sites  documentation sites with embedded plans, built by the seven tools of docs/embedding.md
cargo xtask size               whose the bytes of the page's modules are, and what changed since that was recorded
cargo xtask size --record      the same, and records them as they are now
cargo xtask bench              how fast the core answers
cargo xtask bench --browser    how fast it does in the browser, built as the page is
cargo xtask validate           every case of tests/validation anew: report, picture, and the page's table of them
cargo xtask validate --check   only whether those are up to date
cargo xtask golden --check     which answers to thousands of plans moved since they were recorded, and by how much
cargo xtask golden             the same, and records the answers as they are now
cargo xtask fuzz [READER]      coverage-guided fuzzing of the readers of files, ten minutes each; --minutes N
cargo xtask check-links        100,000 random plans and 1,000,000 mutated links (the suite: a hundredth of each)
cargo xtask record             models recorded as programs, all of transformers or those named (several GB)
cargo xtask record --newest    the same with the latest transformers: what changes, in bytes, becomes a version of its program
cargo xtask record --check     whether a few classes, or those named, are recorded as the repository has them
cargo xtask check-exports      exported files loaded by the libraries that run them; formats may follow (several GB)
cargo xtask check-exports --newest   the same with their latest releases: which defaults have moved
cargo xtask setup              only install what the other commands need

Each command first installs what the machine lacks, once, into ~/.cache/headroom (or $HEADROOM_CACHE).";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[String]) -> Result<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["serve"] => serve::serve(None),
        ["serve", "--port", port] => {
            let port =
                port.parse().map_err(|_| Failure::new(format!("`{port}` is no port: give one from 1 to 65535.")))?;
            serve::serve(Some(port))
        }
        ["build"] => build::build(),
        ["package"] => package::package(),
        ["package", "--check"] => package::check(),
        ["release"] => release::release(),
        ["release", "--check"] => release::check(),
        ["test"] => test::test(None, &[]),
        ["test", "--docs-sites"] => test::test(Some(test::Part::DocsSites), &[]),
        ["test", "--only", part] => test::test(Some(test::Part::named(part)?), &[]),
        ["test", "--only", "e2e", filter @ ..] => test::test(Some(test::Part::EndToEnd), filter),
        ["size"] => rooms::size(false),
        ["size", "--record"] => rooms::size(true),
        ["bench"] => bench::bench(),
        ["bench", "--browser"] => bench::bench_in_browser(),
        ["validate"] => validate::validate(&[]),
        ["validate", "--check"] => validate::validate(&["--check"]),
        ["golden"] => validate::validate(&["golden"]),
        ["golden", "--check"] => validate::validate(&["golden", "--check"]),
        ["fuzz"] => fuzz::fuzz(None, 10),
        ["fuzz", reader] => fuzz::fuzz(Some(reader), 10),
        ["fuzz", "--minutes", minutes] => fuzz::fuzz(None, of_minutes(minutes)?),
        ["fuzz", reader, "--minutes", minutes] => fuzz::fuzz(Some(reader), of_minutes(minutes)?),
        ["check-links"] => links::check(),
        ["record", "--newest", model_types @ ..] => record::record(model_types, true),
        ["record", "--check", model_types @ ..] => record::check(model_types),
        ["record", model_types @ ..] => record::record(model_types, false),
        ["check-exports", "--newest", formats @ ..] => exports::check(formats, true),
        ["check-exports", formats @ ..] => exports::check(formats, false),
        ["setup"] => setup::for_building(None).and_then(|mut toolbox| setup::for_browser_tests(&mut toolbox)),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(())
        }
        _ => Err(Failure::new(format!("`cargo xtask {}` is no command; these are:\n\n{USAGE}", words.join(" ")))),
    }
}

fn of_minutes(text: &str) -> Result<u64> {
    text.parse().map_err(|_| Failure::new(format!("`{text}` is no number of minutes.")))
}
