//! `cargo xtask record`: models recorded as programs, by their own code in transformers.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::checkout;
use crate::exports::of_python;
use crate::failure::{Failure, Result};
use crate::process;
use crate::setup::python::{self, Environment, Holds};

/// The releases that programs are recorded with.
const RECORDER: Environment = Environment {
    name: "record",
    packages: &["transformers==5.23.0", "flash-linear-attention==0.6.0"],
    holds: Holds::Torch,
};

/// Packages with kernels that are recorded from their Python.
const UNCOMPILED: [&str; 2] = ["causal-conv1d==1.7.0", "mamba-ssm==2.3.2.post1"];

/// Records `model_types`, or every class with a causal language model, into `static/programs`, and prints what changed.
pub(crate) fn record(model_types: &[&str], newest: bool) -> Result<()> {
    let root = checkout::root();
    let uv = python::uv()?;
    let python = RECORDER.python(&uv, newest)?;
    RECORDER.add_uncompiled(&uv, &python, &UNCOMPILED)?;
    let mut recorder: Command = of_python(&python, &root);
    recorder.args(["-m", "headroom.record.families", "--out"]).arg(root.join("static/programs")).args(model_types);
    process::run(&mut recorder, "the lines above say which class could not be recorded, and why.")?;
    if model_types.is_empty() {
        record_example(&python, &root)?;
    }
    Ok(())
}

/// The model of one's own of `docs/own-models.md`, whose program the tests estimate.
fn record_example(python: &Path, root: &Path) -> Result<()> {
    let mut recorder = of_python(python, root);
    recorder.args(["-m", "headroom.record"]).arg(root.join("docs/own-model/tiny_gpt.py"));
    recorder.arg("--out").arg(root.join("tests/programs/own/tiny_gpt.json"));
    process::run(&mut recorder, "the line above says what the example of docs/own-models.md lacks.")?;
    let beside = root.join("tests/programs/own/tiny_gpt.config.json");
    fs::remove_file(&beside).map_err(|error| Failure::new(format!("{} cannot be removed: {error}.", beside.display())))
}
