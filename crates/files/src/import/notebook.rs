//! Notebooks: the program, the commands and the files that their code cells hold.

use super::recognise::Content;
use crate::syntax::{self, Entry, Fault, Node, Source, Span, Value};

/// What cells hold in one notation, and where it stands in the notebook's own text.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Part {
    /// A name that says its notation as a file's does.
    pub(super) name: String,
    /// The file that the cell writes.
    pub(super) title: Option<String>,
    /// As it would be run.
    pub(super) text: String,
    /// The byte of the notebook at which each byte stands, and the end.
    places: Vec<usize>,
}

/// Magics whose cell is a script of the shell.
const SHELLS: [&str; 6] = ["bash", "sh", "shell", "script", "system", "sx"];
/// Magics whose cell is no program that trains.
const OTHERS: [&str; 11] =
    ["html", "javascript", "js", "latex", "markdown", "svg", "perl", "ruby", "sql", "bigquery", "cmd"];

/// Whether a text is a notebook's.
pub(super) fn is(name: &str, text: &str) -> bool {
    let begins = text.trim_start_matches('\u{feff}').trim_start();
    name.to_ascii_lowercase().ends_with(".ipynb")
        || begins.starts_with('{') && text.contains("\"cells\"") && text.contains("\"nbformat\"")
}

/// The lines that the cells of a notebook have printed.
pub(super) fn printed(notebook: &Node) -> Vec<&Node> {
    let mut found = Vec::new();
    for output in list(notebook.get("cells")).into_iter().flat_map(|cell| list(cell.get("outputs"))) {
        let of_result = output.get("data").and_then(|data| data.get("text/plain"));
        found.extend(list(output.get("text").or(of_result)));
    }
    found
}

/// The items of a list, or the one text that stands for it.
fn list(node: Option<&Node>) -> Vec<&Node> {
    match node {
        Some(Node { value: Value::List(items), .. }) => items.iter().collect(),
        Some(one @ Node { value: Value::Text(_), .. }) => vec![one],
        _ => Vec::new(),
    }
}

/// The GPU that a notebook's host was asked for, and how many of them: Colab's `gpuType`, Kaggle's `accelerator`.
pub(super) fn host(notebook: &Node) -> Option<(&'static str, i64, Span)> {
    // What the hosts have under these names: Colab's A100 has 40 GB unless more is paid for, Kaggle's T4 are two.
    const COLAB: [(&str, &str); 6] = [
        ("T4", "t4"),
        ("L4", "l4"),
        ("A100", "a100-40gb"),
        ("V100", "v100-16gb"),
        ("P100", "p100"),
        ("H100", "h100-80gb"),
    ];
    const KAGGLE: [(&str, &str, i64); 4] =
        [("nvidiaTeslaT4", "t4", 2), ("nvidiaTeslaP100", "p100", 1), ("gpu", "p100", 1), ("nvidiaL4", "l4", 4)];
    let metadata = notebook.get("metadata")?;
    let said = |part: &str, key: &str| metadata.get(part).and_then(|part| part.get(key));
    let of_colab = said("colab", "gpuType").and_then(|said| {
        let (_, id) = COLAB.iter().find(|(name, _)| said.text() == Some(name))?;
        Some((*id, 1, said.span))
    });
    of_colab.or_else(|| {
        let said = said("kaggle", "accelerator")?;
        let (_, id, count) = KAGGLE.iter().find(|(name, ..)| said.text() == Some(name))?;
        Some((*id, *count, said.span))
    })
}

/// The parts of a notebook: the program of all its cells first, then the commands. `None` where it has no cells.
pub(super) fn parts(text: &str) -> Result<Option<Vec<Part>>, Fault> {
    let node = syntax::json(text)?;
    let Some(Node { value: Value::List(cells), .. }) = node.get("cells") else { return Ok(None) };
    let (mut programs, mut commands, mut parts) = (Vec::new(), Vec::new(), Vec::new());
    for cell in cells.iter().filter(|cell| cell.get("cell_type").and_then(Node::text) == Some("code")) {
        let Some(source) = cell.get("source") else { continue };
        let mut of = Part::default();
        match &source.value {
            Value::List(lines) => lines.iter().for_each(|line| of.push_quoted(text, line.span)),
            _ => of.push_quoted(text, source.span),
        }
        let first = of.text.trim_start().lines().next().unwrap_or("").trim();
        let (magic, rest) = first.split_once(char::is_whitespace).unwrap_or((first, ""));
        let rest = rest.trim_start_matches("-a ").trim().to_owned();
        match magic.strip_prefix("%%") {
            Some("writefile" | "file") => {
                parts.push(Part { name: rest.clone(), title: Some(rest), ..of.behind_first_line() });
            }
            Some(word) if SHELLS.contains(&word.trim_start_matches('!')) || word.starts_with('!') => {
                commands.push(of.behind_first_line());
            }
            Some(word) if OTHERS.contains(&word) => {}
            _ => {
                commands.extend(of.commands());
                programs.push(of);
            }
        }
    }
    let programs = whole(programs, "cell.py", |text| syntax::python(text).is_ok());
    let commands = whole(commands, "cell.sh", |text| syntax::shell(text).is_ok());
    parts.splice(0..0, programs.into_iter().chain(commands));
    Ok(Some(parts))
}

/// Cells of one notation as one, since names of one mean what another set them to; a cell that cannot be read stands by itself.
fn whole(cells: Vec<Part>, name: &str, is_read: impl Fn(&str) -> bool) -> Vec<Part> {
    let mut program = Part { name: name.to_owned(), ..Part::default() };
    let mut broken = Vec::new();
    for cell in cells {
        if !is_read(&cell.text) {
            broken.push(Part { name: name.to_owned(), ..cell });
            continue;
        }
        program.text.extend([cell.text.as_str(), "\n"]);
        // The end of a cell is the place of the line's end behind it.
        program.places.extend(cell.places);
    }
    program.places.extend(program.places.last().copied());
    std::iter::once(program).chain(broken).collect()
}

impl Part {
    /// Adds the text whose quoted form stands at `span`, each byte with the place of what it was written as.
    fn push_quoted(&mut self, text: &str, span: Span) {
        let mut rest = text.get(span.start + 1..span.end.saturating_sub(1)).unwrap_or("");
        let mut at = span.start + 1;
        // Where the text so far ends, this begins.
        self.places.truncate(self.text.len());
        while !rest.is_empty() {
            let length = escape_length(rest);
            let (written, after) = rest.split_at(length);
            let quoted = ["\"", written, "\""].concat();
            let letter: String = serde_json::from_str(&quoted).unwrap_or_else(|_| written.to_owned());
            self.places.extend(std::iter::repeat_n(at, letter.len()));
            self.text.push_str(&letter);
            (rest, at) = (after, at + length);
        }
        self.places.push(at);
    }

    /// The same without its first line that says something.
    fn behind_first_line(&self) -> Self {
        let blank = self.text.len() - self.text.trim_start().len();
        let cut = self.text[blank..].find('\n').map_or(self.text.len(), |at| blank + at + 1);
        self.slice(cut..self.text.len())
    }

    fn slice(&self, range: std::ops::Range<usize>) -> Self {
        let places = self.places.get(range.start..=range.end).unwrap_or_default().to_vec();
        Self { text: self.text.get(range).unwrap_or("").to_owned(), places, ..Self::default() }
    }

    /// Lines that are commands (`!axolotl train a.yml`, with those that continue them) and variables (`%env A=1`).
    fn commands(&self) -> Option<Self> {
        let mut found = Self::default();
        let (mut at, mut continues) = (0, false);
        for line in self.text.split_inclusive('\n') {
            let indentation = line.len() - line.trim_start().len();
            let word = line.trim_start();
            let skipped = match continues {
                true => Some((0, "")),
                false if word.starts_with('!') => Some((word.len() - word.trim_start_matches('!').len(), "")),
                false if word.starts_with("%env ") => Some(("%env ".len(), "export ")),
                false => None,
            };
            if let Some((skipped, before)) = skipped {
                let start = at + if continues { 0 } else { indentation + skipped };
                // Where the text so far ends, this begins.
                found.places.truncate(found.text.len());
                found.text.push_str(before);
                found.places.extend(std::iter::repeat_n(self.places.get(start).copied().unwrap_or(0), before.len()));
                let rest = self.slice(start..at + line.len());
                found.text.push_str(&rest.text);
                found.places.extend(rest.places);
                continues = line.trim_end().ends_with('\\');
            }
            at += line.len();
        }
        (!found.text.is_empty()).then_some(found)
    }

    /// What the part says, with everything where it stands in the notebook's text.
    pub(super) fn placed(&self, content: Content, notebook: &Source<'_>) -> Content {
        let end = self.places.last().copied().unwrap_or(0);
        let place = |at: usize| self.places.get(at).copied().unwrap_or(end);
        let moved = |span: Span| {
            let start = place(span.start);
            // What ends a word is the byte behind its last one, whatever stands next.
            let last = span.end.checked_sub(1).map(|last| (place(last), place(span.end)));
            let stop = last.map_or(start, |(last, next)| if next > last { next } else { last + 1 });
            notebook.span(start, stop.max(start))
        };
        match content {
            Content::Tree(mut node) => {
                node.move_spans(&moved);
                Content::Tree(node)
            }
            Content::Script(mut script) => {
                script.calls.iter_mut().for_each(|call| call.move_spans(&moved));
                let entries =
                    [&mut script.environment, &mut script.attributes, &mut script.variables, &mut script.cuts];
                entries.into_iter().flatten().for_each(|entry| entry.move_spans(&moved));
                script.asks_for_bf16.iter_mut().for_each(|span| *span = moved(*span));
                Content::Script(script)
            }
            Content::Commands(mut commands) => {
                for command in &mut commands {
                    command.span = moved(command.span);
                    command.words.iter_mut().for_each(|word| word.span = moved(word.span));
                    command.environment.iter_mut().for_each(|entry: &mut Entry| entry.move_spans(&moved));
                }
                Content::Commands(commands)
            }
            Content::Fault(fault) => Content::Fault(Fault { span: moved(fault.span), ..fault }),
            Content::Versions => Content::Versions,
        }
    }
}

/// Bytes of the first letter of a quoted text, as it is written: `a`, `\"`, `\u00e9`, a pair of surrogates.
fn escape_length(text: &str) -> usize {
    let unicode = |text: &str| text.starts_with("\\u") && text.is_char_boundary(6.min(text.len())) && text.len() >= 6;
    if unicode(text) {
        let is_high = u32::from_str_radix(&text[2..6], 16).is_ok_and(|code| (0xd800..0xdc00).contains(&code));
        return if is_high && unicode(&text[6..]) { 12 } else { 6 };
    }
    let letters = if text.starts_with('\\') { 2 } else { 1 };
    text.chars().take(letters).map(char::len_utf8).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::{File, import};
    use super::*;

    const NOTEBOOK: &str = r#"{
 "cells": [
  {"cell_type": "markdown", "source": ["r = 1\n"]},
  {"cell_type": "code", "source": ["%%capture\n", "!pip install trl==0.24.0\n", "name = \"Qwen/Qwen3-4B\" # \u00e9\ud83d\ude00\n"]},
  {"cell_type": "code", "source": ["broken = ]\n"]},
  {"cell_type": "code", "source": "args = SFTConfig(\n  max_length=512,\n  bf16=True)\nmodel = AutoModelForCausalLM.from_pretrained(name)\n"},
  {"cell_type": "code", "source": ["%%writefile ds.json\n", "{\"zero_optimization\": {\"stage\": 2}}"]},
  {"cell_type": "code", "source": ["%%bash\n", "export A=1\n"]},
  {"cell_type": "code", "source": ["%env B=2\n", "if True:\n", "  !accelerate launch \\\n", "    --num_processes 4 t.py\n"]}
 ],
 "nbformat": 4
}"#;

    #[test]
    fn cells_are_what_they_would_be_run_as() {
        let found = parts(NOTEBOOK).unwrap().unwrap();
        let names: Vec<&str> = found.iter().map(|part| part.name.as_str()).collect();
        assert_eq!(names, ["cell.py", "cell.py", "cell.sh", "ds.json"]);
        let commands =
            "pip install trl==0.24.0\n\nexport A=1\n\nexport B=2\naccelerate launch \\\n    --num_processes 4 t.py\n\n";
        assert_eq!(found[2].text, commands);
        for part in &found {
            assert_eq!(part.places.len(), part.text.len() + 1, "{part:?}");
            assert!(part.places.is_sorted(), "{part:?}");
        }
        for part in &found {
            for word in ["512", "bf16", "stage", "A=1", "B=2", "num_processes", "Qwen"] {
                if let Some(at) = part.text.find(word) {
                    assert!(NOTEBOOK[part.places[at]..].starts_with(word), "{word}");
                }
            }
        }
    }

    #[test]
    fn what_is_understood_names_its_line_of_the_notebook() {
        let imported = import(&[File { name: "a.ipynb".to_owned(), text: NOTEBOOK.to_owned() }]);
        let line = |field: &str| imported.understood.iter().find(|told| told.field == field).unwrap().span.line;
        assert_eq!((line("model"), line("max_length")), (4, 6));
        assert!(imported.findings.iter().any(|finding| finding.kind.id() == "unreadable" && finding.span.line == 5));
        let max_length = imported.understood.iter().find(|told| told.field == "max_length").unwrap();
        assert_eq!(&NOTEBOOK[max_length.span.start..max_length.span.end], "max_length");
    }

    #[test]
    fn a_notebook_of_commands_runs_them() {
        let text = r#"{"cells": [
{"cell_type": "code", "source": ["%%writefile c.yml\n", "base_model: Qwen/Qwen3-4B\n", "adapter: lora\n", "micro_batch_size: 3\n"]},
{"cell_type": "code", "source": ["!axolotl train c.yml --sequence-len 1024"]}], "nbformat": 4}"#;
        let imported = import(&[File { name: "pasted".to_owned(), text: text.to_owned() }]);
        assert_eq!(imported.trainer.0, "axolotl");
        assert_eq!((imported.plan.per_device_train_batch_size, imported.plan.max_length), (3, 1024));
        let ids: Vec<&str> = imported.findings.iter().map(|finding| finding.kind.id()).collect();
        assert!(!ids.contains(&"missing_file"), "{ids:?}");
    }
}
