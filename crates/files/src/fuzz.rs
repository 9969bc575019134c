//! Ways in for coverage-guided fuzzing: one function a reader, each taking whatever bytes come.

use crate::finding::Language;
use crate::import::{File, import};
use crate::lint::lint;
use crate::syntax;

/// A way in: whatever bytes come.
pub type Reader = fn(&[u8]);

/// Every reader by its name.
pub const READERS: [(&str, Reader); 8] = [
    ("yaml", yaml),
    ("toml", toml),
    ("json", json),
    ("python", python),
    ("shell", shell),
    ("whole", whole),
    ("diagnose", diagnose),
    ("snapshot", snapshot),
];

/// The YAML reader.
pub fn yaml(bytes: &[u8]) {
    // What it answers does not matter, only that it does.
    let _ = syntax::yaml(&String::from_utf8_lossy(bytes));
}

/// The TOML reader.
pub fn toml(bytes: &[u8]) {
    let _ = syntax::toml(&String::from_utf8_lossy(bytes));
}

/// The JSON reader.
pub fn json(bytes: &[u8]) {
    let _ = syntax::json(&String::from_utf8_lossy(bytes));
}

/// The Python reader.
pub fn python(bytes: &[u8]) {
    let _ = syntax::python(&String::from_utf8_lossy(bytes));
}

/// The shell reader.
pub fn shell(bytes: &[u8]) {
    let _ = syntax::shell(&String::from_utf8_lossy(bytes));
}

/// All that follows from a text: recognised, imported, checked, written as JSON.
pub fn whole(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes).into_owned();
    // The first line may name the file.
    let (name, text) = text
        .split_once('\n')
        .filter(|(name, _)| name.len() < 20 && name.contains('.'))
        .map_or_else(|| (String::new(), text.clone()), |(name, rest)| (name.to_owned(), rest.to_owned()));
    let files = [File { name, text }];
    let imported = import(&files);
    lint(&imported, None);
    imported.to_value(&files, Language::English);
}

/// Every reader.
pub fn all(bytes: &[u8]) {
    for (_, read) in READERS {
        read(bytes);
    }
}

/// Every reader of failures and monitors, and what they find.
pub fn diagnose(bytes: &[u8]) {
    let _ = crate::diagnose::readings_by_each(bytes);
    if let Ok(found) = crate::diagnose::diagnose(bytes, None) {
        let _ = found.to_json(Language::Chinese);
    }
}

/// The reader of pickled snapshots.
pub fn snapshot(bytes: &[u8]) {
    let _ = crate::snapshot::Snapshot::read(bytes);
}
