//! A field that is typed: numbers, sizes, names; with a slider where a number has a natural range.

use headroom_core::plan::{self, Kind, Plan};
use headroom_view::{Element, History, el};

use super::field::{described_by, help, id_of, label, objection, place, words};
use crate::page::Page;
use crate::state::{Draft, State, text_of};

/// What the trainer takes where a plan leaves the field empty.
pub(super) type Usual = fn(&Plan) -> f64;

/// A typed field called `name`.
pub(super) fn typed(page: &Page, name: &'static str) -> Element {
    number(page, name, &[], None)
}

/// The same with a slider that goes from stop to stop.
pub(super) fn slid(page: &Page, name: &'static str, stops: &[u64]) -> Element {
    number(page, name, stops, None)
}

/// A typed field, with a slider where there are `stops`.
pub(super) fn number(page: &Page, name: &'static str, stops: &[u64], usual: Option<Usual>) -> Element {
    let usual = usual.map(|usual| usual(page.plan()).to_string()).unwrap_or_default();
    let error = error_of(page, name);
    let error = error.as_deref();
    let slider = if stops.is_empty() { None } else { Some(slider(page, name, stops, &usual)) };
    let inputs = el("div").class(if stops.is_empty() { "typed" } else { "typed with-slider" });
    let inputs = inputs.with_some(slider).with(input(page, name, &id_of(name), error).attr("placeholder", &usual));
    place(name, "", error).with(label(page, name)).with(inputs).with_all(help(page, name, error))
}

/// What is wrong with what stands in the input of the field called `name`: why the plan did not take it, else what the core
/// has against what the plan has.
pub(super) fn error_of(page: &Page, name: &str) -> Option<String> {
    let problem = draft_of(page.state, name).and_then(|draft| draft.problem.as_ref());
    let kept = problem.map(|problem| [&(page.texts.problem)(problem), " ", page.texts.last_good_stays].concat());
    kept.or_else(|| objection(page, name))
}

fn draft_of<'a>(state: &'a State, name: &str) -> Option<&'a Draft> {
    state.drafts.iter().find(|draft| draft.field == name)
}

/// The input of the field called `name`. What the reader types is kept as typed; the plan takes it when it makes sense.
pub(super) fn input(page: &Page, name: &'static str, id: &str, error: Option<&str>) -> Element {
    let value = draft_of(page.state, name).map_or_else(|| page.text_of(name), |draft| draft.text.clone());
    let input_mode = match plan::field(name).map(|field| field.kind) {
        Some(Kind::Integer { .. } | Kind::OptionalInteger { .. }) => "numeric",
        Some(Kind::Number { .. } | Kind::OptionalNumber { .. } | Kind::ComputeCapability) => "decimal",
        _ => "text",
    };
    el("input")
        .attr("id", id)
        .attr("type", "text")
        .attr("inputmode", input_mode)
        .attr("autocomplete", "off")
        .attr("spellcheck", "false")
        .attr("value", &value)
        .attr("data-type", &["type ", name].concat())
        .attr("aria-describedby", &described_by(name, error))
        .aria("aria-invalid", error.is_some())
}

/// The slider beside a number; the action carries its stops.
fn slider(page: &Page, name: &'static str, stops: &[u64], usual: &str) -> Element {
    let value = page.text_of(name);
    let shown = if value.is_empty() { usual } else { &value };
    let last = stops.len().saturating_sub(1);
    let amount = shown.parse::<f64>().unwrap_or_default();
    let position = stops.partition_point(|stop| (*stop as f64) < amount).min(last);
    let words = words(page, name);
    let filled = 100.0 * position as f64 / last.max(1) as f64;
    let mut action = ["stop ", name, " "].concat();
    for (index, stop) in stops.iter().enumerate() {
        if index > 0 {
            action.push(',');
        }
        action.push_str(&stop.to_string());
    }
    el("input")
        .attr("type", "range")
        // One stop for the keyboard: the arrows go from stop to stop in the box beside it.
        .attr("tabindex", "-1")
        .attr("min", "0")
        .attr("max", &last.to_string())
        .attr("step", "1")
        // Behind its bounds: a range keeps its value within those that it has by then.
        .attr("value", &position.to_string())
        .attr("data-type", &action)
        .attr("aria-label", words.label)
        .attr("aria-valuetext", &[shown, " ", words.unit].concat())
        .attr("data-style", &format!("--filled:{filled:.1}%"))
}

/// Takes what the reader typed into a field: into the plan where it makes sense, and beside it as long as it reads otherwise.
pub(super) fn take_typed(state: &mut State, name: &str, text: &str) -> bool {
    let Some(field) = plan::field(name) else { return false };
    let outcome = state.set(field.name, &normalized(text), History::Drag(field.name.to_owned()));
    state.drafts.retain(|draft| draft.field != field.name);
    let plan_text = text_of(state.plan(), field.name);
    if text != plan_text {
        state.drafts.push(Draft { field: field.name, text: text.to_owned(), plan_text, problem: outcome.err() });
    }
    true
}

/// Takes the stop, by its index, of the slider that `about` describes as `NAME STOPS`.
pub(super) fn take_stop(state: &mut State, about: &str, index: &str) -> bool {
    let Some((name, stops)) = about.split_once(' ') else { return false };
    let stop = index.parse().ok().and_then(|index: usize| stops.split(',').nth(index));
    if let Some(stop) = stop {
        // A stop is within the field's range.
        let _ = state.set(name, stop, History::Drag(name.to_owned()));
    }
    true
}

/// `8,192`, `8 192`, `8_192`, `８１９２` and `8192` are the same number; lists of names lose the spaces around their commas.
fn normalized(text: &str) -> String {
    let plain: String = text
        .chars()
        .map(|letter| match letter {
            '０'..='９' | '．' => char::from_u32(letter as u32 - 0xFEE0).unwrap_or(letter),
            '，' | '、' => ',',
            other => other,
        })
        .filter(|letter| !letter.is_whitespace())
        .collect();
    let grouped = plain.chars().all(|letter| letter.is_ascii_digit() || letter == ',' || letter == '_');
    if grouped { plain.replace([',', '_'], "") } else { plain }
}

#[cfg(test)]
mod tests {
    use super::normalized;

    #[test]
    fn numbers_may_be_grouped_and_full_width() {
        for text in ["8192", "8,192", " 8 192 ", "8_192", "８１９２", "8，192"] {
            assert_eq!(normalized(text), "8192", "{text}");
        }
        assert_eq!(normalized("0．5"), "0.5");
    }

    #[test]
    fn names_keep_commas_and_underscores() {
        assert_eq!(normalized("q_proj, v_proj"), "q_proj,v_proj");
        assert_eq!(normalized("q_proj，v_proj"), "q_proj,v_proj");
    }
}
