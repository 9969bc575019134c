//! JSON as Python's `json` writes it: a `config.json` of a state-space model says `"time_step_limit": [0.0, Infinity]`, which JSON
//! does not have.

use serde_json::Value;

/// What Python writes for numbers that JSON does not have, the longest first.
const NO_NUMBERS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// Reads JSON text; numbers that JSON does not have count as null.
///
/// # Errors
/// Where the text is no JSON otherwise either.
pub fn parse_json(text: &str) -> serde_json::Result<Value> {
    serde_json::from_str(text).or_else(|error| {
        let has_some = NO_NUMBERS.iter().any(|word| text.contains(word));
        if has_some { serde_json::from_str(&without_them(text)).map_err(|_| error) } else { Err(error) }
    })
}

/// `text` with null in their place, wherever they are not within quotes.
fn without_them(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut rest, mut quoted) = (text, false);
    while let Some(letter) = rest.chars().next() {
        let word = NO_NUMBERS.iter().find(|word| !quoted && rest.starts_with(**word));
        let taken = match word {
            Some(word) => {
                out.push_str("null");
                word.len()
            }
            None => {
                let escaped = if quoted && letter == '\\' { rest.chars().nth(1).map_or(0, char::len_utf8) } else { 0 };
                quoted ^= letter == '"';
                let taken = letter.len_utf8() + escaped;
                out.push_str(rest.get(..taken).unwrap_or(rest));
                taken
            }
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn infinite_numbers_count_as_null_and_quoted_words_stay() {
        let text = r#"{"limit": [0.0, Infinity], "low": -Infinity, "n": NaN, "said": "\"Infinity\" and NaN"}"#;
        let expected = json!({"limit": [0.0, null], "low": null, "n": null, "said": "\"Infinity\" and NaN"});
        assert_eq!(parse_json(text).ok(), Some(expected));
        for wrong in [r#"{"a": Infinit}"#, r#"{"a": "NaN}"#, "Infinity Infinity", r#""\"#] {
            assert!(parse_json(wrong).is_err(), "{wrong}");
        }
    }
}
