//! Runs the program.
#![allow(dead_code, unreachable_pub, missing_docs)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// What a run left.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Ran {
    #[track_caller]
    pub fn json(&self) -> serde_json::Value {
        assert_eq!(self.code, 0, "{}", self.err);
        serde_json::from_str(&self.out).expect("standard output is JSON")
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("output is UTF-8");
        Self {
            code: output.status.code().expect("ended by itself"),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_headroom"));
    command.args(args).stdin(Stdio::null());
    command
}

pub fn headroom(args: &[&str]) -> Ran {
    command(args).output().expect("runs").into()
}

/// What it writes where that is no text.
#[track_caller]
pub fn headroom_bytes(args: &[&str]) -> Vec<u8> {
    let output = command(args).output().expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

pub fn headroom_with_input(args: &[&str], input: &str) -> Ran {
    let mut child =
        command(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    child.stdin.take().expect("piped").write_all(input.as_bytes()).expect("reads");
    child.wait_with_output().expect("ends").into()
}

/// Standard output is a pipe that nobody reads.
pub fn headroom_without_reader(args: &[&str]) -> Ran {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    command(args).stdout(writer).output().expect("runs").into()
}

/// Writes a file of cases for one test and gives its path.
pub fn case_file(name: &str, text: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, text).expect("written");
    path.to_str().expect("UTF-8").to_owned()
}

/// Path of a fixture plan.
pub fn plan_file(name: &str) -> String {
    format!("{}/tests/plans/{name}.json", env!("CARGO_MANIFEST_DIR"))
}
