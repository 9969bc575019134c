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

/// What parts the words of a line that names packages.
const BETWEEN: [char; 12] = [' ', '\t', ',', '"', '\'', ';', '(', ')', '#', '`', '<', '!'];

impl Gatherer<'_> {
    /// Takes what sentences say, where nothing else says it.
    pub(super) fn told_versions(&mut self, text: &str) {
        for (name, version) in told(text) {
            self.found.versions.entry(name).or_insert(version);
        }
    }

    /// Takes `package==version` of requirements, of lines that install, of a project's dependencies and of comments. A comment counts
    /// where nothing else says it.
    pub(super) fn stated_versions(&mut self, text: &str, kind: Kind) {
        let is_comment = |line: &&str| line.trim_start().starts_with('#') && !line.contains("pip install");
        for line in text.lines().filter(|line| !is_comment(line)) {
            for (name, version) in stated(line, kind) {
                if line.contains(&[version.as_str(), ".dev"].concat()) {
                    self.found.unreleased.push(name.clone());
                }
                self.found.versions.insert(name, version);
            }
        }
        for line in text.lines().filter(is_comment) {
            for (name, version) in stated(line, kind) {
                self.found.versions.entry(name).or_insert(version);
            }
        }
    }
}

/// What sentences of a note say of a package's version: `trl 0.9.6`, `transformers version 4.42.3`. Of several that differ none.
fn told(text: &str) -> Vec<(String, String)> {
    // What a sentence compares with is not what it runs.
    const OTHERS: [&str; 14] = [
        "since",
        "until",
        "before",
        "after",
        "than",
        "to",
        "from",
        "with",
        "below",
        "above",
        "upgrade",
        "downgrade",
        "upgrading",
        "downgrading",
    ];
    let mut found: std::collections::BTreeMap<String, Option<String>> = std::collections::BTreeMap::new();
    for line in text.lines().filter(|line| !line.contains(['=', '<', '>'])) {
        let words: Vec<&str> = line.split_whitespace().collect();
        for (at, word) in words.iter().enumerate() {
            let name = word.trim_matches(|letter: char| !letter.is_ascii_alphanumeric()).to_ascii_lowercase();
            let name = if name == "pytorch" { "torch".to_owned() } else { name };
            let before = at.checked_sub(1).and_then(|at| words.get(at)).map_or("", |word| *word);
            let ends = word.ends_with(['.', ',', ';', ')', '?', '!']);
            if ends || OTHERS.contains(&before.to_ascii_lowercase().as_str()) || !PACKAGES.contains(&name.as_str()) {
                continue;
            }
            let next = words.get(at + 1).filter(|next| next.trim_end_matches(':').eq_ignore_ascii_case("version"));
            let version = words.get(at + 1 + usize::from(next.is_some())).map_or("", |word| *word);
            let version = version.trim_matches(['(', ')', '`', '*', ',', '.', ';', 'v']);
            let is_version = version.contains('.') && version.split('.').all(|part| part.parse::<u32>().is_ok());
            if !is_version {
                continue;
            }
            let known = found.entry(name).or_insert_with(|| Some(version.to_owned()));
            if known.as_deref() != Some(version) {
                *known = None;
            }
        }
    }
    found.into_iter().filter_map(|(name, version)| Some((name, version?))).collect()
}

/// The release that sentences say of a trainer which people call by other names than its package's: `LLaMA Factory, version 0.8.2`,
/// `swift版本：2.5.2`, `swift==3.10.1`. `None` where they say several.
pub(super) fn told_trainer(text: &str) -> Option<(&'static str, String)> {
    const NAMES: [(&str, &str); 7] = [
        ("llama_factory", "llamafactory"),
        ("llamafactory", "llamafactory"),
        ("llama factory", "llamafactory"),
        ("llama-factory", "llamafactory"),
        ("ms-swift", "ms-swift"),
        ("ms_swift", "ms-swift"),
        ("swift", "ms-swift"),
    ];
    let mut found: Option<(&'static str, String)> = None;
    for line in text.lines().filter(|line| line.len() < 1000 && !line.contains("--")) {
        let lower = line.to_ascii_lowercase();
        let named = NAMES.iter().find_map(|(name, package)| {
            let at = lower.find(name)?;
            let is_whole =
                !lower[..at].ends_with(|before: char| before.is_ascii_alphanumeric() || "/_-.".contains(before));
            is_whole.then_some((*package, &lower[at + name.len()..]))
        });
        let Some((package, behind)) = named else { continue };
        let behind = behind.trim_start_matches([' ', ',', ':', '：', '=', '`', '*', '(', '（', '，']);
        let behind = ["version", "版本", "release/", "v"].iter().fold(behind, |behind, word| {
            behind.strip_prefix(word).unwrap_or(behind).trim_start_matches([' ', ':', '：', '=', '为', '是', '`', '*'])
        });
        let length = behind.find(|letter: char| !(letter.is_ascii_digit() || letter == '.')).unwrap_or(behind.len());
        let version = behind[..length].trim_end_matches('.');
        let parts: Vec<&str> = version.split('.').collect();
        let is_version = (2..=4).contains(&parts.len()) && parts.iter().all(|part| !part.is_empty() && part.len() < 4);
        // No release of either has a larger first number.
        if !is_version || parts[0].parse::<u32>().is_ok_and(|major| major > 9) {
            continue;
        }
        match &found {
            Some(other) if *other != (package, version.to_owned()) => return None,
            Some(_) => {}
            None => found = Some((package, version.to_owned())),
        }
    }
    found
}

/// The packages that a line states a version of.
fn stated(line: &str, kind: Kind) -> Vec<(String, String)> {
    // Poetry's `"trl (==0.17.0)"`.
    let line = &line.replace(" (==", "==").replace(" (~=", "~=");
    let mut found: Vec<_> = line.split(BETWEEN).filter_map(|word| requirement(word, &["==", "~="])).collect();
    let item = line.trim().trim_start_matches("- ").trim();
    if found.is_empty() && line.trim().starts_with("- ") && !item.contains(' ') {
        // conda's `- trl=0.17.0`.
        found.extend(requirement(item, &["="]));
    }
    if kind == Kind::Requirements || line.contains("install ") {
        // `"trl >= 0.9, < 0.12"`: blanks around signs part nothing.
        let mut joined = line.to_owned();
        for sign in ["<", ">", "!", "="] {
            joined = joined.replace(&format!(", {sign}"), &format!(",{sign}"));
            joined = joined.replace(&format!(" {sign}"), sign).replace(&format!("{sign} "), sign);
        }
        let bounds = joined.split([' ', '\t', '"', '\'', ';', '(', ')', '#', '`']).filter_map(newest_below);
        let bounds: Vec<_> = bounds.filter(|(name, _)| found.iter().all(|(known, _)| known != name)).collect();
        found.extend(bounds);
    }
    if found.is_empty() && !line.contains("--") {
        // `transformers=4.57.1, torch=2.8.0` of a report.
        let is_version = |word: &&str| {
            word.split_once('=').is_some_and(|(_, version)| {
                version.starts_with(|first: char| first.is_ascii_digit()) && version.contains('.')
            })
        };
        found.extend(line.split(BETWEEN).filter(is_version).filter_map(|word| requirement(word, &["="])));
    }
    if found.is_empty()
        && kind == Kind::Requirements
        && let Some((name, version)) = line.split_once('=')
    {
        // Poetry's `trl = "^0.17.0"`.
        let version = version.trim().trim_matches(['"', '\'']).trim_start_matches(['^', '~', '=']);
        found.extend(requirement(&[name.trim(), "==", version].concat(), &["=="]));
    }
    if found.is_empty()
        && let Some((_, installed)) = line.split_once("Successfully installed ")
    {
        // pip's `trl-0.17.0`: the version begins behind the last dash before a digit.
        let parted = |word: &str| word.rsplit_once('-').map(|(name, version)| [name, "==", version].concat());
        found.extend(installed.split_whitespace().filter_map(|word| requirement(&parted(word)?, &["=="])));
    }
    if found.is_empty() {
        found.extend(listed(line));
    }
    found
}

/// Lines of what people are asked to add to a report: `- Transformers version: 4.46.1` of `trl env` and its like, and
/// `transformers    4.46.1` of `pip list`.
pub(in crate::import) fn listed(line: &str) -> Option<(String, String)> {
    let line = line.trim().trim_start_matches(['-', '*', ' ']);
    let mut words = line.split_whitespace();
    let (name, version) = match (words.next(), words.next(), words.next()) {
        (Some(name), Some(version), None) if !name.ends_with(':') => (name, version),
        _ => {
            let (name, version) = line.split_once(':')?;
            let name = name.trim().split(" (").next()?;
            (name.strip_suffix(" version")?, version.split_whitespace().next()?.trim_matches('`'))
        }
    };
    let name = name.trim_matches(['`', '*']).to_ascii_lowercase();
    let name = if name == "pytorch" { "torch".to_owned() } else { name };
    requirement(&[name.as_str(), "==", version].concat(), &["=="])
}

/// The last minor releases before a new major number, which a bound such as `<1.0` does not say.
const LAST_BEFORE: [(&str, u64, &str); 4] =
    [("trl", 1, "0.29"), ("transformers", 5, "4.57"), ("ms-swift", 3, "2.6"), ("ms-swift", 4, "3.12")];

/// `trl<0.9` and `trl>=0.7,<0.9.2`: the newest that the bound admits, which is what is installed.
fn newest_below(word: &str) -> Option<(String, String)> {
    let end = word.find(['<', '>', '=', '!', '~'])?;
    let bound = word.rsplit('<').next().filter(|bound| bound.len() < word.len())?.split(',').next()?;
    let (name, version) = match bound.strip_prefix('=') {
        Some(version) => (&word[..end], version.to_owned()),
        None => {
            // `<5.0.0.dev0` is `<5.0.0`.
            let numbers = bound.split('.').take_while(|part| !part.starts_with(|first: char| !first.is_ascii_digit()));
            let parts: Option<Vec<u64>> = numbers.map(|part| part.parse().ok()).collect();
            let mut parts = parts?;
            while parts.last() == Some(&0) {
                parts.pop();
            }
            match parts.as_mut_slice() {
                [major] => {
                    let package = word[..end].split('[').next().unwrap_or("").replace('_', "-");
                    let known = LAST_BEFORE.iter().find(|(name, before, _)| package == *name && before == major);
                    (&word[..end], known.map(|(.., last)| (*last).to_owned())?)
                }
                [.., last] if *last > 0 => {
                    *last -= 1;
                    let texts: Vec<String> = parts.iter().map(u64::to_string).collect();
                    (&word[..end], texts.join("."))
                }
                _ => return None,
            }
        }
    };
    requirement(&[name, "==", &version].concat(), &["=="])
}

fn requirement(word: &str, signs: &[&str]) -> Option<(String, String)> {
    let (name, version) = signs.iter().find_map(|sign| word.split_once(sign))?;
    let name = name.trim_start_matches(['-', '!', '[']);
    let name = name.split('[').next().unwrap_or(name).to_ascii_lowercase().replace('_', "-");
    let is_version = version.starts_with(|first: char| first.is_ascii_digit());
    if !is_version || !PACKAGES.contains(&name.as_str()) {
        return None;
    }
    // What follows is no part of it: `+cu121`, `.*`, a `\\n` of a text within a program.
    let end = version.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
    let version = end.map_or(version, |end| &version[..end]);
    // A state between releases counts as the one that it leads to.
    let version = version.split(".dev").next().unwrap_or(version).trim_end_matches('.');
    Some((name, version.to_owned()))
}
