//! What the operating system brings: Node.js, Chromium, a Chinese font. Installed with apt where that is possible;
//! elsewhere one sentence says what to install.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::step::step;
use super::toolbox::Progress;
use crate::failure::{Failure, Result};
use crate::process;

/// Names under which Chromium, or a browser built from it, is on `PATH`.
const CHROMIUM: [&str; 4] = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];

/// The oldest Node.js that runs the browser tests.
const NODE_MAJOR: u32 = 20;

/// Node.js with npm: `wasm-opt`, the sizes of the build, the wasm tests and the browser tests run on it.
pub(crate) fn node(progress: &mut Progress) -> Result<()> {
    let find = || {
        process::printed(Command::new("npm").arg("--version"))?;
        let version = process::printed(Command::new("node").arg("--version"))?;
        (node_major(&version)? >= NODE_MAJOR).then_some(())
    };
    let fix = format!("install Node.js {NODE_MAJOR} or newer with npm");
    step(progress, "Node.js", "about a minute", find, || apt_install(&["nodejs", "npm"], &fix))
}

fn node_major(version: &str) -> Option<u32> {
    version.trim_start_matches('v').split('.').next()?.parse().ok()
}

/// The browser: `$HEADROOM_CHROMIUM`, or one on `PATH`.
pub(crate) fn chromium(progress: &mut Progress) -> Result<PathBuf> {
    if let Some(chosen) = env::var_os("HEADROOM_CHROMIUM").filter(|value| !value.is_empty()).map(PathBuf::from) {
        println!("{}: Chromium: {}, as HEADROOM_CHROMIUM says", progress.next(), chosen.display());
        return browser_starts(&chosen).ok_or_else(|| {
            Failure::new(format!(
                "HEADROOM_CHROMIUM names {}, which does not start: let it name a Chromium, or unset it.",
                chosen.display()
            ))
        });
    }
    let find = || CHROMIUM.iter().find_map(|name| browser_starts(&on_path(name)?));
    let fix = "install Chromium, or set HEADROOM_CHROMIUM to one";
    step(progress, "Chromium", "about a minute", find, || apt_install(&["chromium"], fix))
}

fn browser_starts(program: &Path) -> Option<PathBuf> {
    process::printed(Command::new(program).arg("--version"))?;
    Some(program.to_path_buf())
}

fn on_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// A font with Chinese glyphs, so that what the tests measure and picture of the Chinese page is what people see.
pub(crate) fn chinese_font(progress: &mut Progress) -> Result<()> {
    let find = || {
        let fonts = process::printed(Command::new("fc-list").args([":lang=zh", "family"]))?;
        (!fonts.is_empty()).then_some(())
    };
    let fix = "install fontconfig and a font with Chinese glyphs, such as Noto Sans CJK";
    step(progress, "a Chinese font", "about half a minute", find, || {
        apt_install(&["fontconfig", "fonts-noto-cjk"], fix)
    })
}

/// Installs Debian packages, as root or through a sudo that asks for nothing. `fix` says what to do where that
/// cannot work.
pub(super) fn apt_install(packages: &[&str], fix: &str) -> Result<()> {
    let failure = |why: &str| Failure::new(format!("{why}: {fix}, then run the command again."));
    if on_path("apt-get").is_none() {
        return Err(failure("This is not a Debian system, so apt cannot install it"));
    }
    let root = process::printed(Command::new("id").arg("-u")).is_some_and(|id| id == "0");
    if !root && process::printed(Command::new("sudo").args(["-n", "true"])).is_none() {
        return Err(failure(&format!("apt needs root to install {}", packages.join(", "))));
    }
    let apt = |words: &[&str]| {
        let mut command = Command::new(if root { "apt-get" } else { "sudo" });
        if !root {
            command.args(["-n", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        }
        command.args(["-qq", "-y"]).args(words).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        command.stdout(Stdio::null());
        command
    };
    // A failed update may still leave lists that serve: whether the install works is what counts.
    let _ = apt(&["update"]).status();
    let mut install = apt(&["install", "--no-install-recommends"]);
    install.args(packages);
    process::run(&mut install, &format!("{fix}, then run the command again."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_major_version_of_node_is_read() {
        assert_eq!(node_major("v20.20.2"), Some(20));
        assert_eq!(node_major(""), None);
    }
}
