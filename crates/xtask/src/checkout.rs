//! Where things are: the checkout, its lock file, and the tool cache outside it.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

/// The root of the checkout this program was built from.
pub(crate) fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// The folder that cargo builds in: `$CARGO_TARGET_DIR`, or `target` of the checkout.
pub(crate) fn target() -> PathBuf {
    target_in(&root(), env::var_os("CARGO_TARGET_DIR").as_deref())
}

/// Where the packages for scripts are.
pub(crate) fn packages() -> PathBuf {
    root().join("target").join("packages")
}

/// A path that is not absolute is from where cargo runs, which is the root.
fn target_in(root: &Path, chosen: Option<&OsStr>) -> PathBuf {
    root.join(chosen.filter(|folder| !folder.is_empty()).unwrap_or(OsStr::new("target")))
}

/// The folder that holds the installed tools: `$HEADROOM_CACHE`, or `~/.cache/headroom`.
///
/// Outside `target/`, so that `cargo clean` and a second clone keep the tools.
pub(crate) fn cache() -> Result<PathBuf> {
    let chosen = env::var_os("HEADROOM_CACHE").filter(|value| !value.is_empty()).map(PathBuf::from);
    let default = || env::home_dir().map(|home| home.join(".cache").join("headroom"));
    let folder = chosen.or_else(default).ok_or_else(|| {
        Failure::new("There is no home directory for the tool cache: set HEADROOM_CACHE to a folder of your choice.")
    })?;
    fs::create_dir_all(&folder).map_err(|error| {
        Failure::new(format!(
            "The tool cache {} cannot be created ({error}): set HEADROOM_CACHE to a folder you may write to.",
            folder.display()
        ))
    })?;
    folder.canonicalize().map_err(|error| {
        Failure::new(format!("The tool cache {} cannot be opened ({error}): check it.", folder.display()))
    })
}

/// `folder` with `.suffix` after its whole name, for work beside it.
pub(crate) fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(".");
    name.push(suffix);
    PathBuf::from(name)
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> PathBuf {
    env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from)
}

/// The version of `package` that `Cargo.lock` holds.
pub(crate) fn locked_version(package: &str) -> Result<String> {
    let path = root().join("Cargo.lock");
    let lock = fs::read_to_string(&path).map_err(|error| {
        Failure::new(format!("{} cannot be read ({error}): restore it from version control.", path.display()))
    })?;
    version_in_lock(&lock, package).map(str::to_owned).ok_or_else(|| {
        Failure::new(format!("Cargo.lock names no {package}: run `cargo check -p headroom-web` to complete it."))
    })
}

fn version_in_lock<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let name = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != name);
    lines.next()?;
    lines.next()?.strip_prefix("version = \"")?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_locked_version_is_that_of_the_very_package() {
        let lock = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"0.2.1\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\nsource = \"x\"\n";
        assert_eq!(version_in_lock(lock, "wasm-bindgen"), Some("0.2.130"));
        assert_eq!(version_in_lock(lock, "wasm"), None);
    }

    #[test]
    fn a_folder_beside_keeps_the_whole_version() {
        assert_eq!(beside(Path::new("/cache/trunk-0.21.14"), "build"), Path::new("/cache/trunk-0.21.14.build"));
    }

    #[test]
    fn what_cargo_builds_is_where_its_variable_says() {
        let root = Path::new("/checkout");
        assert_eq!(target_in(root, None), Path::new("/checkout/target"));
        assert_eq!(target_in(root, Some(OsStr::new(""))), Path::new("/checkout/target"));
        assert_eq!(target_in(root, Some(OsStr::new("../built"))), Path::new("/checkout/../built"));
        assert_eq!(target_in(root, Some(OsStr::new("/built"))), Path::new("/built"));
    }

    #[test]
    fn the_root_holds_the_workspace() {
        assert!(root().join("Trunk.toml").is_file());
    }
}
