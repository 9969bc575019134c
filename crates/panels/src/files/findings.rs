//! Findings as a list.

use headroom_files::finding::Severity;
use headroom_view::escape;

use super::html::{button, prose};
use super::words::Words;

/// One finding.
pub(super) struct Row<'a> {
    pub(super) severity: Severity,
    /// What it is and what happens.
    pub(super) what: &'a str,
    /// What to do.
    pub(super) how: &'a str,
    /// Where, or the line itself.
    pub(super) place: &'a str,
    /// Number and words of the button that does it.
    pub(super) fix: Option<(usize, &'static str)>,
}

/// The finding as an item of a list.
pub(super) fn item(words: &Words, row: &Row<'_>) -> String {
    let (class, word) = match row.severity {
        Severity::Error => ("error", words.error),
        Severity::Warning => ("warning", words.warning),
        Severity::Note => ("note", words.note),
    };
    let act = row.fix.map_or_else(String::new, |(at, label)| button("", &format!("files fix:{at}"), label));
    let how = if row.how.is_empty() { String::new() } else { format!("<p>{}</p>", prose(row.how)) };
    let place = if row.place.is_empty() {
        String::new()
    } else {
        format!("<p class=\"files-evidence\">{}</p>", escape(row.place))
    };
    format!(
        "<li class=\"files-finding {class}\"><div><p><strong>{}</strong> {}</p>{how}{place}</div>{act}</li>",
        escape(word),
        prose(row.what)
    )
}
