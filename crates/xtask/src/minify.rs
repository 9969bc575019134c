//! Scripts and styles of the release build without comments, spaces and long names.

use std::fs;
use std::path::Path;

use crate::failure::{Failure, Result};
use crate::process;
use crate::setup::Toolbox;

/// Makes every script and style sheet in `dist` small. Each is a module by itself: nothing is bundled.
pub(crate) fn minify(toolbox: &Toolbox, dist: &Path) -> Result<()> {
    let listed = fs::read_dir(dist).map_err(|error| {
        Failure::new(format!("{} cannot be read ({error}): run the command again.", dist.display()))
    })?;
    let is_ours = |path: &Path| path.extension().is_some_and(|extension| extension == "js" || extension == "css");
    let mut files: Vec<_> = listed.flatten().map(|file| file.path()).filter(|path| is_ours(path)).collect();
    files.sort();
    let mut tool = toolbox.command("esbuild")?;
    tool.args(["--minify", "--allow-overwrite", "--log-level=warning"]).args(&files);
    tool.arg(format!("--outdir={}", dist.display()));
    process::run(&mut tool, "the lines above say why.")
}
