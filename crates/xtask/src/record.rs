//! `cargo xtask record`: models recorded as programs, by their own code in transformers.

use std::process::Command;

use crate::checkout;
use crate::exports::of_python;
use crate::failure::Result;
use crate::process;
use crate::setup::python::{self, Environment, Holds};

/// The releases that programs are recorded with.
const RECORDER: Environment = Environment {
    name: "record",
    packages: &["transformers==5.23.0", "flash-linear-attention==0.6.0"],
    holds: Holds::Torch,
};

/// Records `model_types`, or every class with a causal language model, into `static/programs`, and prints what changed.
pub(crate) fn record(model_types: &[&str], newest: bool) -> Result<()> {
    let root = checkout::root();
    let python = RECORDER.python(&python::uv()?, newest)?;
    let mut recorder: Command = of_python(&python, &root);
    recorder.args(["-m", "headroom.record.families", "--out"]).arg(root.join("static/programs")).args(model_types);
    process::run(&mut recorder, "the lines above say which class could not be recorded, and why.")
}
