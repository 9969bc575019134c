//! HTML as text. Everything a reader or a file brought goes through [`escaped`].

/// `text` as HTML shows it, in text and in quoted attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(letter),
        }
    }
    out
}

/// `text` as HTML, what stands between backticks as code.
pub(crate) fn prose(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts
        .map(|(at, part)| if at % 2 == 1 { format!("<code>{}</code>", escaped(part)) } else { escaped(part) })
        .collect()
}

/// A table with a head; cells are HTML.
pub(crate) fn table(caption: &str, head: &[&str], rows: &[Vec<String>]) -> String {
    let cells = |tag: &str, cells: &mut dyn Iterator<Item = String>| -> String {
        cells.map(|cell| format!("<{tag}>{cell}</{tag}>")).collect()
    };
    let head = cells("th", &mut head.iter().map(|word| escaped(word)));
    let rows: String = rows.iter().map(|row| format!("<tr>{}</tr>", cells("td", &mut row.iter().cloned()))).collect();
    let caption = escaped(caption);
    format!(
        "<div class=\"table-scroll\"><table><caption class=\"visually-hidden\">{caption}</caption><thead><tr>{head}</tr></thead>\
         <tbody>{rows}</tbody></table></div>"
    )
}

/// A button that asks the panel for `action`.
pub(crate) fn button(class: &str, action: &str, label: &str) -> String {
    format!("<button type=\"button\" class=\"{class}\" data-action=\"{}\">{}</button>", escaped(action), escaped(label))
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
        assert_eq!(escaped("<img src=x onerror='a()'>&\""), "&lt;img src=x onerror=&#39;a()&#39;&gt;&amp;&quot;");
        assert!(!button("", "\"><script>", "<b>").contains("<b>"));
    }
}
