//! A name as people type it, cut into what counts: runs of letters and numbers.

/// Longest text that is searched for, bytes: as long as a free field of a plan may be; longer ones name nothing.
pub(super) const LONGEST: usize = 256;

/// A run of letters, or a number with its decimals.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Atom {
    /// In lower case: `qwen`, `2.5`, `b`.
    pub(super) text: String,
    /// Whether nothing stands between it and the atom before.
    pub(super) glued: bool,
}

impl Atom {
    pub(super) fn is_number(&self) -> bool {
        self.text.starts_with(|letter: char| letter.is_ascii_digit())
    }
}

/// `text` in lower case, full-width letters and digits (as Chinese input methods type them) as plain ones.
pub(super) fn folded(text: &str) -> String {
    const FULL_WIDTH: std::ops::RangeInclusive<u32> = 0xFF01..=0xFF5E;
    const OFFSET: u32 = 0xFF01 - 0x21;
    let plain = |letter: char| match u32::from(letter) {
        code if FULL_WIDTH.contains(&code) => char::from_u32(code - OFFSET).unwrap_or(letter),
        _ => letter,
    };
    // Names outside ASCII are Chinese, which has no cases.
    text.chars().map(|letter| plain(letter).to_ascii_lowercase()).collect()
}

/// Letters of any script; what is neither ASCII nor punctuation of the common blocks is taken for one.
fn is_letter(letter: char) -> bool {
    const PUNCTUATION: [std::ops::RangeInclusive<char>; 3] =
        ['\u{80}'..='\u{bf}', '\u{2000}'..='\u{206f}', '\u{3000}'..='\u{303f}'];
    letter.is_ascii_alphabetic() || (!letter.is_ascii() && !PUNCTUATION.iter().any(|range| range.contains(&letter)))
}

/// Cuts folded `text` at everything that is neither letter nor digit, and between letters and digits.
///
/// A point between digits belongs to the number, as does the underscore that some ids write for it (`1_6b`).
pub(super) fn atoms(text: &str) -> Vec<Atom> {
    let letters: Vec<char> = text.chars().collect();
    let at = |place: usize| letters.get(place).copied().unwrap_or(' ');
    let is_digit = |place: usize| at(place).is_ascii_digit();
    let mut atoms: Vec<Atom> = Vec::new();
    let mut glued = false;
    let mut place = 0;
    while place < letters.len() {
        let start = place;
        if is_digit(place) {
            while is_digit(place)
                || (at(place) == '.' && is_digit(place + 1))
                || (at(place) == '_' && place == start + 1 && is_digit(place + 1) && !is_digit(place + 2))
            {
                place += 1;
            }
        } else {
            while is_letter(at(place)) {
                place += 1;
            }
        }
        if place > start {
            let text = letters[start..place].iter().map(|letter| if *letter == '_' { '.' } else { *letter }).collect();
            atoms.push(Atom { text, glued });
            glued = true;
        } else {
            // `Command R+`, but `rtx+4090`.
            if at(place) == '+' && !is_letter(at(place + 1)) && !is_digit(place + 1) && glued {
                atoms.push(Atom { text: "plus".to_owned(), glued: false });
            }
            glued = false;
            place += 1;
        }
    }
    atoms
}

/// All atoms in a row, without the points of numbers.
pub(super) fn joined(atoms: &[Atom]) -> String {
    atoms.iter().flat_map(|atom| atom.text.chars()).filter(|letter| *letter != '.').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> String {
        let atoms = atoms(&folded(text));
        atoms.iter().map(|atom| format!("{}{}", if atom.glued { "" } else { " " }, atom.text) + "|").collect()
    }

    #[test]
    fn cuts_where_people_cut() {
        for (text, expected) in [
            ("Llama-3.1-8B", " llama| 3.1| 8|b|"),
            ("internlm2_5-1_8b", " internlm|2.5| 1.8|b|"),
            ("a100_80gb", " a|100| 80|gb|"),
            ("Command R+ 104B", " command| r| plus| 104|b|"),
            ("rtx+4090", " rtx| 4090|"),
            ("ＲＴＸ　４０９０", " rtx| 4090|"),
            ("v0.1.", " v|0.1|"),
            ("+", ""),
            ("", ""),
        ] {
            assert_eq!(cut(text), expected, "{text}");
        }
    }
}
