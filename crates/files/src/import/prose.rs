//! Settings that stand in a post without a fence: which lines are of one text, and objects of JSON between sentences.

/// Follows lines of YAML: an item can stand only where the lines before it leave a list open. Bullets of a report above or below
/// keys are none of theirs, and one of them would make the whole text unreadable.
#[derive(Default)]
pub(super) struct Lists {
    /// Columns of the lists that are open.
    columns: Vec<usize>,
    /// The column of a key without a value, behind which a list may begin.
    opens: Option<usize>,
}

impl Lists {
    /// Whether `line` goes on with the text; the next line is judged by it then.
    pub(super) fn takes(&mut self, line: &str) -> bool {
        let content = line.trim();
        if content.is_empty() || content.starts_with('#') {
            return true;
        }
        let column = line.len() - line.trim_start().len();
        let item = content.strip_prefix('-').filter(|rest| rest.is_empty() || rest.starts_with(' '));
        let Some(item) = item else {
            self.columns.retain(|open| *open < column);
            self.opens = opens(content).then_some(column);
            return true;
        };
        let is_open = self.columns.contains(&column) || self.opens.is_some_and(|key| key <= column);
        if is_open {
            self.columns.retain(|open| *open < column);
            self.columns.push(column);
            self.opens = opens(item.trim()).then_some(column);
        }
        is_open
    }
}

/// Whether a key stands there whose value is yet to come.
fn opens(content: &str) -> bool {
    content.split_once(':').is_some_and(|(_, rest)| rest.trim().is_empty() || rest.trim_start().starts_with('#'))
}

/// The objects of JSON that begin with a line and end with one, each in a text of its own with everything else blanked.
pub(super) fn objects(text: &str) -> Vec<String> {
    const MOST: usize = 8;
    let mut found = Vec::new();
    let mut at = 0;
    while found.len() < MOST {
        let Some(from) = text[at..].split_inclusive('\n').scan(at, next_line).find(begins_object(text)) else { break };
        let Some(to) = end_of_object(text, from) else { break };
        if crate::syntax::json(&text[from..to]).is_ok() {
            found.push([blank(&text[..from]), text[from..to].to_owned(), blank(&text[to..])].concat());
        }
        at = text[to..].find('\n').map_or(text.len(), |length| to + length + 1);
    }
    found
}

/// The statements of Python that make settings, `args = dict(...)` and `json.dump(args, ...)`, with everything else blanked; `None`
/// without any.
pub(super) fn statements(text: &str) -> Option<String> {
    const LONGEST: usize = 400;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut out = String::with_capacity(text.len());
    let (mut place, mut found) = (0, false);
    while let Some(line) = lines.get(place) {
        let end = if makes_settings(line) { end_of_call(&lines, place, LONGEST) } else { None };
        match end {
            Some(end) => {
                found = true;
                lines[place..=end].iter().for_each(|line| out.push_str(line));
                place = end + 1;
            }
            None => {
                out.push_str(&blank(line));
                place += 1;
            }
        }
    }
    found.then_some(out)
}

/// Whether a line begins such a statement, at the first column.
fn makes_settings(line: &str) -> bool {
    if ["json.dump(", "yaml.dump("].iter().any(|call| line.starts_with(call)) {
        return true;
    }
    let Some((name, value)) = line.split_once('=') else { return false };
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let class = value.trim_start().split_once('(').map_or("", |(class, _)| class);
    is_name(name.trim_end())
        && is_name(class)
        && (class == "dict" || ["Config", "Arguments"].iter().any(|ending| class.ends_with(ending)))
}

/// The line in which the call ends that begins in one, by its brackets.
fn end_of_call(lines: &[&str], from: usize, longest: usize) -> Option<usize> {
    let (mut depth, mut quote) = (0i64, None);
    for (place, line) in lines.iter().enumerate().skip(from).take(longest) {
        for letter in line.bytes() {
            match (letter, quote) {
                (letter, Some(mark)) if letter == mark => quote = None,
                (_, Some(_)) => {}
                (b'"' | b'\'', None) => quote = Some(letter),
                (b'#', None) => break,
                (b'(' | b'[' | b'{', None) => depth += 1,
                (b')' | b']' | b'}', None) => depth -= 1,
                _ => {}
            }
        }
        // No text of one line goes on in the next.
        quote = None;
        if depth <= 0 {
            return (depth == 0).then_some(place);
        }
    }
    None
}

/// Where a line begins.
#[allow(clippy::unnecessary_wraps)]
fn next_line(at: &mut usize, line: &str) -> Option<usize> {
    let from = *at;
    *at += line.len();
    Some(from)
}

fn begins_object(text: &str) -> impl Fn(&usize) -> bool {
    |from| text[*from..].lines().next().is_some_and(|line| line.trim_start().starts_with('{'))
}

/// Where the object ends that begins behind `from`, if a line ends there.
fn end_of_object(text: &str, from: usize) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for (place, letter) in text[from..].bytes().enumerate() {
        match letter {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(from + place + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// `text` with nothing but its line ends.
pub(super) fn blank(text: &str) -> String {
    text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect()
}
