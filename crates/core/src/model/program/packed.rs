//! The recorded programs that a binary has in it.

use std::sync::LazyLock;

use super::Programs;

/// Names and compressed texts.
static PACKED: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// Programs of every recorded class, each read when it is first asked for.
pub(super) fn programs() -> Programs {
    static ALL: LazyLock<Programs> =
        LazyLock::new(|| Programs::from_source(PACKED.iter().map(|(name, _)| (*name).to_owned()), unpacked));
    ALL.clone()
}

/// The text of a program.
fn unpacked(name: &str) -> Option<String> {
    const LARGEST: usize = 64 << 20;
    let (_, packed) = PACKED.iter().find(|(known, _)| *known == name)?;
    String::from_utf8(miniz_oxide::inflate::decompress_to_vec_zlib_with_limit(packed, LARGEST).ok()?).ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::model::Program;

    #[test]
    fn every_program_is_read_and_lies_under_its_name() {
        assert!(PACKED.len() > 100);
        for (name, _) in PACKED {
            let program = Program::from_json(&unpacked(name).unwrap()).unwrap();
            assert!(program.iter().all(|one| one.model_type == *name));
        }
    }
}
