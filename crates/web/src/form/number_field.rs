//! A field that is typed: numbers, sizes, names; with a slider where a number has a natural range.

use headroom_core::plan::{self, Kind, Plan, Problem};
use leptos::prelude::*;

use super::field::{FieldWords, Help, Label, described_by, id_of, sentence};
use crate::state::{Pace, State};
use crate::text::texts;

/// A typed field called `name`; with `stops`, a slider that goes from stop to stop.
#[component]
pub(super) fn NumberField(
    name: &'static str,
    words: FieldWords,
    #[prop(default = &[])] stops: &'static [u64],
    /// What the trainer takes where the plan leaves the field empty.
    #[prop(optional)]
    usual: Option<fn(&Plan) -> f64>,
) -> impl IntoView {
    let state = State::of_page();
    let value = state.text(name);
    let plan = state.plan();
    let usual = Memo::new(move |_| usual.map(|usual| usual(&plan.read()).to_string()).unwrap_or_default());
    let refusal = RwSignal::new(None::<Problem>);
    let kept = sentence(refusal.into(), true);
    let objected = sentence(state.problem(name).into(), false);
    let error = Signal::derive(move || kept.get().or_else(|| objected.get()));
    view! {
        <div class="field" class:invalid=move || error.read().is_some()>
            <Label name words/>
            <div class="typed" class:with-slider=!stops.is_empty()>
                {(!stops.is_empty()).then(|| view! { <Slider name words stops value usual/> })}
                <DraftInput name id=id_of(name) refusal error usual/>
            </div>
            <Help name words error/>
        </div>
    }
}

/// The input of the field called `name`. What the reader types is kept as typed; the plan takes it when it makes sense,
/// and `refusal` says why when it does not.
#[component]
pub(super) fn DraftInput(
    name: &'static str,
    id: String,
    refusal: RwSignal<Option<Problem>>,
    error: Signal<Option<String>>,
    /// For an input that no visible label is bound to.
    #[prop(optional)]
    label: Option<Signal<&'static str>>,
    /// Shown where the field is empty.
    #[prop(optional)]
    usual: Option<Memo<String>>,
) -> impl IntoView {
    let state = State::of_page();
    let value = state.text(name);
    let draft = RwSignal::new(value.get_untracked());
    // The plan changed elsewhere: by a link, a bar, the slider.
    Effect::new(move |_| {
        let value = value.get();
        if normalized(&draft.read_untracked()) != value {
            draft.set(value);
            refusal.set(None);
        }
    });
    let take = move |text: String| {
        let outcome = state.set(name, &normalized(&text), Pace::Drag(name));
        draft.set(text);
        refusal.set(outcome.err());
    };
    let input_mode = match plan::field(name).map(|field| field.kind) {
        Some(Kind::Integer { .. } | Kind::OptionalInteger { .. }) => "numeric",
        Some(Kind::Number { .. } | Kind::OptionalNumber { .. } | Kind::ComputeCapability) => "decimal",
        _ => "text",
    };
    view! {
        <input
            id=id
            type="text"
            inputmode=input_mode
            autocomplete="off"
            spellcheck="false"
            prop:value=draft
            placeholder=move || usual.map(|usual| usual.get())
            on:input=move |event| take(event_target_value(&event))
            aria-label=move || label.map(|label| label.get())
            aria-describedby=described_by(name, error)
            aria-invalid=move || error.read().is_some().to_string()
        />
    }
}

/// The slider beside a number.
#[component]
fn Slider(
    name: &'static str,
    words: FieldWords,
    stops: &'static [u64],
    value: Memo<String>,
    usual: Memo<String>,
) -> impl IntoView {
    let state = State::of_page();
    let texts = texts();
    let last = stops.len().saturating_sub(1);
    let shown = move || if value.read().is_empty() { usual.get() } else { value.get() };
    let position = move || {
        let value = shown().parse::<f64>().unwrap_or_default();
        stops.partition_point(|stop| (*stop as f64) < value).min(last)
    };
    let slide = move |event| {
        if let Some(stop) = event_target_value(&event).parse::<usize>().ok().and_then(|index| stops.get(index)) {
            // A stop is within the field's range.
            let _ = state.set(name, &stop.to_string(), Pace::Drag(name));
        }
    };
    view! {
        <input
            type="range"
            min="0"
            max=last
            step="1"
            prop:value=move || position().to_string()
            on:input=slide
            aria-label=move || words(texts.get()).label
            aria-valuetext=move || format!("{} {}", shown(), words(texts.get()).unit)
            style:--filled=move || format!("{:.1}%", 100.0 * position() as f64 / last.max(1) as f64)
        />
    }
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
