//! The most that fits: a question a button, each answer replayed before it is said.

use headroom_core::advise::Judgement;
use headroom_core::advise::solve::{Answer, Question, Search, Unknown, Wanted};
use headroom_core::job::Job;
use headroom_core::memory::{self, Fit};
use headroom_core::plan::{Method, Plan, Task};
use headroom_core::units::count_text;
use leptos::prelude::*;

use super::largest::Asked;
use super::{Tool, Wishes};
use crate::figures;
use crate::replays::Replays;
use crate::result::{FitIcon, class_of};
use crate::state::State;
use crate::text::{Texts, text, texts};

/// Every question, in the order of the buttons.
const QUESTIONS: [Question; 7] = [
    Question::Most(Unknown::Batch),
    Question::Most(Unknown::Length),
    Question::Most(Unknown::Rank),
    Question::Most(Unknown::Generations),
    Question::Most(Unknown::CompletionLength),
    Question::FewestGpus,
    Question::SmallestGpu,
];

/// Whether `question` is one about `plan`.
fn applies(question: Question, plan: &Plan) -> bool {
    match question {
        Question::Most(Unknown::Batch) | Question::SmallestGpu => true,
        Question::Most(Unknown::Length) => !plan.is_reinforcement(),
        Question::Most(Unknown::Rank) => plan.method != Method::Full && plan.task != Task::Inference,
        Question::Most(Unknown::Generations) => plan.task == Task::Grpo,
        Question::Most(Unknown::CompletionLength) => plan.is_reinforcement(),
        // GPUs that hold the whole state each need no less memory in company.
        Question::FewestGpus => plan.num_gpus > 1 || plan.zero_stage > 0 || plan.distributed.framework.is_fsdp(),
    }
}

/// Verdicts that the searches have asked for: each is found once.
#[derive(Clone, Copy)]
struct Verdicts {
    replays: Replays,
    known: StoredValue<Vec<(Plan, Judgement)>>,
}

impl Verdicts {
    /// The same of a plan.
    fn of_plan(self, plan: &Plan) -> Option<Judgement> {
        self.of(&Job::resolve(plan).ok()?)
    }

    /// The verdict of the replay of `job`, once it is there. Tracked.
    fn of(self, job: &Job) -> Option<Judgement> {
        let plan = job.plan();
        let known = |known: &Vec<(Plan, Judgement)>| {
            known.iter().find(|(other, _)| other == plan).map(|(_, judgement)| *judgement)
        };
        if let Some(judgement) = self.known.with_value(known) {
            return Some(judgement);
        }
        let outline = memory::outline(job);
        let allocated = outline.peak.allocated_bytes.saturating_add(outline.peak.device_overhead.low);
        // Where not even the tensors fit, no replay can change that.
        let judgement = if allocated > outline.gpu_bytes {
            Judgement::from(&outline)
        } else if let Some(replay) = self.replays.of(plan) {
            Judgement::from(&outline.refined(&replay))
        } else if self.replays.answered(plan) {
            Judgement::from(&outline)
        } else {
            return None;
        };
        self.known.update_value(|known| known.push((plan.clone(), judgement)));
        Some(judgement)
    }
}

/// What is known of a question.
type Found = Result<Option<Answer>, Wanted>;

/// The panel.
#[component]
pub(crate) fn SolvePanel() -> impl IntoView {
    let state = State::of_page();
    let wishes: Wishes = expect_context();
    let texts = texts();
    let plan = state.settled_plan();
    let verdicts = Verdicts { replays: state.replays, known: StoredValue::new(Vec::new()) };
    let asked = RwSignal::new(Vec::<Search>::new());
    // An answer is one to a plan: it stays only while nothing but what it is about changes.
    Effect::new(move |_| {
        let plan = plan.read();
        if asked.read_untracked().iter().any(|search| !search.holds_for(&plan)) {
            asked.update(|asked| asked.retain(|search| search.holds_for(&plan)));
            verdicts.known.update_value(Vec::clear);
        }
    });
    let found = Memo::new(move |_| {
        let answered = |search: &Search| {
            let counts = |job: &Job, judged: Judgement| match search.question() {
                // What the plan offloads is the reader's own affair.
                Question::Most(_) => judged.fit == Fit::Fits,
                Question::FewestGpus | Question::SmallestGpu => judged.suits(job),
            };
            let fits = &mut |job: &Job| verdicts.of(job).map(|judged| counts(job, judged));
            (search.question(), search.answer(fits))
        };
        asked.read().iter().map(answered).collect::<Vec<(Question, Found)>>()
    });
    Effect::new(move |_| {
        // Another plan of the reader's empties the queue.
        plan.track();
        let found = found.read();
        let wanted = found.iter().filter_map(|(_, found)| Some((*found.as_ref().err()?.0).clone()));
        wishes.want(state.replays, Tool::Solve, wanted.collect());
    });
    let is_asked = move |question: Question| asked.read().iter().any(|search| search.question() == question);
    let toggle = move |question: Question| {
        if asked.read_untracked().iter().any(|search| search.question() == question) {
            asked.update(|asked| asked.retain(|search| search.question() != question));
        } else {
            let job = state.job.get_untracked();
            asked.update(|asked| asked.extend(job.ok().map(|job| Search::new(job, question))));
        }
    };
    let largest = Asked::nothing(state, wishes);
    let button = move |question: Question| {
        view! {
            <button
                type="button"
                class="question"
                hidden=move || !applies(question, &plan.read())
                aria-pressed=move || is_asked(question).to_string()
                on:click=move |_| toggle(question)
            >
                {move || (texts.get().options.solve.question)(question)}
            </button>
        }
    };
    let rows = move || {
        let texts = texts.get();
        let found = found.get();
        found.into_iter().map(|(question, found)| row(texts, state, verdicts, question, found)).collect::<Vec<_>>()
    };
    view! {
        <section class="panel" aria-labelledby="solve-title">
            <h2 id="solve-title">{text(|t| t.options.solve.title)}</h2>
            <p class="panel-intro">{text(|t| t.options.solve.intro)}</p>
            <div class="questions" role="group" aria-labelledby="solve-title">{QUESTIONS.map(button)}{largest.button()}</div>
            <div role="status"><dl class="solved">{rows}</dl></div>
            {largest.list()}
        </section>
    }
}

/// One answer.
fn row(texts: &'static Texts, state: State, verdicts: Verdicts, question: Question, found: Found) -> AnyView {
    let words = &texts.options.solve;
    let name = (words.question)(question);
    let said = match found {
        Err(_) => view! { <dd class="computing">{words.searching}</dd> }.into_any(),
        Ok(None) => view! { <dd>{words.nothing}</dd> }.into_any(),
        Ok(Some(Answer { plan, next })) => {
            let value = value_text(question, &plan);
            let headroom = untrack(|| verdicts.of_plan(&plan))
                .map(|judged| (texts.headroom)(&figures::glance(judged.gpu_bytes.saturating_sub(judged.need_bytes))));
            let beyond = match (question, &next) {
                (_, Some(next)) => {
                    let fit = untrack(|| verdicts.of_plan(next)).map_or(Fit::DoesNotFit, |judged| judged.fit);
                    (words.beyond)(&value_text(question, next), fit)
                }
                (Question::Most(_), None) => words.no_beyond.to_owned(),
                _ => String::new(),
            };
            let action = if *state.plan().read_untracked() == plan {
                view! { <strong>{words.is_current}</strong> }.into_any()
            } else {
                let label = format!("{} {name} {value}", texts.use_plan);
                let choose = move |_| state.apply(plan.clone());
                view! { <button type="button" aria-label=label on:click=choose>{texts.use_plan}</button> }.into_any()
            };
            view! {
                <dd>
                    <span class=format!("fit {}", class_of(Fit::Fits))><FitIcon fit=Fit::Fits/>{(words.fits)(&value)}</span>
                    <span>{beyond}</span>
                    <span>{headroom}</span>
                    {action}
                </dd>
            }
            .into_any()
        }
    };
    view! { <div><dt>{name}</dt>{said}</div> }.into_any()
}

/// What a plan has of what is asked for.
fn value_text(question: Question, plan: &Plan) -> String {
    match question {
        Question::Most(unknown) => count_text(unknown.of(plan)),
        Question::FewestGpus => plan.num_gpus.to_string(),
        Question::SmallestGpu => Job::resolve(plan).map(|job| job.gpu().name.to_string()).unwrap_or_default(),
    }
}
