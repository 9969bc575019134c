//! Lines within brackets and quotes of a YAML text, indented as YAML 1.2 wants them.
//!
//! PyYAML takes no notice of indentation within `[`, `{` and quotes, and people close a list under its key:
//!
//! ```yaml
//! lora_target_modules: [
//!   q_proj,
//! ]
//! ```
//!
//! The parser that is used here follows YAML 1.2, which refuses that bracket. Spaces before such a line are no part of any
//! value, so it is put further in, and every character remembers where it stood.

/// Furthest that a line is put in, columns: further in nobody opens a bracket, and the padding stays small.
const FURTHEST: usize = 200;

/// `text` with those lines further in, and for each of its characters, and its end, the byte of `text` where it stands.
pub(super) fn indented(text: &str) -> (String, Vec<usize>) {
    let mut scanner = Scanner { opened: 0, depth: 0, quote: None, block: None };
    let (mut padded, mut places) = (String::with_capacity(text.len()), Vec::with_capacity(text.len()));
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let indentation = line.len() - line.trim_start_matches(' ').len();
        let least = scanner.opened + scanner.depth + 1;
        if scanner.is_within() && indentation < least && !line.trim().is_empty() {
            padded.extend(std::iter::repeat_n(' ', least - indentation));
            places.extend(std::iter::repeat_n(start, least - indentation));
        }
        let glued = scanner.line(line, indentation);
        for (at, letter) in line.char_indices() {
            if Some(at) == glued {
                padded.push(' ');
                places.push(start + at);
            }
            padded.push(letter);
            places.push(start + at);
        }
        start += line.len();
    }
    places.push(text.len());
    (padded, places)
}

/// What is open at the end of a line.
struct Scanner {
    /// Column at which the outermost bracket or the quote opens.
    opened: usize,
    /// Brackets that are open.
    depth: usize,
    /// The quote that is open.
    quote: Option<char>,
    /// Column that lines of a literal or folded text are further in than.
    block: Option<usize>,
}

impl Scanner {
    const fn is_within(&self) -> bool {
        self.depth > 0 || self.quote.is_some()
    }

    /// Goes on by a line. PyYAML takes `"text"# comment` too: where such a comment begins, bytes.
    fn line(&mut self, line: &str, indentation: usize) -> Option<usize> {
        if let Some(column) = self.block {
            if line.trim().is_empty() || indentation > column {
                return None;
            }
            self.block = None;
        }
        // Whether a value may begin here, and where the line's first key or value stands behind its dashes.
        let (mut fresh, mut first, mut before) = (true, None, ' ');
        let mut letters = line.chars().enumerate().peekable();
        while let Some((column, letter)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            let ends_word = next.is_none_or(char::is_whitespace);
            if let Some(quote) = self.quote {
                if letter == '\\' && quote == '"' || letter == quote && quote == '\'' && next == Some('\'') {
                    letters.next();
                } else if letter == quote {
                    self.quote = None;
                    if next == Some('#') {
                        return line.char_indices().nth(column + 1).map(|(at, _)| at);
                    }
                }
                (fresh, before) = (false, letter);
                continue;
            }
            match letter {
                _ if letter.is_whitespace() => {}
                '#' if before.is_whitespace() => return None,
                '-' | '?' if fresh && ends_word => {}
                '[' | '{' if fresh || self.depth > 0 => {
                    if self.depth == 0 {
                        self.opened = column.min(FURTHEST);
                    }
                    (self.depth, fresh) = (self.depth + 1, true);
                    if self.depth > FURTHEST {
                        self.depth = FURTHEST;
                    }
                }
                ']' | '}' if self.depth > 0 => (self.depth, fresh) = (self.depth - 1, false),
                ',' if self.depth > 0 => fresh = true,
                '"' | '\'' if fresh => {
                    self.quote = Some(letter);
                    if self.depth == 0 {
                        self.opened = column.min(FURTHEST);
                    }
                }
                '|' | '>' if fresh && self.depth == 0 => {
                    self.block = Some(first.unwrap_or(indentation));
                    return None;
                }
                ':' if ends_word => fresh = true,
                // An anchor or a tag: the value comes behind it.
                '&' | '!' if fresh => while letters.next_if(|(_, next)| !next.is_whitespace()).is_some() {},
                _ => {
                    first = first.or(Some(column));
                    fresh = false;
                }
            }
            if !letter.is_whitespace() && !matches!(letter, '-' | '?') {
                first = first.or(Some(column));
            }
            before = letter;
        }
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::super::node::Value;
    use super::super::yaml;

    fn texts(text: &str, key: &str) -> Vec<String> {
        let read = yaml(text).unwrap_or_else(|fault| panic!("{fault:?}"));
        let found = read.entries().iter().find(|entry| entry.key == key).map(|entry| entry.node.value.clone());
        match found {
            Some(Value::List(items)) => items.iter().map(|item| format!("{:?}", item.value)).collect(),
            other => vec![format!("{other:?}")],
        }
    }

    #[test]
    fn a_bracket_may_close_under_its_key() {
        let text = "a: [\n  q, # ]\n  \"it's [\",\n]\nb: {\n  c: 1\n}\nd:\n  - e: [\n\"f\"\n]\n    g: 2\nh: 3\n";
        assert_eq!(texts(text, "a"), [r#"Text("q")"#, r#"Text("it's [")"#]);
        assert_eq!(texts(text, "h"), ["Some(Integer(3))"]);
        let read = yaml(text).unwrap();
        let last = read.entries().last().unwrap();
        assert_eq!((last.span.line, last.span.column, &text[last.span.start..last.span.end]), (13, 1, "h"));
    }

    #[test]
    fn what_stands_in_a_literal_text_opens_nothing() {
        let text = "a: |\n  x: [\n   'y\nb:\n  - c: >-\n      [ {\n    d: [\n]\ne: it's [fine\nf: 1\n";
        assert_eq!(texts(text, "a"), [r#"Some(Text("x: [\n 'y\n"))"#]);
        assert_eq!(texts(text, "e"), [r#"Some(Text("it's [fine"))"#]);
        assert_eq!(texts(text, "f"), ["Some(Integer(1))"]);
    }

    #[test]
    fn a_quoted_text_goes_on_at_the_margin() {
        let text = "a:\n  b: \"one\ntwo\"\nc: 1\n";
        assert_eq!(texts(text, "c"), ["Some(Integer(1))"]);
        assert!(format!("{:?}", yaml(text).unwrap()).contains("one two"));
    }

    #[test]
    fn what_is_no_yaml_stays_so() {
        for text in ["a: [\n", "a: [1\nb: 2\n", "a: ]\n", "a: {b: [}\n"] {
            assert!(yaml(text).is_err(), "{text}");
        }
    }
}
