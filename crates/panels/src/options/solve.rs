//! The most that fits: a question a button, each answer replayed before it is said.

use headroom_core::advise::Judgement;
use headroom_core::advise::solve::{Answer, Question, Search, Unknown, Wanted};
use headroom_core::job::Job;
use headroom_core::memory::{self, Fit};
use headroom_core::plan::{Method, Plan, Task};
use headroom_core::units::count_text;
use headroom_view::{Element, Node, el};

use super::largest;
use crate::engine::{Step, Work};
use crate::figures;
use crate::page::Page;
use crate::pieces::{class_of, fit_icon};
use crate::replays::Replays;
use crate::state::State;

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

/// Name of a question in actions.
const fn name_of(question: Question) -> &'static str {
    match question {
        Question::Most(unknown) => unknown.name(),
        Question::FewestGpus => "gpus",
        Question::SmallestGpu => "gpu",
    }
}

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

/// What has been asked.
#[derive(Default)]
pub(super) struct Chosen {
    /// Each with a number that no other ever has.
    asked: Vec<(u32, Search)>,
    next: u32,
}

/// Asks the question called `name`, or takes it back.
pub(super) fn toggle(state: &mut State, name: &str) {
    let Some(question) = QUESTIONS.into_iter().find(|question| name_of(*question) == name) else { return };
    let job = Job::resolve(state.plan());
    let chosen = &mut state.options.solve;
    let before = chosen.asked.len();
    chosen.asked.retain(|(_, search)| search.question() != question);
    if chosen.asked.len() == before
        && let Ok(job) = job
    {
        chosen.asked.push((chosen.next, Search::new(job, question)));
        chosen.next = chosen.next.wrapping_add(1);
    }
}

/// The answer to a question.
struct Answered {
    /// The question's number.
    number: u32,
    answer: Option<Answer>,
    /// What the plan needs that fits.
    judgement: Option<Judgement>,
    /// The verdict of the plan beyond it.
    beyond: Fit,
}

/// What is known of the questions.
#[derive(Default)]
pub(super) struct Found {
    answers: Vec<Answered>,
    /// Verdicts that the searches have asked for: each is found once.
    known: Vec<(Plan, Judgement)>,
    /// The replay that the question of this number waits for.
    wanted: Option<(u32, Plan)>,
}

impl Found {
    /// Works on the first question that has no answer yet.
    pub(super) fn step(&mut self, work: &mut Work) -> Step {
        let asked = &work.state.options.solve.asked;
        let answered = |number: u32| self.answers.iter().any(|answer| answer.number == number);
        let Some((number, search)) = asked.iter().find(|(number, _)| !answered(*number)) else {
            self.wanted = None;
            return Step::Done;
        };
        if let Some((_, plan)) = self.wanted.as_ref().filter(|(of, _)| of == number) {
            if work.replays.advance(plan) {
                self.wanted = None;
            }
            return Step::Working;
        }
        let mut verdicts = Verdicts { known: &mut self.known, replays: work.replays, left: MOST_JUDGED };
        let counts = |job: &Job, judged: Judgement| match search.question() {
            // What the plan offloads is the reader's own affair.
            Question::Most(_) => judged.fit == Fit::Fits,
            Question::FewestGpus | Question::SmallestGpu => judged.suits(job),
        };
        let answer = search.answer(&mut |job| verdicts.of(job).map(|judged| counts(job, judged)));
        match answer {
            Err(_) if verdicts.left == 0 => Step::Working,
            Err(Wanted(plan)) => {
                self.wanted = Some((*number, *plan));
                Step::Working
            }
            Ok(answer) => {
                // The search has asked about all that follows.
                verdicts.left = MOST_JUDGED;
                let mut judge = |plan: &Plan| verdicts.of(&Job::resolve(plan).ok()?);
                let judgement = answer.as_ref().and_then(|answer| judge(&answer.plan));
                let next = answer.as_ref().and_then(|answer| answer.next.as_ref());
                let beyond = next.and_then(judge).map_or(Fit::DoesNotFit, |judged| judged.fit);
                self.answers.push(Answered { number: *number, answer, judgement, beyond });
                Step::Changed
            }
        }
    }

    /// Forgets the answers that are none to `plan`.
    pub(super) fn follow(&mut self, chosen: &mut Chosen, plan: &Plan) {
        let before = chosen.asked.len();
        chosen.asked.retain(|(_, search)| search.holds_for(plan));
        if chosen.asked.len() < before {
            self.known.clear();
        }
        self.answers.retain(|answer| chosen.asked.iter().any(|(number, _)| *number == answer.number));
    }
}

/// Plans that one step may look at anew: the GPUs of the catalogue are many.
const MOST_JUDGED: u32 = 20;

/// Verdicts by replays, as far as they are there.
struct Verdicts<'a> {
    known: &'a mut Vec<(Plan, Judgement)>,
    replays: &'a Replays,
    /// How many plans may still be looked at.
    left: u32,
}

impl Verdicts<'_> {
    /// The verdict of the replay of `job`, once it is there.
    fn of(&mut self, job: &Job) -> Option<Judgement> {
        let plan = job.plan();
        if let Some((_, judgement)) = self.known.iter().find(|(other, _)| other == plan) {
            return Some(*judgement);
        }
        self.left = self.left.checked_sub(1)?;
        let outline = memory::outline(job);
        let allocated = outline.peak.allocated_bytes.saturating_add(outline.peak.device_overhead.low);
        // Where not even the tensors fit, no replay can change that.
        let judgement = if allocated > outline.gpu_bytes {
            Judgement::from(&outline)
        } else if let Some(replay) = self.replays.of(plan) {
            Judgement::from(&outline.refined(replay))
        } else if self.replays.answered(plan) {
            Judgement::from(&outline)
        } else {
            return None;
        };
        self.known.push((plan.clone(), judgement));
        Some(judgement)
    }
}

/// The panel.
pub(crate) fn panel(page: &Page) -> Option<Node> {
    page.estimate?;
    let words = &page.texts.options().solve;
    let asked = &page.state.options.solve.asked;
    let mut questions = el("div").class("questions").attr("role", "group").attr("aria-labelledby", "solve-title");
    for question in QUESTIONS {
        let is_asked = asked.iter().any(|(_, search)| search.question() == question);
        let button = el("button")
            .attr("type", "button")
            .class("question")
            .attr("data-do", &format!("ask {}", name_of(question)))
            .flag("hidden", !applies(question, page.plan()))
            .aria("aria-pressed", is_asked);
        questions = questions.with(button.text((words.question)(question)));
    }
    let mut solved = el("dl").class("solved");
    for (number, search) in asked {
        let answer = page.found.asked.solve.answers.iter().find(|answer| answer.number == *number);
        solved = solved.with(row(page, search.question(), answer).key(&number.to_string()));
    }
    let panel = el("section")
        .class("panel")
        .attr("aria-labelledby", "solve-title")
        .with(el("h2").attr("id", "solve-title").text(words.title))
        .with(el("p").class("panel-intro").text(words.intro))
        .with(questions.with(largest::button(page)))
        .with(el("div").attr("role", "status").with(solved))
        .with_some(largest::list(page));
    Some(panel.into())
}

/// One answer.
fn row(page: &Page, question: Question, answered: Option<&Answered>) -> Element {
    let words = &page.texts.options().solve;
    let name = (words.question)(question);
    let said = match answered {
        None => el("dd").class("computing").text(words.searching),
        Some(Answered { answer: None, .. }) => el("dd").text(words.nothing),
        Some(Answered { answer: Some(answer), judgement, beyond, .. }) => {
            solution(page, question, answer, judgement.as_ref(), *beyond)
        }
    };
    el("div").with(el("dt").text(name)).with(said)
}

/// The plan that fits, the next, and what to do with it.
fn solution(page: &Page, question: Question, answer: &Answer, judged: Option<&Judgement>, beyond: Fit) -> Element {
    let (texts, words) = (page.texts, &page.texts.options().solve);
    let Answer { plan, next } = answer;
    let value = value_text(question, plan);
    let left = |judged: &Judgement| judged.gpu_bytes.saturating_sub(judged.need_bytes);
    let headroom = judged.map_or_else(String::new, |judged| (texts.headroom)(&figures::glance(left(judged))));
    let beyond = match (question, next) {
        (_, Some(next)) => (words.beyond)(&value_text(question, next), beyond),
        (Question::Most(_), None) => words.no_beyond.to_owned(),
        _ => String::new(),
    };
    let action = if page.plan() == plan {
        el("strong").text(words.is_current)
    } else {
        let label = format!("{} {} {value}", texts.use_plan, (words.question)(question));
        el("button")
            .attr("type", "button")
            .attr("data-do", &page.applies(plan))
            .attr("aria-label", &label)
            .text(texts.use_plan)
    };
    let fits = el("span").class(&format!("fit {}", class_of(Fit::Fits))).with(fit_icon(Fit::Fits));
    el("dd")
        .with(fits.text(&(words.fits)(&value)))
        .with(el("span").text(&beyond))
        .with(el("span").text(&headroom))
        .with(action)
}

/// What a plan has of what is asked for.
fn value_text(question: Question, plan: &Plan) -> String {
    match question {
        Question::Most(unknown) => count_text(unknown.of(plan)),
        Question::FewestGpus => plan.num_gpus.to_string(),
        Question::SmallestGpu => Job::resolve(plan).map(|job| job.gpu().name.to_string()).unwrap_or_default(),
    }
}
