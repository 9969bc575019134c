//! HTML as text. Everything that a reader or a file brought is escaped.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use headroom_view::escape;

/// `text` as HTML, what stands between backticks as code.
pub(super) fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { escape(part) }).collect()
}

/// A table with a head; cells are HTML.
pub(super) fn table(caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |tag: &str, cells: &mut dyn Iterator<Item = String>| -> String {
        cells.map(|cell| format!("<{tag}>{cell}</{tag}>")).collect()
    };
    let head = cells("th", &mut head.iter().map(|word| escape(word)));
    let rows: String = rows.iter().map(|row| format!("<tr>{}</tr>", cells("td", &mut row.iter().cloned()))).collect();
    let caption = escape(caption);
    format!(
        "<div class=\"table-scroll\"><table><caption class=\"visually-hidden\">{caption}</caption><thead><tr>{head}</tr></thead>\
         <tbody>{rows}</tbody></table></div>"
    )
}

/// A button that does `action`, with what stands in the box by then.
pub(super) fn button(class: &str, action: &str, label: &str) -> String {
    let (action, label) = (escape(action), escape(label));
    format!("<button type=\"button\" class=\"{class}\" data-do=\"{action}\" data-with-texts>{label}</button>")
}

/// A button that is one of several, `pressed` where it is the one that is chosen.
pub(super) fn choice(action: &str, label: &str, pressed: bool) -> String {
    let (action, label) = (escape(action), escape(label));
    format!("<button type=\"button\" data-do=\"{action}\" data-with-texts aria-pressed=\"{pressed}\">{label}</button>")
}

/// A link that downloads `bytes` as a file called `name`; it holds them.
pub(super) fn download(class: &str, name: &str, bytes: &[u8], label: &str) -> String {
    // Where a name has folders, its last part alone: browsers make no folders.
    let name = name.rsplit('/').next().unwrap_or(name);
    format!(
        "<a class=\"button {class}\" download=\"{}\" href=\"data:application/octet-stream;base64,{}\">{}</a>",
        escape(name),
        STANDARD.encode(bytes),
        escape(label)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code() {
        assert_eq!(prose("set `a<b` to 1"), "set <code>a&lt;b</code> to 1");
        assert_eq!(prose("no code"), "no code");
    }

    #[test]
    fn nothing_that_was_read_becomes_markup() {
        assert!(!button("", "\"><script>", "<b>").contains("<b>"));
    }
}
