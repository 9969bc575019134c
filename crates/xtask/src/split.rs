//! The engine's module in parts: what a first view calls comes first, the rest when it is called or the browser is idle.
//!
//! Which functions those are is not guessed: the module that was just built is instrumented and answers a newcomer.

use std::fs;
use std::path::Path;

use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;
use crate::rooms::{PROFILE, flags, read};
use crate::setup::{TARGET, Toolbox};

/// The engine's module, as Trunk names it.
const ENGINE: &str = "headroom-worker";

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
    let (instrumented, first, whole) =
        (folder.join("instrumented.wasm"), folder.join("first.txt"), folder.join("whole.txt"));
    // Node takes it for a module by its name.
    let runs = folder.join("engine.mjs");
    copy(&loader, &runs)?;
    let parts = || -> Result<_> {
        let mut tool = Toolbox::default().command(checkout::cargo())?;
        tool.args(["run", "--quiet", "--package", "headroom-parts", "--"]);
        Ok(tool)
    };
    process::run(parts()?.arg("instrument").arg(&module).arg(&instrumented), "the lines above say why.")?;
    let script = checkout::root().join("crates/xtask/src/first_view.mjs");
    let mut node = toolbox.command("node")?;
    node.arg(script).arg(&runs).arg(&instrumented).arg(&first).arg(&whole);
    process::run(&mut node, "the lines above say why.")?;
    let out = folder.join("site");
    // As cargo left it, with the linker's relocations (crates/worker/build.rs).
    let linked = checkout::root().join("target").join(TARGET).join(PROFILE).join(format!("{ENGINE}.wasm"));
    let mut tool = parts()?;
    tool.arg("split").arg(&module).arg("--called").arg(&first).arg("--stage").arg(&whole);
    tool.arg("--relocations").arg(&linked);
    // The room for files is fetched when it is opened, and so are answers for scripts.
    tool.args(["--apart", "headroom_files", "--apart", "headroom_panels::files", "--apart", "headroom_answers"]);
    tool.args(["--largest", "140000", "--prefix", "engine-", "--out"]).arg(&out).arg("--loader").arg(&loader);
    process::run(&mut tool, "the lines above say why.")?;
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
            process::run(&mut shrink, "the lines above say why.")?;
        } else {
            copy(&file.path(), &to)?;
        }
    }
    Ok(())
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
