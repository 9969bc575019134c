//! Tables of figures as HTML text: rows without controls need no views of their own.

use headroom_core::advise::difference::Changed;
use headroom_core::memory::Fit;

use crate::figures;
use crate::result::{class_of, icon_path};
use crate::text::Texts;

/// `text` with what HTML would read as markup escaped: names in plans are readers' own words.
pub(crate) fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
    html
}

/// Most letters of a value that are shown: a pasted model's config has thousands.
const LONGEST_VALUE: usize = 60;

/// A field's value, cut where it is long; a dot for what was left open.
pub(crate) fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let kept: String = letters.by_ref().take(LONGEST_VALUE).collect();
    match letters.next() {
        _ if text.is_empty() => "·".to_owned(),
        Some(_) => escaped(&kept) + "…",
        None => escaped(&kept),
    }
}

/// `name before → after` of each field.
pub(crate) fn changed_lines(changes: &[Changed]) -> Vec<String> {
    let line = |Changed { field, before, after }: &Changed| {
        format!("<code>{field}</code> {} → {}", shown(before), shown(after))
    };
    changes.iter().map(line).collect()
}

/// A table under a caption. Cells are HTML; the first of each row is its heading, the others are figures.
pub(super) fn table(caption: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
    let mut html = format!("<table><caption>{caption}</caption><thead><tr>");
    for (index, head) in heads.iter().enumerate() {
        let class = if index == 0 { "" } else { " class=\"number\"" };
        html.push_str(&format!("<th scope=\"col\"{class}>{head}</th>"));
    }
    html.push_str("</tr></thead><tbody>");
    for row in rows {
        html.push_str("<tr>");
        for (index, cell) in row.iter().enumerate() {
            html.push_str(&match index {
                0 => format!("<th scope=\"row\">{cell}</th>"),
                _ => format!("<td class=\"number\">{cell}</td>"),
            });
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table>");
    html
}

/// A verdict: sign and word.
pub(super) fn verdict(texts: &Texts, fit: Fit) -> String {
    let (class, path, word) = (class_of(fit), icon_path(fit), (texts.fit)(fit));
    format!(
        "<span class=\"fit {class}\"><svg class=\"fit-icon\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">\
         <circle cx=\"12\" cy=\"12\" r=\"11\"/><path d=\"{path}\"/></svg>{word}</span>"
    )
}

/// How much more bytes there are, with its sign.
pub(super) fn change([before, after]: [u64; 2]) -> String {
    let sign = match after.cmp(&before) {
        std::cmp::Ordering::Less => "−",
        std::cmp::Ordering::Equal => return "·".to_owned(),
        std::cmp::Ordering::Greater => "+",
    };
    format!("{sign}{}", figures::glance(after.abs_diff(before)))
}

#[cfg(test)]
mod tests {
    use super::{change, escaped};

    #[test]
    fn readers_words_are_no_markup() {
        assert_eq!(escaped("<img onerror='x'>&\""), "&lt;img onerror=&#39;x&#39;&gt;&amp;&quot;");
    }

    #[test]
    fn changes_have_a_sign() {
        assert_eq!(change([3 << 30, 1 << 30]), "−2.0 GiB");
        assert_eq!(change([0, 300 << 20]), "+300 MiB");
        assert_eq!(change([5, 5]), "·");
    }
}
