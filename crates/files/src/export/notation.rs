//! Settings as YAML, as keywords of a Python call, and as JSON.

use headroom_text::Language;

use super::setting::{Setting, Written, real_text};

/// Settings as YAML, a line each, with their reasons as comments.
pub(super) fn yaml(settings: &[Setting], language: Language) -> String {
    let mut out = String::new();
    yaml_section(settings, 0, language, &mut out);
    out
}

fn yaml_section(settings: &[Setting], depth: usize, language: Language, out: &mut String) {
    for Setting { key, value, why } in settings {
        let indent = "  ".repeat(depth);
        let comment = why.as_ref().map_or_else(String::new, |why| format!("  # {}", why.say(language)));
        match value {
            Written::Section(inner) => {
                out.push_str(&format!("{indent}{key}:{comment}\n"));
                yaml_section(inner, depth + 1, language, out);
            }
            Written::Texts(texts) if texts.is_empty() => out.push_str(&format!("{indent}{key}: []{comment}\n")),
            Written::Texts(texts) => {
                out.push_str(&format!("{indent}{key}:{comment}\n"));
                for text in texts {
                    out.push_str(&format!("{indent}  - {}\n", yaml_text(text)));
                }
            }
            Written::Sections(sections) => {
                out.push_str(&format!("{indent}{key}:{comment}\n"));
                for section in sections {
                    let mut text = String::new();
                    yaml_section(section, depth + 2, language, &mut text);
                    // The first line carries the mark of the list.
                    out.push_str(&format!("{indent}  - {}", text.trim_start()));
                }
            }
            plain => out.push_str(&format!("{indent}{key}: {}{comment}\n", yaml_plain(plain))),
        }
    }
}

fn yaml_plain(value: &Written) -> String {
    match value {
        Written::Flag(flag) => flag.to_string(),
        Written::Whole(whole) => whole.to_string(),
        Written::Real(real) => real_text(*real),
        Written::Text(text) | Written::Code(text) => yaml_text(text),
        Written::Texts(_) | Written::Section(_) | Written::Sections(_) => String::new(),
    }
}

/// A text as YAML has it, quoted where it would be read as something else.
fn yaml_text(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '_' | '-' | '.');
    let starts_plain = text.starts_with(|first: char| first.is_ascii_alphabetic());
    let reserved = ["true", "false", "yes", "no", "on", "off", "null", "none", "y", "n"];
    if starts_plain && text.chars().all(plain) && !reserved.contains(&text.to_ascii_lowercase().as_str()) {
        return text.to_owned();
    }
    quoted(text)
}

/// A text in double quotes, escaped as JSON, YAML and Python all read it.
pub(super) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Settings as keywords of a Python call, indented.
pub(super) fn keywords(settings: &[Setting], depth: usize, language: Language) -> String {
    let indent = "    ".repeat(depth);
    let mut out = String::new();
    for Setting { key, value, why } in settings {
        let comment = why.as_ref().map_or_else(String::new, |why| format!("  # {}", why.say(language)));
        out.push_str(&format!("{indent}{key}={},{comment}\n", python(value, depth)));
    }
    out
}

fn python(value: &Written, depth: usize) -> String {
    match value {
        Written::Flag(true) => "True".to_owned(),
        Written::Flag(false) => "False".to_owned(),
        Written::Whole(whole) => whole.to_string(),
        Written::Real(real) => real_text(*real),
        Written::Text(text) => quoted(text),
        Written::Code(code) => code.clone(),
        Written::Texts(texts) => format!("[{}]", texts.iter().map(|text| quoted(text)).collect::<Vec<_>>().join(", ")),
        Written::Section(inner) => {
            let indent = "    ".repeat(depth + 1);
            let entry = |setting: &Setting| {
                format!("{indent}{}: {},\n", quoted(setting.key), python(&setting.value, depth + 1))
            };
            let entries: String = inner.iter().map(entry).collect();
            format!("{{\n{entries}{}}}", "    ".repeat(depth))
        }
        Written::Sections(sections) => {
            let section = |inner: &Vec<Setting>| python(&Written::Section(inner.clone()), depth);
            format!("[{}]", sections.iter().map(section).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Settings as JSON. It has no comments: the reasons stand in the README beside it.
pub(super) fn json(settings: &[Setting]) -> String {
    serde_json::to_string_pretty(&json_value(settings)).unwrap_or_default() + "\n"
}

fn json_value(settings: &[Setting]) -> serde_json::Value {
    let entry = |setting: &Setting| {
        let value = match &setting.value {
            Written::Flag(flag) => (*flag).into(),
            Written::Whole(whole) => (*whole).into(),
            Written::Real(real) => (*real).into(),
            Written::Text(text) | Written::Code(text) => text.as_str().into(),
            Written::Texts(texts) => texts.as_slice().into(),
            Written::Section(inner) => json_value(inner),
            Written::Sections(sections) => sections.iter().map(|section| json_value(section)).collect(),
        };
        (setting.key.to_owned(), value)
    };
    serde_json::Value::Object(settings.iter().map(entry).collect())
}

/// Settings as flags of a command line, one a line.
pub(super) fn flags(settings: &[Setting]) -> String {
    let flag = |setting: &Setting| {
        let value = match &setting.value {
            Written::Texts(texts) => texts.iter().map(|text| shell_word(text)).collect::<Vec<_>>().join(" "),
            Written::Section(inner) => shell_word(&json_value(inner).to_string()),
            Written::Sections(sections) => {
                let section = |section: &Vec<Setting>| shell_word(&json_value(section).to_string());
                sections.iter().map(section).collect::<Vec<_>>().join(" ")
            }
            plain => shell_word(&flag_text(plain)),
        };
        format!(" \\\n    --{} {value}", setting.key)
    };
    settings.iter().map(flag).collect()
}

/// Settings as hydra's `key=value`, one a line.
pub(super) fn assignments(settings: &[Setting]) -> String {
    let assignment = |setting: &Setting| {
        let value = match &setting.value {
            Written::Texts(texts) => format!("[{}]", texts.join(",")),
            plain => flag_text(plain),
        };
        format!(" \\\n    {}", shell_word(&format!("{}={value}", setting.key)))
    };
    settings.iter().map(assignment).collect()
}

fn flag_text(value: &Written) -> String {
    match value {
        Written::Flag(flag) => flag.to_string(),
        Written::Whole(whole) => whole.to_string(),
        Written::Real(real) => real_text(*real),
        Written::Text(text) | Written::Code(text) => text.clone(),
        Written::Texts(_) | Written::Section(_) | Written::Sections(_) => String::new(),
    }
}

/// A word of a command line, in single quotes where the shell would read more into it.
pub(super) fn shell_word(text: &str) -> String {
    let plain =
        |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '/' | '_' | '-' | '.' | ':' | ',' | '=');
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}
