//! Sizes as a text file: a line each of module, kind, room and bytes, sorted, so that a diff shows what moved.

use std::collections::BTreeMap;

use super::{Place, Sizes};
use crate::failure::{Failure, Result};

const HEADING: &str = "# Bytes of each module's rooms: module, kind, room, bytes.\n";

/// Recorded sizes, by the name of the module.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Record {
    modules: BTreeMap<String, Sizes>,
}

impl Record {
    /// Reads what [`Record::text`] wrote.
    pub fn read(text: &str) -> Result<Self> {
        let mut record = Self::default();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            let Some((module, place, bytes)) = entry(line) else {
                return Err(Failure::new(format!("The recorded sizes have a line `{line}`: record them anew.")));
            };
            record.modules.entry(module.to_owned()).or_default().insert(place, bytes);
        }
        Ok(record)
    }

    /// What was recorded of `module`; nothing where it was not.
    pub fn of(&self, module: &str) -> Sizes {
        self.modules.get(module).cloned().unwrap_or_default()
    }

    /// Records `sizes` as those of `module`.
    pub fn set(&mut self, module: &str, sizes: Sizes) {
        self.modules.insert(module.to_owned(), sizes);
    }

    /// The record as a file.
    pub fn text(&self) -> String {
        let mut text = HEADING.to_owned();
        for (module, sizes) in &self.modules {
            for (Place { kind, room }, bytes) in sizes {
                text += &format!("{module}\t{kind}\t{room}\t{bytes}\n");
            }
        }
        text
    }
}

fn entry(line: &str) -> Option<(&str, Place, u64)> {
    let mut words = line.split('\t');
    let (module, kind, room) = (words.next()?, words.next()?, words.next()?);
    Some((module, Place::new(kind, room), words.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let mut record = Record::default();
        record.set("page", Sizes::from([(Place::new("code", "a::b"), 7), (Place::new("data", ".rodata"), 9)]));
        record.set("engine", Sizes::from([(Place::new("code", "(outside Rust's modules)"), 1)]));
        assert_eq!(Record::read(&record.text()).unwrap(), record);
        assert_eq!(record.text().lines().nth(1), Some("engine\tcode\t(outside Rust's modules)\t1"));
        assert!(record.of("other").is_empty());
        assert!(Record::read("page code").is_err());
    }
}
