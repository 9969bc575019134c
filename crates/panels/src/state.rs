//! What the reader has entered and chosen: the one plan, the one gateway that edits it, and what is open on the page.

use headroom_core::advise::difference::{Changed, changed};
use headroom_core::advise::fill::Target;
use headroom_core::job::Job;
use headroom_core::link::{self, Decoded, Link, Shown, Tab, View};
use headroom_core::memory::Category;
use headroom_core::model::Programs;
use headroom_core::plan::{self, Plan, Problem, ProblemKind};
use headroom_text::Language;
use headroom_view::{Address, History};

use crate::embed::Embedded;
use crate::undo::Undo;
use crate::{advice, embedding, files, form, options, programs, result};

/// Id of the element that holds the answer.
const ANSWER: &str = "answer";

/// What a choice changed besides the chosen fields, so that the plan can be estimated.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Adjusted {
    /// The chosen fields.
    pub(crate) chosen: Vec<&'static str>,
    /// The plan before the choice.
    pub(crate) before: Plan,
    /// The other fields that changed, and a chosen one that could not be kept.
    pub(crate) changed: Vec<Changed>,
    /// What the choice alone would have contradicted.
    pub(crate) problems: Vec<Problem>,
}

/// What a choice was, and the plan before it and with it alone.
#[derive(Debug, Clone, PartialEq)]
struct Unsettled {
    chosen: Vec<&'static str>,
    before: Plan,
    alone: Plan,
}

/// A plan that was taken over as a whole.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Applied {
    /// What the plan was.
    pub(crate) before: Plan,
    /// What it became.
    pub(crate) after: Plan,
}

/// A typed text that the plan could not take, or spells otherwise: it stays as typed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Draft {
    /// The field.
    pub(crate) field: &'static str,
    /// What was typed.
    pub(crate) text: String,
    /// The field's text in the plan when it was typed: where that changes, the draft is over.
    pub(crate) plan_text: String,
    /// Why the plan did not take it.
    pub(crate) problem: Option<Problem>,
}

/// Everything that the page shows depends on this.
pub(crate) struct State {
    plan: Plan,
    /// The page's own address without query and fragment: what links to plans begin with.
    pub(crate) page: String,
    /// What its author chose, where it is embedded in another page.
    pub(crate) embedded: Option<Embedded>,
    /// What the page speaks.
    pub(crate) language: Language,
    /// Plans before and after this one.
    undo: Undo,
    /// The tab of the answer that is open, or was before a page took its place.
    pub(crate) tab: Tab,
    /// The page that stands in place of form and answer.
    pub(crate) beside: Option<Tab>,
    /// What the link that opened the page got wrong, until the reader closes the panel.
    pub(crate) link_problems: Vec<Problem>,
    /// What the last choice changed besides, until the plan changes again.
    pub(crate) adjusted: Option<Adjusted>,
    /// A choice that brought a model whose program is still to come: only then can it be said what else has to change.
    unsettled: Option<Unsettled>,
    /// The plan that was taken over last, until the reader edits it.
    pub(crate) applied: Option<Applied>,
    /// Texts that stand in inputs as typed.
    pub(crate) drafts: Vec<Draft>,
    /// How much of an idle GPU the reader wants in use.
    pub(crate) target: Target,
    /// Names of what the reader has opened (`details` whose content is made when they open).
    opened: Vec<String>,
    /// Widths in CSS pixels of the places that charts are drawn for.
    widths: Vec<(String, u32)>,
    /// What the form keeps beside the plan.
    pub(crate) form: form::Entered,
    /// What the answer has fetched.
    pub(crate) result: result::Fetched,
    /// Recorded programs of models.
    pub(crate) programs: programs::Fetched,
    /// What was chosen in the advice.
    pub(crate) advice: advice::Chosen,
    /// What was chosen among the options.
    pub(crate) options: options::Chosen,
    /// What was chosen for other pages.
    pub(crate) embedding: embedding::Chosen,
    /// What was brought to the room for files.
    pub(crate) files: files::Room,
    /// What the address is to hold, until the page has been told.
    pub(crate) address: Option<Address>,
    /// The category that stands out in the chart of phases and in the breakdown.
    pub(crate) picked: Option<Category>,
    /// The element that is to take the focus, until the page has been told.
    pub(crate) focus: Option<&'static str>,
    /// The element that is to be brought into sight, until the page has been told.
    pub(crate) sight: Option<&'static str>,
}

impl State {
    /// The state of a page that opens at `fragment`.
    pub(crate) fn open(page: &str, fragment: &str, language: Language) -> Self {
        let mut state = Self {
            plan: Plan::newcomer(),
            page: page.to_owned(),
            embedded: None,
            language,
            undo: Undo::default(),
            tab: Tab::Fix,
            beside: None,
            link_problems: Vec::new(),
            adjusted: None,
            unsettled: None,
            applied: None,
            drafts: Vec::new(),
            target: Target::default(),
            opened: Vec::new(),
            widths: Vec::new(),
            form: form::Entered::default(),
            result: result::Fetched::default(),
            programs: programs::Fetched::default(),
            advice: advice::Chosen::default(),
            options: options::Chosen::default(),
            embedding: embedding::Chosen::default(),
            files: files::Room::default(),
            address: None,
            picked: None,
            focus: None,
            sight: None,
        };
        state.plan.programs = state.programs.programs();
        state.follow(fragment);
        state
    }

    /// The state of a plan that is embedded in another page.
    pub(crate) fn embedded(page: &str, fragment: &str, language: Language) -> Self {
        let mut state = Self::open(page, fragment, language);
        let shown = link::decode(fragment).shown;
        state.embedded = Some(Embedded { view: shown.view, inputs: shown.inputs });
        state
    }

    /// The plan.
    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Takes the plan of an address that the browser, not an edit, brought.
    pub(crate) fn follow(&mut self, fragment: &str) {
        if !fragment.is_empty() && self.embedded.is_none() && fragment == self.fragment() {
            return;
        }
        let (plan, problems) = if fragment.is_empty() {
            self.set_tab(Tab::Fix);
            (Plan::newcomer(), Vec::new())
        } else {
            let Decoded { plan, other, shown, problems } = link::decode(fragment);
            self.show_as(&shown);
            if let Some(embedded) = &mut self.embedded {
                *embedded = Embedded { view: shown.view, inputs: shown.inputs };
            }
            if let Some(other) = other {
                options::show_after(self, other);
                if shown.tab.is_none() {
                    self.tab = Tab::Compare;
                }
                self.sight = Some(options::PAIR);
            }
            (plan, problems)
        };
        let plan = self.with_programs(plan);
        if self.applied.as_ref().is_some_and(|applied| applied.after != plan) {
            self.applied = None;
        }
        self.link_problems = problems;
        if plan != self.plan {
            self.plan = plan;
            self.adjusted = None;
            self.drafts.clear();
        }
    }

    /// Opens the page as a link asks.
    fn show_as(&mut self, shown: &Shown) {
        if let Some(language) = shown.lang.as_deref().and_then(Language::from_tag) {
            self.language = language;
        }
        let tab = shown.tab.or(shown.view.map(Tab::from)).unwrap_or(Tab::Fix);
        if self.beside.is_some() && !tab.is_page() {
            // The link that led here is gone with its page.
            self.focus = Some(ANSWER);
        }
        self.set_tab(tab);
        self.sight = shown.view.and_then(|view| match view {
            View::Verdict => None,
            View::Comparison => Some(result::comparison::TITLE),
            View::Phases => Some(result::PHASES_TITLE),
            View::Map => Some(options::map::TITLE),
            View::Table => Some(result::BREAKDOWN_TITLE),
        });
    }

    /// A plan, wherever it came from, is read by the programs that the page has.
    pub(crate) fn with_programs(&mut self, plan: Plan) -> Plan {
        Plan { programs: self.programs.programs(), ..plan }
    }

    /// Reads the plan by other programs; it stays as it is.
    pub(crate) fn read_by(&mut self, programs: Programs) {
        self.plan.programs = programs;
    }

    /// The only way to change the plan.
    pub(crate) fn edit(&mut self, history: History, after: Plan) {
        let after = self.with_programs(after);
        if after == self.plan {
            return;
        }
        self.undo.leave(&self.plan, &history);
        self.unsettled = None;
        self.take(history, after);
    }

    /// Takes back the last change of the plan, or what was taken back last where not `back`.
    pub(crate) fn undo(&mut self, back: bool) {
        let plan = if back { self.undo.back(&self.plan) } else { self.undo.forth(&self.plan) };
        if let Some(plan) = plan {
            self.take(History::Step, plan);
        }
    }

    /// Whether there is something to take back, and something that was.
    pub(crate) fn can_undo(&self) -> (bool, bool) {
        self.undo.can()
    }

    fn take(&mut self, history: History, after: Plan) {
        let after = self.with_programs(after);
        self.adjusted = None;
        if self.applied.as_ref().is_some_and(|applied| applied.after != after) {
            self.applied = None;
        }
        self.plan = after;
        let plan = &self.plan;
        self.drafts.retain(|draft| text_of(plan, draft.field) == draft.plan_text);
        self.address = Some(Address { fragment: self.fragment(), history });
    }

    /// What the address says after `#`: the plan, and what is open.
    fn fragment(&self) -> String {
        let shown = match &self.embedded {
            None => return self.fragment_at(self.beside.unwrap_or(self.tab)),
            Some(Embedded { view, inputs }) => Shown { view: *view, inputs: inputs.clone(), ..Shown::default() },
        };
        Link { plan: self.plan.clone(), other: None, shown }.encode()
    }

    /// What it would say with `tab` open: the first one goes without saying.
    pub(crate) fn fragment_at(&self, tab: Tab) -> String {
        let mut fragment = link::encode(&self.plan);
        if tab != Tab::Fix {
            fragment.push_str("&tab=");
            fragment.push_str(tab.name());
        }
        fragment
    }

    fn set_tab(&mut self, tab: Tab) {
        self.beside = tab.is_page().then_some(tab);
        if !tab.is_page() {
            self.tab = tab;
        }
        // Whoever comes back to what could not be fetched asks for it again.
        self.result.retry();
    }

    /// Opens a tab of the answer, or a page, where it is not open: a step of the history.
    pub(crate) fn show_tab(&mut self, tab: Tab) {
        if self.beside.unwrap_or(self.tab) == tab {
            return;
        }
        self.set_tab(tab);
        self.address = Some(Address { fragment: self.fragment(), history: History::Step });
    }

    /// Changes the plan by a choice of the fields `chosen`, and other fields with it where the plan could not be estimated
    /// otherwise; the page says which.
    pub(crate) fn choose(&mut self, chosen: &[&'static str], choice: impl FnOnce(&mut Plan)) {
        let before = self.plan.clone();
        let mut alone = before.clone();
        choice(&mut alone);
        let wanted = before.adopting(&alone);
        let problems = Job::resolve(&wanted).err().unwrap_or_default();
        let settled = if problems.is_empty() { None } else { wanted.settled(chosen) };
        let waits = problems.iter().any(|problem| matches!(problem.kind, ProblemKind::ProgramNotFetched { .. }));
        let after = settled.unwrap_or(wanted);
        let changed = changed(&alone, &after);
        self.edit(History::Step, after);
        if waits {
            self.unsettled = Some(Unsettled { chosen: chosen.to_vec(), before, alone });
        } else if !changed.is_empty() {
            self.adjusted = Some(Adjusted { chosen: chosen.to_vec(), before, changed, problems });
        }
    }

    /// Settles a choice whose model can be read by now.
    pub(crate) fn settle_model(&mut self) {
        let Some(Unsettled { chosen, before, alone }) = self.unsettled.take() else { return };
        let problems = Job::resolve(&self.plan).err().unwrap_or_default();
        if problems.iter().any(|problem| matches!(problem.kind, ProblemKind::ProgramNotFetched { .. })) {
            self.unsettled = Some(Unsettled { chosen, before, alone });
            return;
        }
        let Some(after) = self.plan.settled(&chosen) else { return };
        let changed = changed(&alone, &after);
        // Part of the step that the choice was.
        self.take(History::Drag("model".to_owned()), after);
        if !changed.is_empty() {
            self.adjusted = Some(Adjusted { chosen, before, changed, problems });
        }
    }

    /// The same for one field, from the text of a list or button, which offers only what the field takes.
    pub(crate) fn choose_value(&mut self, name: &str, text: &str) {
        if let Some(field) = plan::field(name) {
            self.choose(&[field.name], |plan| drop(field.set_text(plan, text)));
        }
    }

    /// Takes over `chosen`: one entry of the history, and what it changes is said.
    pub(crate) fn apply(&mut self, chosen: Plan) {
        let before = self.plan.clone();
        if chosen != before {
            self.edit(History::Step, chosen.clone());
            self.applied = Some(Applied { before, after: chosen });
        }
    }

    /// Sets the field called `name` from a text.
    ///
    /// # Errors
    /// What is wrong with the text; the plan is then as before.
    pub(crate) fn set(&mut self, name: &str, text: &str, history: History) -> Result<(), Problem> {
        let Some(field) = plan::field(name) else { return Ok(()) };
        let mut after = self.plan.clone();
        field.set_text(&mut after, text)?;
        self.edit(history, after);
        Ok(())
    }

    /// Back to the plan a newcomer sees.
    pub(crate) fn start_over(&mut self) {
        self.link_problems.clear();
        self.edit(History::Step, Plan::newcomer());
    }

    /// A link to `plan` that anyone can open: this page without the reader's language and theme.
    pub(crate) fn link_to(&self, plan: &Plan) -> String {
        format!("{}#{}", self.page, link::encode(plan))
    }

    /// The same to two plans that are compared.
    pub(crate) fn link_to_pair(&self, plan: &Plan, other: &Plan) -> String {
        let link = Link { plan: plan.clone(), other: Some(other.clone()), shown: Shown::default() };
        format!("{}#{}", self.page, link.encode())
    }

    /// Whether what is called `name` has been opened.
    pub(crate) fn is_open(&self, name: &str) -> bool {
        self.opened.iter().any(|open| open == name)
    }

    /// Notes that what is called `name` is open, or not.
    pub(crate) fn set_open(&mut self, name: &str, open: bool) {
        self.opened.retain(|other| other != name);
        if open {
            self.opened.push(name.to_owned());
        }
    }

    /// Width of the place called `name`, CSS pixels, once the page has measured it.
    pub(crate) fn width(&self, name: &str) -> Option<u32> {
        self.widths.iter().find(|(of, _)| of == name).map(|(_, width)| *width)
    }

    /// Notes the width of a place.
    pub(crate) fn set_width(&mut self, name: &str, width: u32) {
        self.widths.retain(|(of, _)| of != name);
        self.widths.push((name.to_owned(), width));
    }
}

/// The field called `name` of `plan` as inputs write it.
pub(crate) fn text_of(plan: &Plan, name: &str) -> String {
    plan::field(name).map_or_else(String::new, |field| field.text(plan))
}
