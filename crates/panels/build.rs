//! Lists the recorded programs that lie beside the page: `$OUT_DIR/programs.rs`. The page fetches one when a model of its class is
//! chosen.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let folder = Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../static/programs");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut names: Vec<String> = match fs::read_dir(&folder) {
        Ok(entries) => entries.filter_map(|entry| name_of(&entry.ok()?.path())).collect(),
        Err(_) => Vec::new(),
    };
    names.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("programs.rs"), format!("{:?}", names.join(" ")))
}

/// The class of a program's file.
fn name_of(path: &Path) -> Option<String> {
    let is_program = path.extension().is_some_and(|ending| ending == "json");
    path.file_stem().filter(|_| is_program)?.to_str().map(str::to_owned)
}
