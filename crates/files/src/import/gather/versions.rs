//! Versions of packages: requirements, `pip install`, comments of neither.

use super::super::recognise::Kind;
use super::Gatherer;

/// Packages whose versions a plan holds.
const PACKAGES: [&str; 15] = [
    "trl",
    "transformers",
    "peft",
    "bitsandbytes",
    "torch",
    "llamafactory",
    "ms-swift",
    "axolotl",
    "unsloth",
    "verl",
    "accelerate",
    "deepspeed",
    "flash-linear-attention",
    "causal-conv1d",
    "mamba-ssm",
];

impl Gatherer<'_> {
    /// Takes `package==version` of requirements and of lines that install.
    pub(super) fn stated_versions(&mut self, text: &str, kind: Kind) {
        for line in text.lines() {
            let line = line.trim().trim_start_matches(['!', '%', '"', '\'', '-', ' ']);
            let installs = line.contains("pip install") || line.contains("pip3 install") || line.contains("uv add");
            let listed = kind == Kind::Requirements
                || (line.contains("==") && line.trim_end_matches([',', '"', '\'']).split_whitespace().count() == 1);
            if !installs && !listed {
                continue;
            }
            for word in line.split([' ', ',', '"', '\'', ';']) {
                self.requirement(word);
            }
        }
    }

    fn requirement(&mut self, word: &str) {
        let Some((name, version)) = word.split_once("==") else { return };
        let name = name.split('[').next().unwrap_or(name).to_ascii_lowercase().replace('_', "-");
        let is_version = version.starts_with(|first: char| first.is_ascii_digit());
        if is_version && PACKAGES.contains(&name.as_str()) {
            // What follows is no part of it: `+cu121`, `.*`, a `\\n` of a text within a program.
            let end = version.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
            let version = end.map_or(version, |end| &version[..end]).trim_end_matches('.');
            self.found.versions.insert(name, version.to_owned());
        }
    }
}
