//! Two plans side by side: what differs, and what that does.

use headroom_core::advise::difference::{Difference, between};
use headroom_core::job::Job;
use headroom_core::link;
use headroom_core::memory::{Basis, Estimate};
use headroom_core::plan::{Plan, Problem, ProblemKind};
use headroom_core::units::count_text;
use leptos::prelude::*;

use super::tables::{change, escaped, shown, table, verdict};
use super::{Tool, Wishes, answer};
use crate::figures;
use crate::state::{Pace, State};
use crate::text::{Texts, field_text, text, texts};

/// The plan beside the page's own.
#[derive(Clone, PartialEq)]
struct Other {
    plan: Plan,
    /// Whether it is what the page's plan is compared with, or what that would become.
    comes_after: bool,
}

/// The plan that the page's own is compared with.
#[derive(Clone, Copy)]
pub(crate) struct Compared(RwSignal<Option<Other>>);

impl Compared {
    pub(crate) fn nothing() -> Self {
        Self(RwSignal::new(None))
    }

    /// Keeps `plan` as what the page's plan was before.
    pub(crate) fn keep_before(self, plan: Plan) {
        self.0.set(Some(Other { plan, comes_after: false }));
    }

    /// Sets `plan` beside the page's plan as what it would become, and shows the two.
    pub(crate) fn show_after(self, plan: Plan) {
        self.0.set(Some(Other { plan, comes_after: true }));
        let panel = document().get_element_by_id(PANEL);
        if let Some(panel) = panel {
            panel.scroll_into_view();
        }
    }
}

/// Id of the panel.
const PANEL: &str = "before-after";

/// The panel.
#[component]
pub(crate) fn BeforeAfterPanel() -> impl IntoView {
    let state = State::of_page();
    let compared: Compared = expect_context();
    let wishes: Wishes = expect_context();
    let Compared(other) = compared;
    let settled = state.settled_plan();
    Effect::new(move |_| {
        // Another plan of the reader's empties the queue.
        settled.track();
        let plans = other.read().iter().map(|other| other.plan.clone()).collect();
        wishes.want(state.replays, Tool::Pair, plans);
    });
    let beside = Memo::new(move |_| answer(state, &other.read().as_ref()?.plan));
    let some = Memo::new(move |_| other.read().is_some());
    let texts = texts();
    let tables = move || {
        let texts = texts.get();
        let Other { plan, comes_after } = other.get()?;
        let current = state.plan();
        let current = current.read();
        if *current == plan {
            let said = if comes_after { texts.options.pair.same } else { texts.options.pair.kept };
            return Some(format!("<p>{said}</p>"));
        }
        let (own, beside) = (state.outcome.get().ok()?, beside.get()?);
        let (own_job, other) = (Job::resolve(&current).ok()?, Job::resolve(&plan).ok()?);
        let (jobs, estimates) =
            if comes_after { ([&own_job, &other], [own, beside]) } else { ([&other, &own_job], [beside, own]) };
        Some(html(texts, &between(jobs, estimates)))
    };
    let problems = move || {
        let problems = Job::resolve(&other.read().as_ref()?.plan).err()?;
        Some(problem_list(texts.get(), &problems))
    };
    let swap = move |_| {
        if let Some(Other { plan, comes_after }) = other.get_untracked() {
            let current = state.plan().get_untracked();
            state.edit(Pace::Step, |edited| *edited = plan);
            other.set(Some(Other { plan: current, comes_after }));
        }
    };
    view! {
        <section class="panel" id=PANEL aria-labelledby="pair-title">
            <h2 id="pair-title">{text(|t| t.options.pair.title)}</h2>
            <p class="panel-intro">{text(|t| t.options.pair.intro)}</p>
            <div class="actions">
                <button type="button" on:click=move |_| compared.keep_before(state.plan().get_untracked())>
                    {text(|t| t.options.pair.keep)}
                </button>
                <Show when=move || some.get()>
                    <button type="button" on:click=swap>{text(|t| t.options.pair.swap)}</button>
                    <button type="button" on:click=move |_| other.set(None)>{text(|t| t.close)}</button>
                </Show>
            </div>
            <PastedLink compared/>
            {problems}
            // Figures, words of the page, and readers' own words escaped.
            <div class="pair" inner_html=tables></div>
        </section>
    }
}

/// The link to another plan, as it was pasted.
#[component]
fn PastedLink(compared: Compared) -> impl IntoView {
    let draft = RwSignal::new(String::new());
    let refused = RwSignal::new(None::<(bool, Vec<Problem>)>);
    let texts = texts();
    let take = move |event: web_sys::SubmitEvent| {
        event.prevent_default();
        let draft = draft.get_untracked();
        let decoded = link::decode(&draft);
        // Any text is read as a link; only one that says its version is one.
        let is_link = draft.contains('=')
            && !decoded.problems.iter().any(|problem| problem.field == "v" && problem.kind == ProblemKind::Missing);
        if is_link {
            compared.show_after(decoded.plan);
        }
        let problems = match (is_link, decoded.problems.is_empty()) {
            (true, true) => None,
            (false, true) => Some((false, vec![Problem::new("v", ProblemKind::Missing)])),
            (is_link, false) => Some((is_link, decoded.problems)),
        };
        refused.set(problems);
    };
    let said = move || {
        let texts = texts.get();
        let words = &texts.options.pair;
        refused.get().map(|(is_link, problems)| {
            view! {
                <div class="paste-problems" role="alert">
                    <p class="field-error">{if is_link { words.partly } else { words.no_link }}</p>
                    {problem_list(texts, &problems)}
                </div>
            }
        })
    };
    view! {
        <form class="field paste-link" on:submit=take>
            <label for="pasted-link">{text(|t| t.options.pair.paste)}</label>
            <div class="paste-row">
                <input
                    id="pasted-link"
                    type="text"
                    autocomplete="off"
                    spellcheck="false"
                    prop:value=draft
                    on:input=move |event| draft.set(event_target_value(&event))
                    aria-describedby="pasted-link-help"
                    aria-invalid=move || refused.read().is_some().to_string()
                />
                <button type="submit">{text(|t| t.options.pair.compare)}</button>
            </div>
            <p class="field-help" id="pasted-link-help">{text(|t| t.options.pair.paste_help)}</p>
            {said}
        </form>
    }
}

fn problem_list(texts: &'static Texts, problems: &[Problem]) -> AnyView {
    let line = |problem: &Problem| {
        view! { <li><code>{problem.field.clone()}</code>" "{(texts.problem)(problem)}</li> }
    };
    view! { <ul class="problem-list">{problems.iter().map(line).collect::<Vec<_>>()}</ul> }.into_any()
}

/// What differs, then the figures, by category and by phase.
fn html(texts: &'static Texts, difference: &Difference) -> String {
    let words = &texts.options.pair;
    let heads = [words.before, words.after];
    let changed: Vec<_> = difference
        .changed
        .iter()
        .map(|changed| {
            let label = field_text(texts, changed.field).map_or("", |field| field.label);
            let name = format!("{label} <code>{}</code>", escaped(changed.field));
            vec![name, value(texts, &changed.before), value(texts, &changed.after)]
        })
        .collect();
    let of = |figure: fn(&Estimate) -> u64| [0, 1].map(|i: usize| figure(&difference.estimates[i]));
    let bytes = |name: &str, both: [u64; 2]| {
        vec![name.to_owned(), figures::glance(both[0]), figures::glance(both[1]), change(both)]
    };
    let counts =
        |name: &str, both: [u64; 2]| vec![name.to_owned(), count_text(both[0]), count_text(both[1]), String::new()];
    let [first, second] = [0, 1].map(|i: usize| verdict(texts, difference.estimates[i].verdict.fit));
    let figures = [
        bytes(words.need, of(|estimate| estimate.peak.band.expected)),
        vec![words.verdict.to_owned(), first, second, String::new()],
        counts(words.effective_batch, difference.effective_batch),
        counts(words.tokens, difference.tokens_per_step),
        vec![words.time.to_owned(), "1".to_owned(), figures::times(difference.time), String::new()],
    ];
    let categories: Vec<_> =
        difference.by_category().into_iter().map(|(category, both)| bytes((texts.category)(category), both)).collect();
    let phases: Vec<_> =
        difference.by_phase().into_iter().map(|(phase, both)| bytes((texts.phase)(phase), both)).collect();
    let [before, after] = heads;
    let mut html = table(words.differs, &[words.field, before, after], &changed);
    html.push_str(&table(words.figures, &[words.figure, before, after, words.change], &figures));
    if difference.estimates.iter().any(|estimate| estimate.peak.basis == Basis::Heuristic) {
        html.push_str(&format!("<p class=\"computing\">{}</p>", words.estimated));
    }
    html.push_str(&table(words.by_category, &[words.category, before, after, words.change], &categories));
    html.push_str(&table(words.by_phase, &[words.phase, before, after, words.change], &phases));
    html
}

/// A field's value as links write it, cut where it is long.
fn value(texts: &Texts, text: &str) -> String {
    match text {
        "" => texts.options.pair.empty.to_owned(),
        "true" => texts.on.to_owned(),
        "false" => texts.off.to_owned(),
        text => {
            format!("<code>{}</code>", shown(text))
        }
    }
}
