//! Puts the repository's recorded programs into native binaries, compressed: `$OUT_DIR/programs.rs` lists them. Without the
//! feature `programs`, and where a crate is built from its archive, there are none.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let folder = Path::new(&env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../../static/programs");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let mut files: Vec<PathBuf> = match fs::read_dir(&folder) {
        Ok(entries) if env::var_os("CARGO_FEATURE_PROGRAMS").is_some() => {
            entries.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<_>>()?
        }
        _ => Vec::new(),
    };
    files.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    files.sort();
    let mut list = String::from("&[\n");
    for path in files {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        let packed = miniz_oxide::deflate::compress_to_vec_zlib(&fs::read(&path)?, 9);
        let place = out.join(format!("{name}.json.z"));
        fs::write(&place, packed)?;
        writeln!(list, "({name:?}, include_bytes!({:?})),", place.display().to_string()).map_err(io::Error::other)?;
    }
    list.push(']');
    fs::write(out.join("programs.rs"), list)
}
