//! Python that a post holds without a fence, or in several blocks that are one program.

use crate::syntax;

/// Lines that a call may go on for: beyond that its bracket is one of a sentence's.
const LONGEST_CALL: usize = 200;

/// Statements that do not end, after which a text is taken for no program.
const MOST_UNENDED: usize = 128;

/// Calls that load a model or configure a run.
const LOADS: [&str; 2] = ["from_pretrained(", "snapshot_download("];

/// Whether a text configures a run or loads the model of one.
pub(super) fn configures(text: &str) -> bool {
    let calls = ["Config(", "Arguments(", "Trainer(", "get_peft_model(", "json.dump(", "yaml.dump("];
    let is_loop = text.contains(".backward(") && loads(text);
    calls.iter().any(|call| text.contains(call)) || is_loop || loads_to_train(text)
}

/// Unsloth's loaders, which nobody uses but to train.
fn loads_to_train(text: &str) -> bool {
    text.match_indices(".from_pretrained(").any(|(at, _)| {
        let owner = text[..at].rsplit(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')).next();
        owner.is_some_and(|owner| owner.starts_with("Fast") && owner.ends_with("Model"))
    })
}

/// Whether a text loads something by its name.
pub(super) fn loads(text: &str) -> bool {
    LOADS.iter().any(|call| text.contains(call))
}

/// Texts of which each is blank where the others are not, as one.
pub(super) fn overlaid(texts: &[&str]) -> Option<String> {
    let mut bytes = texts.first()?.as_bytes().to_vec();
    for text in &texts[1..] {
        for (byte, other) in bytes.iter_mut().zip(text.bytes()) {
            if *byte == b' ' {
                *byte = other;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// The program of a text that has no fences, everything else blank; `None` where nothing of it configures a run.
///
/// A line is of the program if it imports, assigns, calls or defines; with it go the lines up to where its brackets close.
pub(super) fn unfenced(text: &str) -> Option<String> {
    if !configures(text) {
        return None;
    }
    let blank = |line: &str| -> String { line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect() };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (mut out, mut at, mut unended) = (String::with_capacity(text.len()), 0, 0_usize);
    while let Some(line) = lines.get(at) {
        let begins = unended < MOST_UNENDED && is_code(line);
        let end = begins.then(|| statement_end(&lines, at)).flatten();
        unended += usize::from(begins && end.is_none());
        let kept = end.filter(|end| syntax::python(&lines[at..*end].concat()).is_ok());
        match kept {
            Some(end) => {
                lines[at..end].iter().for_each(|line| out.push_str(line));
                at = end;
            }
            None => {
                out.push_str(&blank(line));
                at += 1;
            }
        }
    }
    configures(&out).then_some(out)
}

/// Whether sentences stand around the program of a text.
pub(super) fn has_sentences(text: &str) -> bool {
    const LEAST_WORDS: usize = 5;
    let Some(program) = unfenced(text) else { return false };
    let is_sentence = |line: &str| {
        let is_word =
            |word: &&str| word.trim_end_matches(['.', ',', ':', ';']).bytes().all(|byte| byte.is_ascii_alphabetic());
        !line.trim_start().starts_with('#') && line.split_whitespace().filter(is_word).count() >= LEAST_WORDS
    };
    let mut lines = text.lines().zip(program.lines());
    lines.any(|(line, kept)| kept.trim().is_empty() && is_sentence(line))
}

/// Whether a line begins a statement of a program rather than a sentence.
fn is_code(line: &str) -> bool {
    let line = line.trim();
    let word = |text: &str| {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let mut parts = text.trim().split('.');
        let first = parts.next().unwrap_or("");
        first.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
            && std::iter::once(first).chain(parts).all(|part| !part.is_empty() && part.chars().all(plain))
    };
    if let Some(rest) = line.strip_prefix("from ") {
        return rest.split_once(" import ").is_some_and(|(module, _)| word(module));
    }
    if let Some(rest) = line.strip_prefix("import ") {
        return rest.split(" as ").next().is_some_and(|modules| modules.split(',').all(word));
    }
    if line.starts_with("@dataclass") {
        return true;
    }
    let defines = ["def ", "class "].iter().find_map(|mark| line.strip_prefix(mark));
    if let Some(rest) = defines {
        return line.ends_with([':', ',', '(']) && rest.split(['(', ':']).next().is_some_and(word);
    }
    if let Some((target, value)) = line.split_once('=') {
        let target = target.split(':').next().unwrap_or(target);
        if !value.starts_with('=') && !value.is_empty() && target.split(',').all(word) {
            return true;
        }
    }
    line.split_once('(').is_some_and(|(callee, _)| word(callee) && !line.starts_with("print("))
}

/// The line behind the statement that begins at `start`; `None` where its brackets do not close.
fn statement_end(lines: &[&str], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (place, line) in lines.iter().enumerate().skip(start).take(LONGEST_CALL) {
        let of_report = ["File \"", "Traceback (", "^^^"].iter().any(|mark| line.trim_start().starts_with(mark));
        if of_report && place > start {
            return None;
        }
        let mut quote: Option<char> = None;
        let mut escaped = false;
        for letter in line.chars() {
            match (quote, letter) {
                _ if escaped => escaped = false,
                (Some(_), '\\') => escaped = true,
                (Some(open), letter) if letter == open => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(letter),
                (None, '#') => break,
                (None, '(' | '[' | '{') => depth += 1,
                (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
                _ => {}
            }
        }
        if depth == 0 {
            return Some(place + 1);
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn code_among_sentences_stays_where_it_was() {
        let text = "It's my first try (see below).\nfrom trl import SFTConfig\n\nargs = SFTConfig(\n    max_length=512,  # it's\n)\nand then\n\
                    ----> 4 model = X.from_pretrained(\n";
        let found = unfenced(text).unwrap();
        assert_eq!(found.len(), text.len());
        assert_eq!(found.find("args = SFTConfig"), text.find("args = SFTConfig"));
        assert!(!found.contains("and then") && !found.contains("first") && !found.contains("----"));
    }

    #[test]
    fn sentences_are_no_program() {
        assert!(unfenced("I call Trainer(model) and it fails.\n").is_none());
        assert!(unfenced(&"x = (\n".repeat(5000)).is_none());
    }

    #[test]
    fn blocks_lie_over_each_other() {
        assert_eq!(overlaid(&["a = 1\n     \n", "     \nb = a\n"]).unwrap(), "a = 1\nb = a\n");
    }
}
