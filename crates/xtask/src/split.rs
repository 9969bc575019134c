//! The engine's module in parts: what a first view runs comes first, the rest when it is called or the browser is idle.
//!
//! What that is is not guessed: the module that was just built is instrumented and answers a newcomer, once to learn what of its functions
//! did not run, which then become functions of their own, and once more to learn which functions are called.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;
use crate::rooms::{PROFILE, flags, read};
use crate::setup::{TARGET, Toolbox};

/// The engine's module, as Trunk names it.
const ENGINE: &str = "headroom-worker";

/// What is called by the first views of four kinds of links, by a reader of Chinese, by embedded plans, and by the whole page.
const STAGES: usize = 7;

/// Splits the engine of the site in `dist`.
pub(crate) fn split(toolbox: &Toolbox, dist: &Path) -> Result<()> {
    let folder = checkout::root().join("target").join("parts");
    // What an older build left would be taken for this one's.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).map_err(|error| {
        Failure::new(format!("{} cannot be created ({error}): check its permissions.", folder.display()))
    })?;
    let module = dist.join(format!("{ENGINE}_bg.wasm"));
    let loader = dist.join(format!("{ENGINE}.js"));
    let file = |name: &str| folder.join(name);
    // Node takes it for a module by its name.
    let runs = file("engine.mjs");
    copy(&loader, &runs)?;
    let script = checkout::root().join("crates/xtask/src/first_view.mjs");
    let (marked, ran, cut) = (file("marked.wasm"), file("ran.txt"), file("cut.wasm"));
    run(parts()?.arg("mark").arg(&module).arg(&marked))?;
    run(toolbox.command("node")?.arg(&script).args([&runs, &marked, &ran]))?;
    let answers = checkout::root().join("crates/xtask/src/first_answers.mjs");
    run(toolbox.command("node")?.arg(&answers).args([&runs, &module]).arg(dist))?;
    // What of the allocator runs is decided by what came before: a part for the rest of it would be fetched at any time.
    run(parts()?.arg("outline").args([&module, &ran, &cut]).arg("dlmalloc"))?;
    let (instrumented, first) = (file("instrumented.wasm"), file("first.txt"));
    // As many as crates/xtask/src/first_view.mjs writes.
    let stages: Vec<_> = (1..=STAGES).map(|number| file(&format!("stage-{number}.txt"))).collect();
    run(parts()?.arg("instrument").args([&cut, &instrumented]))?;
    run(toolbox.command("node")?.arg(&script).args([&runs, &instrumented, &first]).args(&stages))?;
    let out = folder.join("site");
    // As cargo left it, with the linker's relocations (crates/worker/build.rs).
    let linked = checkout::target().join(TARGET).join(PROFILE).join(format!("{ENGINE}.wasm"));
    let mut tool = parts()?;
    tool.arg("split").arg(&cut).arg("--called").arg(&first);
    for stage in &stages {
        tool.arg("--stage").arg(stage);
    }
    tool.arg("--relocations").arg(&linked);
    // The room for files is fetched when it is opened, and so are answers for scripts.
    tool.args(["--apart", "headroom_files", "--apart", "headroom_panels::files", "--apart", "headroom_answers"]);
    tool.args(["--largest", "140000", "--prefix", "engine-", "--out"]).arg(&out).arg("--loader").arg(&loader);
    run(&mut tool)?;
    let page = read(&checkout::root().join("www").join("index.html"))?;
    let flags = flags(&page)?;
    let listed = fs::read_dir(&out)
        .map_err(|error| Failure::new(format!("{} cannot be read ({error}): run the command again.", out.display())))?;
    for file in listed.flatten() {
        let name = file.file_name();
        let to = if name == "engine-first.wasm" { module.clone() } else { dist.join(&name) };
        if to.extension().is_some_and(|extension| extension == "wasm") {
            let mut shrink = toolbox.command("wasm-opt")?;
            shrink.arg("-Oz").args(&flags).arg(file.path()).arg("--output").arg(&to);
            run(&mut shrink)?;
        } else {
            copy(&file.path(), &to)?;
        }
    }
    Ok(())
}

/// `headroom-parts`.
pub(crate) fn parts() -> Result<Command> {
    let mut tool = Toolbox::default().command(checkout::cargo())?;
    tool.args(["run", "--quiet", "--package", "headroom-parts", "--"]);
    Ok(tool)
}

pub(crate) fn run(command: &mut Command) -> Result<()> {
    process::run(command, "the lines above say why.")
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).map_err(|error| {
        Failure::new(format!(
            "{} cannot be copied to {} ({error}): run the command again.",
            from.display(),
            to.display()
        ))
    })
}
