//! Pieces that panels of several rooms show: verdicts, changed fields, tables, buttons. Those that return text are trusted
//! HTML for [`Element::markup`](headroom_view::Element::markup): readers' words in it are escaped.

use headroom_core::advise::Judgement;
use headroom_core::advise::difference::Changed;
use headroom_core::memory::{Estimate, Fit};
use headroom_text::Texts;
use headroom_view::{Element, el, escape};

use crate::figures;
use crate::page::Page;

/// Class of a verdict; colour is never its only sign.
pub(crate) const fn class_of(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "fits",
        Fit::Tight => "tight",
        Fit::DoesNotFit => "does-not-fit",
    }
}

/// Class of an estimate's verdict: a guess is neither green nor red.
pub(crate) fn class_of_estimate(estimate: &Estimate) -> &'static str {
    class_of(shown_fit(estimate))
}

/// The verdict whose sign and colour an estimate has: that of a guess is open.
pub(crate) fn shown_fit(estimate: &Estimate) -> Fit {
    if estimate.guess.is_some() { Fit::Tight } else { estimate.verdict.fit }
}

/// The verdict of an estimate: sign and word.
pub(crate) fn verdict_word(texts: &Texts, estimate: &Estimate) -> Element {
    let class = ["fit ", class_of_estimate(estimate)].concat();
    el("span").class(&class).with(fit_icon(shown_fit(estimate))).text(texts.verdict_word(estimate))
}

/// The same as HTML.
pub(crate) fn verdict_html(texts: &Texts, estimate: &Estimate) -> String {
    verdict_as(shown_fit(estimate), texts.verdict_word(estimate))
}

/// Outline of a verdict's sign within its circle.
const fn icon_path(fit: Fit) -> &'static str {
    match fit {
        Fit::Fits => "M7 12.5l3.5 3.5L17.5 8.5",
        Fit::Tight => "M12 7v6.5M12 17v.5",
        Fit::DoesNotFit => "M8 8l8 8M16 8l-8 8",
    }
}

/// The sign of a verdict.
pub(crate) fn fit_icon(fit: Fit) -> Element {
    let circle = el("circle").attr("cx", "12").attr("cy", "12").attr("r", "11");
    let path = el("path").attr("d", icon_path(fit));
    el("svg").class("fit-icon").attr("viewBox", "0 0 24 24").attr("aria-hidden", "true").with(circle).with(path)
}

/// The verdict on a plan that was judged: sign and word.
pub(crate) fn fit_word(texts: &Texts, judged: &Judgement) -> Element {
    let (fit, word) = as_shown(texts, judged);
    el("span").class(&format!("fit {}", class_of(fit))).with(fit_icon(fit)).text(word)
}

/// The same as HTML.
pub(crate) fn verdict(texts: &Texts, judged: &Judgement) -> String {
    let (fit, word) = as_shown(texts, judged);
    verdict_as(fit, word)
}

/// The verdict whose sign and colour is shown, and its word: that of a guess is open, and so is that of a step whose evaluation
/// does not fit.
pub(crate) fn as_shown(texts: &Texts, judged: &Judgement) -> (Fit, &'static str) {
    let evaluates = judged.evaluation.is_none_or(|need| need.fits());
    match judged.fit {
        fit if judged.is_guess => (Fit::Tight, (texts.guessed_fit)(fit)),
        Fit::Fits if !evaluates => (Fit::Tight, texts.step_alone_fits),
        fit => (fit, (texts.fit)(fit)),
    }
}

fn verdict_as(fit: Fit, word: &str) -> String {
    let (class, path) = (class_of(fit), icon_path(fit));
    format!(
        "<span class=\"fit {class}\"><svg class=\"fit-icon\" viewBox=\"0 0 24 24\" aria-hidden=\"true\">\
         <circle cx=\"12\" cy=\"12\" r=\"11\"/><path d=\"{path}\"/></svg>{word}</span>"
    )
}

/// A button that does `action`.
pub(crate) fn button(action: &str, label: &str) -> Element {
    el("button").attr("type", "button").attr("data-do", action).text(label)
}

/// A button that copies `content`; the page shows it to be copied by hand where the browser refuses. `done` is what it says
/// once it has copied.
pub(crate) fn copy_button(page: &Page, label: &str, done: &str, content: &str, class: &str) -> Element {
    el("button")
        .attr("type", "button")
        .class(class)
        .attr("data-do", "@copy")
        .attr("data-copy", content)
        .attr("data-done", done)
        .attr("data-by-hand", page.texts.copy_by_hand)
        .with(el("span").attr("aria-live", "polite").text(label))
}

/// Most letters of a value that are shown: a pasted model's config has thousands.
const LONGEST_VALUE: usize = 60;

/// A field's value, cut where it is long; a dot for what was left open.
pub(crate) fn shown(text: &str) -> String {
    let mut letters = text.chars();
    let kept: String = letters.by_ref().take(LONGEST_VALUE).collect();
    match letters.next() {
        _ if text.is_empty() => "·".to_owned(),
        Some(_) => escape(&kept) + "…",
        None => escape(&kept),
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
pub(crate) fn table(caption: &str, heads: &[&str], rows: &[Vec<String>]) -> String {
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

/// How much more bytes there are, with its sign.
pub(crate) fn change([before, after]: [u64; 2]) -> String {
    let sign = match after.cmp(&before) {
        std::cmp::Ordering::Less => "−",
        std::cmp::Ordering::Equal => return "·".to_owned(),
        std::cmp::Ordering::Greater => "+",
    };
    format!("{sign}{}", figures::glance(after.abs_diff(before)))
}

#[cfg(test)]
mod tests {
    use super::change;

    #[test]
    fn changes_have_a_sign() {
        assert_eq!(change([3 << 30, 1 << 30]), "−2.0 GiB");
        assert_eq!(change([0, 300 << 20]), "+300 MiB");
        assert_eq!(change([5, 5]), "·");
    }
}
