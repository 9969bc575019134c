//! What a reader of the page has to download, and the limit it must keep.

use std::fs;
use std::path::Path;

use crate::checkout;
use crate::failure::{Failure, Result};
use crate::process;
use crate::setup::Toolbox;

/// The most that everything a newcomer's first view needs may weigh together after brotli, in bytes (1 kB = 1000 bytes): HTML, styles,
/// scripts, the page's module, and what the engine says first of the default plan.
///
/// That answer is worked out when the release is built, so this view does not wait for the engine, which comes meanwhile: it was 257 kB
/// when it did. The page's module is two thirds.
const BUDGET: u64 = 90_000;

/// The most that the engine's first part may weigh, in bytes: what a newcomer's first change and the first view of a link wait for.
///
/// It began with 728 kB of wasm and scripts for page and engine, of which a first view calls less than half, and was 195 kB while classes of
/// models had code of their own. Every model is read from its recorded program now, and reading and running programs is code that the default
/// plan needs too: 56 kB. Then no class adds anything to it but its name. Times of a step by the
/// program's operators are 4, layers that run again and a head's factors 1.
const ENGINE: u64 = 350_000;

/// What is fetched when it is opened or once the first view stands, by how its name starts, with the most that it may weigh, in
/// bytes: the engine's further parts, the measured steps for "How accurate is this?", what brings files to the engine, the values of
/// charts, recent plans, announcements, styles of what no first view shows, licences, what embeds plans in other pages, and the service worker.
const LATER: [(&str, u64); 13] = [
    ("headroom-worker_bg", ENGINE),
    // Of the first answers each reader gets one: the page's own language stands for both.
    ("first-zh", 7_000),
    ("engine-part", 90_000),
    ("cases", 90_000),
    ("files.js", 2_000),
    ("values.js", 1_500),
    ("memory.js", 1_500),
    ("announce.js", 1_000),
    ("later.css", 5_000),
    ("LICENSE", 4_000),
    ("embed.", 2_500),
    ("headroom-plan.js", 5_000),
    ("sw.js", 1_500),
];

/// The most that the recorded programs of one class of models may weigh together, in bytes. The page fetches them when a model of the class
/// is chosen. Ling 3.0's, with latent attention, mixtures and Kimi's delta rule both by PyTorch and by flash-linear-attention, is the
/// largest: without the latter, which everyone trains it with, LoRA on it was 58 % over.
const PROGRAMS_OF_A_CLASS: u64 = 6_500;

/// The most it may weigh, if the page starts without it.
fn limit_of_later(weight: &Weight) -> Option<u64> {
    if weight.name.contains("/programs/") {
        return Some(PROGRAMS_OF_A_CLASS);
    }
    let name = weight.name.rsplit('/').next().unwrap_or_default();
    LATER.iter().find(|(start, _)| name.starts_with(start)).map(|(_, limit)| *limit)
}

fn is_later(weight: &Weight) -> bool {
    limit_of_later(weight).is_some()
}

struct Weight {
    raw: u64,
    gzip: u64,
    brotli: u64,
    name: String,
}

/// Prints the sizes of the site in `dist` and fails when they exceed the budget.
pub(crate) fn check(toolbox: &Toolbox, dist: &Path) -> Result<()> {
    let script = checkout::root().join("crates/xtask/src/compressed_sizes.mjs");
    let printed = process::printed(toolbox.command("node")?.arg(script).arg(dist)).unwrap_or_default();
    let weights: Vec<Weight> = printed.lines().filter_map(weight).collect();
    if !weights.iter().any(|weight| weight.name.ends_with(".wasm")) {
        return Err(Failure::new("The site in dist/ has no wasm module to weigh: run `cargo xtask build` again."));
    }
    println!("{:>10} {:>10} {:>10}", "raw kB", "gzip kB", "brotli kB");
    let row = |raw, gzip, brotli, name: &str| println!("{:>10} {:>10} {:>10}  {name}", kb(raw), kb(gzip), kb(brotli));
    for Weight { raw, gzip, brotli, name } in &weights {
        row(*raw, *gzip, *brotli, name);
    }
    let sum = |of: fn(&Weight) -> u64| weights.iter().filter(|weight| !is_later(weight)).map(of).sum::<u64>();
    let brotli = sum(|weight| weight.brotli);
    row(
        sum(|weight| weight.raw),
        sum(|weight| weight.gzip),
        brotli,
        "together, without what is fetched when it is opened",
    );
    for part in &weights {
        if let Some(limit) = limit_of_later(part).filter(|limit| part.brotli > *limit) {
            return Err(Failure::new(format!(
                "{} weighs {} kB after brotli, more than the {} kB that it may weigh: find what grew, or raise its limit in \
                 crates/xtask/src/size.rs with a reason.",
                part.name,
                kb(part.brotli),
                kb(limit)
            )));
        }
    }
    if brotli > BUDGET {
        return Err(Failure::new(format!(
            "The page weighs {} kB after brotli, more than its budget of {} kB: find what grew, or raise the budget \
             in crates/xtask/src/size.rs with a reason.",
            kb(brotli),
            kb(BUDGET)
        )));
    }
    Ok(())
}

/// Prints what the programs `names` of `folder` weigh, and fails when one exceeds its limit.
pub(crate) fn check_programs(toolbox: &Toolbox, folder: &Path, names: &[String]) -> Result<()> {
    let script = checkout::root().join("crates/xtask/src/compressed_sizes.mjs");
    // It writes beside what it weighs.
    let weighed = checkout::root().join("target/record/weighed");
    fs::create_dir_all(&weighed)
        .map_err(|error| Failure::new(format!("{} cannot be made: {error}.", weighed.display())))?;
    for name in names {
        fs::copy(folder.join(name), weighed.join(name))
            .map_err(|error| Failure::new(format!("{name} cannot be copied: {error}.")))?;
    }
    let printed = process::printed(toolbox.command("node")?.arg(script).arg(&weighed)).unwrap_or_default();
    // A copy that stays is in nobody's way.
    let _ = fs::remove_dir_all(&weighed);
    let weights: Vec<Weight> = printed.lines().filter_map(weight).collect();
    let mut heavy = Vec::new();
    for Weight { brotli, name, .. } in &weights {
        println!("{name}: {brotli} bytes after brotli, of {PROGRAMS_OF_A_CLASS}");
        if *brotli > PROGRAMS_OF_A_CLASS {
            heavy.push(name.as_str());
        }
    }
    if weights.len() != names.len() {
        return Err(Failure::new("The programs that changed could not be weighed: run the command again."));
    }
    if heavy.is_empty() {
        return Ok(());
    }
    Err(Failure::new(format!(
        "{} weighs more than a class's programs may: leave out a version of it, or find what grew.",
        heavy.join(", ")
    )))
}

fn weight(line: &str) -> Option<Weight> {
    let mut words = line.splitn(4, ' ');
    let mut number = || words.next()?.parse().ok();
    let (raw, gzip, brotli) = (number()?, number()?, number()?);
    Some(Weight { raw, gzip, brotli, name: words.next()?.to_owned() })
}

/// Kilobytes of 1000 bytes, with one decimal.
fn kb(bytes: u64) -> String {
    let tenths = bytes.div_ceil(100);
    format!("{}.{}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up_to_a_tenth_of_a_kilobyte() {
        assert_eq!(kb(1_000), "1.0");
        assert_eq!(kb(1_001), "1.1");
        assert_eq!(kb(0), "0.0");
    }

    #[test]
    fn a_line_of_the_script_is_read_whole() {
        let read = weight("10 9 8 a file.js").map(|w| (w.raw, w.gzip, w.brotli, w.name));
        assert_eq!(read, Some((10, 9, 8, "a file.js".to_owned())));
        assert!(weight("nonsense").is_none());
    }
}
