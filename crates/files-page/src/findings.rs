//! Findings as a list.

use headroom_files::finding::Severity;

use crate::html::{button, escaped, prose};
use crate::words::Words;

/// One finding.
pub(crate) struct Row<'a> {
    pub(crate) severity: Severity,
    /// What it is and what happens.
    pub(crate) what: &'a str,
    /// What to do.
    pub(crate) how: &'a str,
    /// Where, or the line itself.
    pub(crate) place: &'a str,
    /// Number and words of the button that does it.
    pub(crate) fix: Option<(usize, &'static str)>,
}

/// The finding as an item of a list.
pub(crate) fn item(words: &Words, row: &Row<'_>) -> String {
    let (class, word) = match row.severity {
        Severity::Error => ("error", words.error),
        Severity::Warning => ("warning", words.warning),
        Severity::Note => ("note", words.note),
    };
    let act = row.fix.map_or_else(String::new, |(at, label)| button("", &format!("fix:{at}"), label));
    let how = if row.how.is_empty() { String::new() } else { format!("<p>{}</p>", prose(row.how)) };
    let place = if row.place.is_empty() {
        String::new()
    } else {
        format!("<p class=\"files-evidence\">{}</p>", escaped(row.place))
    };
    format!(
        "<li class=\"files-finding {class}\"><div><p><strong>{}</strong> {}</p>{how}{place}</div>{act}</li>",
        escaped(word),
        prose(row.what)
    )
}
