//! Commands that stand as a list of quoted words: `["accelerate", "launch", "train.py", "--bf16"]`.

use super::recognise::PROGRAMS;

/// Most lists that are looked at.
const MOST_LISTS: usize = 64;

/// `text` with everything blanked but the words of the first such list that launches something, each where it was; lines go on as
/// those of a command do. Words that are commented out, `#` or `//`, are none.
pub(super) fn listed_command(text: &str) -> Option<String> {
    let starts = text.match_indices('[').map(|(at, _)| at).take(MOST_LISTS);
    starts.filter_map(|start| list(text, start)).next()
}

/// The list that opens at `start`.
fn list(text: &str, start: usize) -> Option<String> {
    let mut out: Vec<u8> = text[..start].bytes().map(blank).collect();
    let bytes = text.as_bytes();
    let (mut at, mut words, mut is_closed) = (start + 1, 0_usize, false);
    out.push(b' ');
    while let Some(byte) = bytes.get(at).copied() {
        let rest = text.get(at..).unwrap_or("");
        match byte {
            b'"' | b'\'' => {
                let behind = text.get(at + 1..)?;
                let length = behind.find(char::from(byte))?;
                let word = &behind[..length];
                let is_program = PROGRAMS.contains(&word.rsplit('/').next().unwrap_or(word));
                if word.contains('\n') || words == 0 && !is_program {
                    return None;
                }
                words += 1;
                // Of what stands in a list nothing is expanded.
                let quote = if word.contains('\'') { b'"' } else { b'\'' };
                out.push(quote);
                out.extend(word.bytes());
                out.push(quote);
                at += length + 2;
                continue;
            }
            b']' => {
                out.push(b' ');
                at += 1;
                is_closed = true;
                break;
            }
            b'#' => {
                let length = rest.find('\n').unwrap_or(rest.len());
                out.extend(std::iter::repeat_n(b' ', length));
                at += length;
                continue;
            }
            b'/' if rest.starts_with("//") => {
                let length = rest.find('\n').unwrap_or(rest.len());
                out.extend(std::iter::repeat_n(b' ', length));
                at += length;
                continue;
            }
            b'\n' => {
                // A command's line goes on behind a backslash; where there is no room for one the lines are joined.
                match out.last_mut() {
                    Some(last) if *last == b' ' => {
                        *last = b'\\';
                        out.push(b'\n');
                    }
                    _ => out.push(b'\r'),
                }
            }
            b',' | b' ' | b'\t' | b'\r' => out.push(b' '),
            // Anything but quoted words: no list of them.
            _ => return None,
        }
        at += 1;
    }
    if !is_closed || words < 3 {
        return None;
    }
    out.extend(bytes.get(at..)?.iter().copied().map(blank));
    String::from_utf8(out).ok()
}

const fn blank(byte: u8) -> u8 {
    if byte == b'\n' { b'\n' } else { b' ' }
}

#[cfg(test)]
mod tests {
    use super::listed_command;

    #[test]
    fn words_of_a_list_stand_where_they_stood() {
        let text = "I run\n[\n  \"accelerate\",\n  'launch',  # two\n  # \"--no\",\n  \"train.py\",\n  \"--x=1\",\n]\nand it fails\n";
        let found = listed_command(text).unwrap_or_default();
        assert_eq!(found.len(), text.len());
        assert_eq!(found.find("train.py"), text.find("train.py"));
        assert!(!found.contains("--no") && !found.contains("fails"));
        assert_eq!(listed_command("[1, 2] and ['a', 'b', 'c']"), None);
        assert_eq!(listed_command(&"[\"python\",".repeat(5000)), None);
    }
}
