//! The nearest known word to a mistyped one.

/// Longest text that is compared, in characters; longer ones are no typing errors.
const LONGEST: usize = 64;

/// How far a word may be from what it is taken for: edits times this must not exceed the longer word's length.
#[derive(Clone, Copy)]
pub(crate) enum Closeness {
    /// For keys: an unknown key is often one Headroom has no counterpart of.
    Key = 3,
    /// For values: one of a few is meant.
    Value = 2,
}

/// The candidate with the fewest edits from `word`, if it is near enough.
pub(crate) fn nearest<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
    closeness: Closeness,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .filter_map(|candidate| Some((near_distance(word, candidate, closeness)?, candidate)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits between `word` and `candidate`, if that is near enough.
pub(crate) fn near_distance(word: &str, candidate: &str, closeness: Closeness) -> Option<usize> {
    let (a, b) = (letters(word)?, letters(candidate)?);
    let distance = edits(&a, &b);
    (distance * closeness as usize <= a.len().max(b.len())).then_some(distance)
}

fn letters(text: &str) -> Option<Vec<char>> {
    let letters: Vec<char> = text.trim().chars().map(|letter| letter.to_ascii_lowercase()).take(LONGEST + 1).collect();
    (letters.len() <= LONGEST).then_some(letters)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`.
fn edits(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (above[j + 1] + 1).min(row[j] + 1).min(above[j] + usize::from(x != y));
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_edits() {
        for (a, b, expected) in [
            ("", "", 0),
            ("", "abc", 3),
            ("max_lenght", "max_length", 1),
            ("kitten", "sitting", 3),
            ("loar", "lora", 1),
        ] {
            let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
            assert_eq!(edits(&a, &b), expected);
            assert_eq!(edits(&b, &a), expected);
        }
    }

    #[test]
    fn finds_what_is_near_and_nothing_else() {
        assert_eq!(nearest("max_lenght", ["max_length", "max_grad_norm"], Closeness::Key), Some("max_length"));
        assert_eq!(nearest("ADAMW_HF", ["sgd", "adamw_torch"], Closeness::Value), Some("adamw_torch"));
        assert_eq!(nearest("learning_rate", ["max_length", "optim"], Closeness::Key), None);
        assert_eq!(nearest(&"x".repeat(10_000), ["x"], Closeness::Value), None);
    }
}
