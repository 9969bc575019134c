//! Notes and manuals in Markdown: the files and commands in their fenced blocks.

use super::prose::Lists;

/// A fenced block.
pub(super) struct Block {
    /// A name that says its notation as a file's does: by the word behind the fence.
    pub(super) name: String,
    /// The file that the line before the fence, or the first line within, names.
    pub(super) title: Option<String>,
    /// The whole text with everything blanked but the block, each byte where it was, so that lines and fixes are those of the
    /// text.
    pub(super) text: String,
}

/// Words behind a fence, and how a file of that notation ends.
const NOTATIONS: [(&str, &str); 14] = [
    ("yaml", "yaml"),
    ("yml", "yaml"),
    ("json", "json"),
    ("jsonc", "json"),
    ("toml", "toml"),
    ("python", "py"),
    ("py", "py"),
    ("bash", "sh"),
    ("sh", "sh"),
    ("shell", "sh"),
    ("zsh", "sh"),
    ("console", "sh"),
    ("text", "txt"),
    ("", "txt"),
];

/// Words behind a fence that say of a block that it is neither settings nor a command.
const LANGUAGES: [&str; 36] = [
    "c",
    "cpp",
    "c++",
    "cc",
    "cs",
    "csharp",
    "css",
    "cuda",
    "diff",
    "go",
    "golang",
    "haskell",
    "html",
    "java",
    "javascript",
    "js",
    "jsx",
    "julia",
    "kotlin",
    "latex",
    "lua",
    "matlab",
    "mermaid",
    "patch",
    "php",
    "r",
    "rs",
    "ruby",
    "rust",
    "scala",
    "sql",
    "swift",
    "tex",
    "ts",
    "typescript",
    "xml",
];

/// The blocks of a file called `name`; `None` where it is no Markdown.
pub(super) fn blocks(name: &str, text: &str) -> Option<Vec<Block>> {
    let lower = name.to_ascii_lowercase();
    let is_named = [".md", ".mdx", ".markdown"].iter().any(|ending| lower.ends_with(ending));
    // A text that was saved may hold what was posted, and says so by its blocks.
    let base = lower.rsplit(['/', '\\']).next().unwrap_or(&lower);
    let has_ending = base.contains('.') && ![".txt", ".log"].iter().any(|ending| base.ends_with(ending));
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    let is_other = begins.starts_with(['{', '['])
        || ["import ", "from ", "#!", "\"\"\""].iter().any(|mark| begins.starts_with(mark));
    if !is_named && (has_ending || is_other) {
        return None;
    }
    let unquoted = unquoted(text);
    let text = unquoted.as_str();
    let mut blocks = Vec::new();
    // A single mark before the first line and behind the last: code, as whoever wrote it thought.
    let single = single_marks(text);
    if let Some(range) = single.clone() {
        let is_several = text[range.clone()].trim().contains('\n');
        let mut found = block(text, "", range.clone(), None).filter(|_| is_several);
        if let Some(block) = &mut found {
            // The mark stood before a key, whose column is the first.
            block.text.replace_range(range.start - 1..range.start, "\r");
        }
        blocks.extend(found);
    }
    let (mut at, mut before) = (0, "");
    let mut open: Option<(&str, &str, usize, Option<String>)> = None;
    for line in text.split_inclusive('\n') {
        let end = at + line.len();
        let fence = fence_of(line);
        match (&open, fence) {
            (None, Some((mark, word))) => {
                // Some write the first line behind the fence.
                let is_notation = NOTATIONS.iter().any(|(known, _)| *known == word.to_ascii_lowercase());
                let is_first = !is_notation
                    && (super::terminal::launches_something(word) || word.split_whitespace().all(is_variable));
                let (word, from) =
                    if is_first && !word.is_empty() { ("", end - line.len() + mark.len()) } else { (word, end) };
                open = Some((mark, word, from, title_of(before)));
            }
            (Some((mark, word, from, title)), Some((other, ""))) if other.starts_with(mark) => {
                blocks.extend(block(text, word, *from..at, title.clone()));
                open = None;
            }
            _ => {}
        }
        if !line.trim().is_empty() {
            before = line;
        }
        at = end;
    }
    // Where nothing else says that it is Markdown, a block that is closed does.
    (is_named || !blocks.is_empty()).then_some(blocks)
}

/// `text` without the marks of what a note quotes, each byte where it was: `> key: value`. A carriage return begins a line anew
/// for YAML, whose keys stand at one column, and is a blank for everything else.
fn unquoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let marks = line.len() - line.trim_start_matches(['>', ' ']).len();
        let is_quoted = line.trim_start().starts_with('>') && !line.trim_start().starts_with(">>>");
        let (mark, rest) = line.split_at(if is_quoted { marks } else { 0 });
        out.extend(std::iter::repeat_n(' ', mark.len().saturating_sub(1)));
        if !mark.is_empty() {
            out.push('\r');
        }
        out.push_str(rest);
    }
    out
}

/// What stands between the only two marks of a text that has no fences.
fn single_marks(text: &str) -> Option<std::ops::Range<usize>> {
    if text.contains("```") {
        return None;
    }
    let marks: Vec<usize> = text.match_indices('`').map(|(at, _)| at).take(3).collect();
    match marks.as_slice() {
        [from, to] => Some(from + 1..*to),
        _ => None,
    }
}

/// `text` with its fenced blocks blanked.
pub(super) fn without_blocks(text: &str) -> String {
    let mut open: Option<&str> = None;
    let of_line = |line| match (open, fence_of(line)) {
        (None, Some((mark, _))) => {
            open = Some(mark);
            super::prose::blank(line)
        }
        (Some(mark), fence) => {
            if fence.is_some_and(|(other, word)| other.starts_with(mark) && word.is_empty()) {
                open = None;
            }
            super::prose::blank(line)
        }
        (None, None) => line.to_owned(),
    };
    text.split_inclusive('\n').map(of_line).collect()
}

/// What stands in `text` as it would in a file of its own, with everything else blanked: commands with their continued lines, and
/// lines of keys and values that follow each other.
pub(super) fn unfenced(text: &str) -> Vec<String> {
    let text = unquoted(text);
    let text = if single_marks(&text).is_some() { text.replace('`', "\r") } else { without_marks(&text) };
    // What is to be seen stands in bold, marks before the first key and behind the last value.
    let text = text.replace("\n**", "\n \r").replace("**\n", "  \n");
    if let Some(printed) = printed_command(&text) {
        return vec![printed];
    }
    let text = text.as_str();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let blank = |line: &str| -> String { line.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect() };
    let masked = |keep: &[bool]| -> String {
        lines.iter().zip(keep).map(|(line, keep)| if *keep { (*line).to_owned() } else { blank(line) }).collect()
    };
    let mut commands = vec![false; lines.len()];
    let mut continues = false;
    let is_option = |line: &&str| -> bool {
        line.trim_start()
            .strip_prefix("--")
            .is_some_and(|name| name.starts_with(|first: char| first.is_ascii_alphabetic()))
    };
    for (place, line) in lines.iter().enumerate() {
        // Options that are quoted without what takes them.
        let quotes = lines.get(place..place + 3).is_some_and(|three| three.iter().all(is_option));
        let begins = line.trim_end().ends_with('\\') && line.split_whitespace().all(is_variable);
        let sets = !line.trim().is_empty() && !line.contains(": ") && line.split_whitespace().all(is_assignment);
        commands[place] = continues || begins || sets || quotes || super::terminal::launches_something(line);
        // Posts lose the backslashes before lines of options, and between them before the script.
        let next = lines.get(place + 1).map_or("", |next| next.trim());
        let options_follow = next.starts_with("--")
            || next.ends_with(".py") && !next.contains(' ') && line.trim_start().starts_with("--");
        // A sentence does not go on with a command, whatever stands at its end.
        let is_sentence = next.starts_with(|first: char| !first.is_ascii() || first == '{');
        continues = commands[place] && (line.trim_end().ends_with('\\') && !is_sentence || options_follow);
    }
    let mut found = Vec::new();
    if commands.contains(&true) {
        found.push(masked(&commands));
    }
    found.extend(lines.iter().zip(&commands).enumerate().find_map(|(place, (line, is_command))| {
        let command = within_sentence(line).filter(|_| !is_command)?;
        let part = |line: &str, is_it: bool| if is_it { command.clone() } else { blank(line) };
        Some(lines.iter().enumerate().map(|(at, line)| part(line, at == place)).collect::<String>())
    }));
    found.extend(super::prose::objects(text));
    found.extend(super::prose::statements(text));
    for keys in texts_of_keys(&lines, &commands) {
        let mut keep = vec![false; lines.len()];
        keys.iter().for_each(|place| keep[*place] = true);
        found.push(masked(&keep));
    }
    found
}

/// `text` without the single marks of code that lines begin or end with, each byte where it was.
fn without_marks(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let content = line.trim_end();
        let is_fence = content.trim_start().starts_with("```");
        let begins = !is_fence && content.starts_with('`') && !content[1..].trim_end_matches('`').contains('`');
        let ends = !is_fence
            && content.len() > 1
            && content.ends_with('`')
            && content.matches('`').count() <= 2
            && (begins || content.matches('`').count() == 1);
        out.push_str(if begins { "\r" } else { "" });
        let rest = &line[usize::from(begins)..];
        if ends {
            out.push_str(&rest[..content.len() - usize::from(begins) - 1]);
            out.push(' ');
            out.push_str(&line[content.len()..]);
        } else {
            out.push_str(rest);
        }
    }
    out
}

/// The file that the line before the first of `part` names, of `text` of which it is a part.
pub(super) fn title_before(text: &str, part: &str) -> Option<String> {
    let first = part.lines().position(|line| !line.trim().is_empty())?;
    text.lines().take(first).filter(|line| !line.trim().is_empty()).last().and_then(title_of)
}

/// Lines of keys and values that follow each other, text by text; of very many texts the longest.
fn texts_of_keys(lines: &[&str], commands: &[bool]) -> Vec<Vec<usize>> {
    const MOST: usize = 16;
    let mut found: Vec<Vec<usize>> = Vec::new();
    let (mut keys, mut lists) = (Vec::new(), Lists::default());
    // One line more than there are ends the last text.
    let own = lines.iter().zip(commands).map(|(line, is_command)| Some(line).filter(|_| !is_command));
    for (place, line) in own.chain([None]).enumerate() {
        // A pair that lacks its blank is none, and those around it are of one text all the same.
        let is_slip = |line: &&&str| {
            let pair = line.trim().split_once(':');
            pair.is_some_and(|(name, value)| is_key(&[name, ": 1"].concat(), false) && !value.contains([' ', ':']))
        };
        // `## cat configs/train.yaml`: another file begins.
        let begins_file = line.is_some_and(|line| {
            let comment = line.trim();
            comment.starts_with('#') && !comment.contains(": ") && title_of(comment).is_some()
        });
        if !begins_file && line.is_some_and(|line| is_key(line, !keys.is_empty()) && lists.takes(line)) {
            keys.push(place);
        } else if !keys.is_empty() && line.filter(is_slip).is_none() {
            found.push(std::mem::take(&mut keys));
            lists = Lists::default();
            // What ends one text may begin the next.
            if !begins_file && line.is_some_and(|line| is_key(line, false) && lists.takes(line)) {
                keys.push(place);
            }
        }
    }
    if found.len() > MOST {
        let mut lengths: Vec<usize> = found.iter().map(Vec::len).collect();
        lengths.sort_unstable_by(|one, other| other.cmp(one));
        found.retain(|keys| keys.len() >= lengths[MOST - 1]);
        found.truncate(MOST);
    }
    found
}

/// The commands that sentences quote, `` `llamafactory-cli train x.yaml` ``, with everything else blanked.
pub(super) fn quoted(text: &str) -> Option<String> {
    let blank = |text: &str| -> String { text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect() };
    let (mut out, mut fenced, mut found) = (String::with_capacity(text.len()), false, false);
    for line in text.split_inclusive('\n') {
        if fence_of(line).is_some() {
            fenced = !fenced;
            out.push_str(&blank(line));
            continue;
        }
        for (place, part) in line.split_inclusive('`').enumerate() {
            let code = part.trim_end_matches('`');
            if place > 0 && part.ends_with('`') && !fenced && super::terminal::launches_something(code) {
                found = true;
                out.push_str(code);
                out.push_str(&blank(&part[code.len()..]));
            } else {
                out.push_str(&blank(part));
            }
        }
    }
    found.then_some(out)
}

/// The command that a launcher printed as a list of words before it gave up, with everything else blanked:
/// `['/usr/bin/python', '-u', 'train.py', '--local_rank=0'] exits with return code = 1` (deepspeed launcher/launch.py, accelerate
/// commands/launch.py). A list of quoted words is one that a shell reads once its brackets and commas are blank.
pub(super) fn printed_command(text: &str) -> Option<String> {
    let blank = |text: &str| -> String { text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect() };
    let ends = ["'] exits with return code", "']' returned non-zero exit status", "']' died with"];
    let end = ends.iter().filter_map(|mark| text.find(mark)).min()?;
    let start = text[..end].rfind("['")?;
    let list = text.get(start + 1..=end)?;
    let words = list.replace("', '", "'  '");
    (!words.contains('\n')).then(|| [blank(&text[..=start]), words, blank(&text[end + 1..])].concat())
}

/// The command within a sentence, the line's other bytes blank: from the variables before a launcher up to the first word of the
/// sentence behind it. A word that is a launcher's name alone is none; options make it one.
fn within_sentence(line: &str) -> Option<String> {
    const LEAST_OPTIONS: usize = 4;
    const LAUNCHERS: [&str; 9] =
        ["accelerate", "torchrun", "deepspeed", "llamafactory-cli", "swift", "axolotl", "python", "python3", "trl"];
    // What these two words do, options or not, is plain.
    const PLAIN: [(&str, &str); 6] = [
        ("llamafactory-cli", "train"),
        ("accelerate", "launch"),
        ("axolotl", "train"),
        ("swift", "sft"),
        ("swift", "rlhf"),
        ("tune", "run"),
    ];
    let at = |word: &str| word.as_ptr() as usize - line.as_ptr() as usize;
    let words: Vec<&str> = line
        .split(|letter: char| letter.is_whitespace() || !letter.is_ascii())
        .filter(|word| !word.is_empty())
        .collect();
    let is_plain = |two: &[&str]| PLAIN.iter().any(|(program, what)| two == [*program, *what]);
    let launcher = words
        .windows(2)
        .position(is_plain)
        .or_else(|| words.iter().position(|word| LAUNCHERS.contains(&crate::syntax::base(word))))?;
    let is_option = |word: &&&str| word.starts_with("--");
    let says_so = words.get(launcher..launcher + 2).is_some_and(is_plain);
    let is_command = says_so || words[launcher..].iter().filter(is_option).count() >= LEAST_OPTIONS;
    if at(words[launcher]) == 0 || !is_command {
        return None;
    }
    let before = words[..launcher].iter().rev().take_while(|word| is_assignment(word)).count();
    let start = at(words[launcher - before]);
    let behind = line[start..].find(|letter: char| !letter.is_ascii());
    let end = behind.map_or(line.trim_end().len(), |behind| start + behind);
    let spaces = |text: &str| " ".repeat(text.len());
    let tail: String = line[end..].bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect();
    Some([spaces(&line[..start]), line[start..end].to_owned(), tail].concat())
}

/// `nproc_per_node=2`: a word that sets a variable.
fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a word sets a variable, or goes on in the next line.
fn is_variable(word: &str) -> bool {
    let name = word.split_once('=').map_or("", |(name, _)| name);
    word == "\\" || !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
}

/// Whether a line is one of YAML: `key: value`, and behind such a line items, comments and nothing.
fn is_key(line: &str, follows: bool) -> bool {
    let trimmed = line.trim();
    let pair = trimmed.split_once(':');
    let is_pair = pair.is_some_and(|(name, rest)| {
        !name.is_empty()
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            && (rest.is_empty() || rest.starts_with(' '))
    });
    let is_item = trimmed == "-" || trimmed.starts_with("- ");
    is_pair || follows && (trimmed.is_empty() || is_item || trimmed.starts_with('#'))
}

/// The fence that a line is, and the word behind it.
fn fence_of(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let length = line.len() - line.trim_start_matches('`').len();
    let (mark, word) = line.split_at(length);
    (length >= 3 && !word.contains('`')).then(|| (mark, word.trim()))
}

/// The file that a line names: `` `configs/ds.json` ``, `# train.sh`.
fn title_of(line: &str) -> Option<String> {
    let is_file = |word: &&str| {
        [".yaml", ".yml", ".json", ".toml", ".py", ".sh"]
            .iter()
            .any(|ending| word.ends_with(ending) && word.len() > ending.len())
    };
    let words = line.split(|c: char| c.is_whitespace() || !c.is_ascii() || "`'\"():,*<>".contains(c));
    words.filter(|word| !word.is_empty()).find(is_file).map(str::to_owned)
}

fn block(text: &str, word: &str, range: std::ops::Range<usize>, title: Option<String>) -> Option<Block> {
    let word = word.split([' ', ',', '{', ':']).next().unwrap_or("").to_ascii_lowercase();
    // A word that names no language says nothing of what stands there: `make`, `cmd`, `log`, `Config`.
    let known = NOTATIONS.iter().find(|(known, _)| *known == word);
    let (_, ending) = known.or_else(|| (!LANGUAGES.contains(&word.as_str())).then_some(&("", "txt")))?;
    let body = text.get(range.clone())?;
    let within = body.lines().next().filter(|line| line.trim_start().starts_with('#')).and_then(title_of);
    let blank = |text: &str| -> String { text.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }).collect() };
    // A notebook's cell that was copied: what it writes into a file.
    let written =
        body.lines().find(|line| !line.trim().is_empty()).and_then(|line| line.trim().strip_prefix("%%writefile "));
    let ending = match written.and_then(|path| path.trim().rsplit_once('.')) {
        Some((_, written)) => {
            NOTATIONS.iter().map(|(_, ending)| ending).find(|known| **known == written).unwrap_or(ending)
        }
        None => ending,
    };
    let mut masked = blank(&text[..range.start]);
    for line in body.split_inclusive('\n') {
        if written.is_some() && line.trim().starts_with("%%writefile ") {
            masked.push_str(&blank(line));
            continue;
        }
        // Manuals write a prompt before commands.
        let prompt = if *ending == "sh" && line.trim_start().starts_with("$ ") {
            line.find("$ ").map_or(0, |at| at + 2)
        } else {
            0
        };
        masked.push_str(&blank(&line[..prompt]));
        masked.push_str(&line[prompt..]);
    }
    masked.push_str(&blank(&text[range.end..]));
    let name = if *ending == "txt" { String::new() } else { format!("block.{ending}") };
    let written = written.map(|path| path.trim().to_owned());
    Some(Block { name, title: written.or(title).or(within), text: masked })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::blocks;

    #[test]
    fn blocks_stand_where_they_stood() {
        let text =
            "# Training\nWrite `a/ds.json`:\n\n```json\n{\"a\": 1}\n```\nthen\n```console\n$ deepspeed x.py\n```\n";
        let found = blocks("README.md", text).unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].name.as_str(), found[0].title.as_deref()), ("block.json", Some("a/ds.json")));
        assert_eq!(found[0].text.len(), text.len());
        assert_eq!(found[0].text.find("{\"a\": 1}"), text.find("{\"a\": 1}"));
        assert_eq!(found[1].text.find("deepspeed x.py"), text.find("deepspeed x.py"));
        assert!(!found[1].text.contains('$'));
    }

    #[test]
    fn what_is_no_markdown_is_left_to_others() {
        assert!(blocks("x.yaml", "```\na\n```\n").is_none());
        assert!(blocks("pasted text", "a: 1\n").is_none());
        assert!(blocks("pasted text", "from trl import x\n\"\"\"\n```\na\n```\n\"\"\"\n").is_none());
        assert!(blocks("pasted text", "中文：\n```yaml\na: 1\n```\n").is_some_and(|found| found.len() == 1));
        assert!(blocks("x.md", "```yaml\nnever closed").unwrap().is_empty());
    }
}
