//! The engine: events in, panels out.

mod early;
mod finding;

use headroom_core::job::Job;
use headroom_core::link::Tab;
use headroom_core::memory::{self, Estimate};
use headroom_core::model::Program;
use headroom_core::plan::Problem;
use headroom_text::Language;
use headroom_view::{Answer, Event, Node};

use crate::page::{Offered, Page};
use crate::replays::Replays;
use crate::state::State;
use crate::{advice, beside, embed, embedding, files, form, frame, gallery, options, programs, result, tabs};

/// What a turn of work came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Turn {
    /// All is said: nothing to do until the next event.
    Idle,
    /// There is more to do.
    More,
    /// There is more to do, and what stands on the page by now should be shown first.
    Show,
    /// The first view stands: header, form, verdict and advice. What stands further down follows [`Engine::go_on`].
    First,
    /// All that the page shows is said. What else is found out is for tabs that are not open.
    Whole,
}

/// What the rooms have found out, each with the plan that it is about.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) advice: advice::Found,
    pub(crate) levers: advice::levers::Found,
    pub(crate) comparison: result::comparison::Found,
    pub(crate) asked: options::Found,
    pub(crate) ladder: options::ladder::Found,
    pub(crate) map: options::map::Found,
    pub(crate) gallery: gallery::Found,
}

/// What a room has to work with.
pub(crate) struct Work<'a> {
    pub(crate) state: &'a State,
    pub(crate) job: &'a Job,
    pub(crate) replays: &'a mut Replays,
}

/// What a room's step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// It knows all that it shows.
    Done,
    /// It has more to find out.
    Working,
    /// It has found something that its panels show.
    Changed,
}

/// When a panel stands on the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Always,
    /// While no page stands in place of form and answer.
    Planning,
    /// In this tab of the answer.
    In(Tab),
    /// While this page stands in place of form and answer.
    Beside(Tab),
}

impl When {
    fn holds(self, state: &State) -> bool {
        match self {
            Self::Always => true,
            Self::Planning => state.beside.is_none(),
            Self::In(tab) => state.beside.is_none() && state.tab == tab,
            Self::Beside(page) => state.beside == Some(page),
        }
    }
}

/// A panel: where it stands, when, and how it is drawn; `None`: nothing stands there.
struct Place {
    name: &'static str,
    when: When,
    draw: fn(&Page) -> Option<Node>,
}

/// A panel that stands on the page at any time.
const fn always(name: &'static str, draw: fn(&Page) -> Option<Node>) -> Place {
    Place { name, when: When::Always, draw }
}

/// A panel beside the plan, in whatever tab.
const fn planning(name: &'static str, draw: fn(&Page) -> Option<Node>) -> Place {
    Place { name, when: When::Planning, draw }
}

/// A panel of a tab.
const fn within(tab: Tab, name: &'static str, draw: fn(&Page) -> Option<Node>) -> Place {
    Place { name, when: When::In(tab), draw }
}

/// A page in place of form and answer.
const fn in_place(page: Tab, name: &'static str, draw: fn(&Page) -> Option<Node>) -> Place {
    Place { name, when: When::Beside(page), draw }
}

/// The panels that stand first on the page, with the figures that belong to what the reader just did: shown before all others.
const FIRST: usize = 11;

/// All panels, the first ones first. Those of a tab that is not open are neither drawn nor on the page.
const PLACES: [Place; 35] = [
    planning("form", form::panel),
    // Where the first Tab goes: a reader who tabs before it stands would start behind it.
    always("skip", frame::skip_link),
    planning("verdict", result::verdict),
    planning("verdict-line", result::verdict_line),
    always("link-problems", frame::link_problems),
    always("header", frame::header),
    planning("tabs", tabs::bar),
    planning("applied", advice::applied_note),
    within(Tab::Fix, "advice", advice::panel),
    within(Tab::Fix, "basis", result::basis),
    planning("answer", result::answer),
    within(Tab::Fix, "waterfall", advice::waterfall),
    within(Tab::Fix, "notes", result::notes),
    within(Tab::Compare, "comparison", result::comparison::panel),
    within(Tab::Compare, "pair", options::pair),
    within(Tab::Limits, "map", options::map::panel),
    within(Tab::Limits, "map-cell", options::map::cell),
    within(Tab::Limits, "map-said", options::map::said),
    within(Tab::Limits, "solve", options::solve),
    within(Tab::Memory, "phases", result::phases),
    within(Tab::Memory, "models", result::models),
    within(Tab::Memory, "breakdown", result::breakdown),
    within(Tab::Memory, "host", result::host),
    within(Tab::Memory, "metrics", result::metrics),
    within(Tab::Run, "run", tabs::run),
    within(Tab::Run, "export", files::write),
    within(Tab::Run, "summary", options::summary),
    in_place(Tab::Scenarios, "scenarios", gallery::panel),
    in_place(Tab::HowItWorks, "how-it-works", beside::how_it_works),
    in_place(Tab::Accuracy, "accuracy", result::accuracy),
    in_place(Tab::Glossary, "glossary", beside::glossary),
    planning("settings", frame::settings),
    always("footer", frame::footer),
    always("embedding", embedding::panel),
    always("files", files::read),
];

/// The panels of an embedded plan.
const EMBEDDED: [Place; 4] = [
    always("embed", embed::panel),
    always("link-problems", embed::problems),
    always("map-cell", options::map::cell),
    always("map-said", options::map::said),
];

/// What a panel was when the page was last told.
#[derive(Clone, PartialEq)]
enum Shown {
    Nothing,
    Bytes(Vec<u8>),
}

/// The first of `languages` (tags, separated by commas) that the page speaks.
fn language_of(languages: &str) -> Language {
    languages.split(',').find_map(Language::from_tag).unwrap_or(Language::English)
}

/// One reader's page.
pub struct Engine {
    state: State,
    /// All places, and how many of them stand in the first view.
    places: &'static [Place],
    first: usize,
    job: Result<Job, Vec<Problem>>,
    /// The answer at once, by what other plans needed; of the job's plan.
    at_once: Option<Estimate>,
    outcome: Result<Estimate, Vec<Problem>>,
    estimate: Option<Estimate>,
    replays: Replays,
    found: Found,
    offered: Offered,
    /// What each place shows, as the page has been told.
    shown: Vec<Shown>,
    /// The next place to draw; past the last: all are drawn.
    next: usize,
    /// Panels that the page has still to be told of.
    fresh: Vec<usize>,
    /// How many events have been taken.
    events: u32,
    /// Events that wait for offers of the first view, and whether that has stood.
    early: Vec<Event>,
    has_stood: bool,
    title: String,
    has_new_title: bool,
    /// Whether the job is the plan's.
    is_resolved: bool,
    /// Whether what stands below the first view is drawn.
    is_open: bool,
    /// Whether all that the page shows is found out.
    is_whole: bool,
}

impl Engine {
    /// The page at `page` (its address without query and fragment), opened with the plan of `fragment`, in the first language
    /// of `languages` (tags, separated by commas) that it speaks.
    #[must_use]
    pub fn new(page: &str, fragment: &str, languages: &str) -> Self {
        Self::with_places(State::open(page, fragment, language_of(languages)), &PLACES, FIRST)
    }

    /// The same for a plan embedded in another page: `page` is the address of the frame.
    #[must_use]
    pub fn embedded(page: &str, fragment: &str, languages: &str) -> Self {
        let state = State::embedded(page, fragment, language_of(languages));
        Self::with_places(state, &EMBEDDED, EMBEDDED.len())
    }

    fn with_places(state: State, places: &'static [Place], first: usize) -> Self {
        let mut engine = Self {
            state,
            places,
            first,
            job: Err(Vec::new()),
            at_once: None,
            outcome: Err(Vec::new()),
            estimate: None,
            replays: Replays::default(),
            found: Found::default(),
            offered: Offered::default(),
            shown: vec![Shown::Nothing; places.len()],
            next: 0,
            fresh: Vec::new(),
            events: 0,
            early: Vec::new(),
            has_stood: false,
            title: String::new(),
            has_new_title: false,
            is_resolved: false,
            is_open: false,
            is_whole: false,
        };
        form::settle(&mut engine.state);
        engine.name_title();
        engine
    }

    /// Takes what the reader did.
    pub fn take(&mut self, events: &[Event]) {
        let (plan, language) = (self.state.plan().clone(), self.state.language);
        for event in events {
            if !self.waits(event) {
                self.events = self.events.wrapping_add(1);
                self.act(event);
            }
        }
        if plan != *self.state.plan() {
            self.is_resolved = false;
            self.leave_early();
            files::plan_changed(&mut self.state);
        }
        if plan != *self.state.plan() || language != self.state.language {
            self.name_title();
        }
        self.next = 0;
        self.is_whole = false;
    }

    /// Takes the file of a class's program that came with the page. One that cannot be read is fetched when a model wants it.
    pub fn give(&mut self, program: &str) {
        if let Ok(file) = Program::from_json(program) {
            self.state.give_program(file);
            self.is_resolved = false;
            self.next = 0;
            self.is_whole = false;
        }
    }

    /// Takes a file that the reader chose or dropped, by its name; `size`, bytes, is more than `bytes` are where it was too
    /// large to be read. What was brought is read once the last one of it is here.
    pub fn bring(&mut self, name: &str, bytes: Vec<u8>, size: u64, is_last: bool) {
        files::bring(&mut self.state, name, bytes, size);
        if is_last {
            files::brought(&mut self.state);
            self.next = 0;
            self.is_whole = false;
        }
    }

    fn act(&mut self, event: &Event) {
        let state = &mut self.state;
        let (verb, about) = event.action.split_once(' ').unwrap_or((&event.action, ""));
        let value = event.value.as_str();
        match verb {
            "follow" => state.follow(value),
            "apply" => {
                if let Some(plan) = self.offered.plan(about) {
                    state.apply(plan);
                    state.focus = Some(advice::APPLIED_TITLE);
                }
            }
            "adopt" => {
                if let Some(plan) = self.offered.plan(about) {
                    state.apply(plan);
                }
            }
            "compare" => {
                if let Some(plan) = self.offered.plan(about) {
                    options::show_after(state, plan);
                    state.show_tab(Tab::Compare);
                    state.sight = Some(options::PAIR);
                }
            }
            "word" => beside::open_word(state, about),
            "tab" => {
                if let Some(tab) = Tab::named(about) {
                    state.show_tab(tab);
                }
            }
            "map" => options::map::act(state, &self.found.map, about, value),
            "open" => state.set_open(about, value == "true"),
            "explain" => state.set_open(about, !state.is_open(about)),
            "width" => {
                if let Ok(width) = value.parse() {
                    state.set_width(about, width);
                }
            }
            _ => {
                // The first room that knows the verb has it.
                let rooms = [
                    form::act,
                    frame::act,
                    result::act,
                    advice::act,
                    options::act,
                    embedding::act,
                    files::act,
                    programs::act,
                ];
                let _ = rooms.iter().any(|act| act(state, verb, about, value));
            }
        }
        form::settle(state);
    }

    /// Draws or finds out a little more.
    pub fn work(&mut self) -> Turn {
        self.take_early(false);
        if !self.is_resolved {
            // Of the plans that a moving slider makes faster than they can be answered, only the last is.
            self.resolve();
            self.is_resolved = true;
        }
        let last = if self.is_open { self.places.len() } else { self.first };
        if self.next < last {
            self.draw_next();
            let says_enough = self.next == self.first || self.next == last;
            return if says_enough && !self.fresh.is_empty() { Turn::Show } else { Turn::More };
        }
        if !self.is_open {
            let waits = self.job.as_ref().is_err_and(|problems| programs::is_under_way(&self.state, problems));
            return match self.find_first() {
                // The answer comes with the program.
                Step::Done if waits => Turn::Idle,
                Step::Done if self.take_early(true) => Turn::More,
                Step::Done => Turn::First,
                Step::Working => Turn::More,
                Step::Changed => {
                    self.next = 0;
                    Turn::More
                }
            };
        }
        let found = if self.state.embedded.is_some() { self.find_view() } else { self.find_out() };
        match found {
            Step::Done if self.take_early(true) => Turn::More,
            Step::Done if !self.is_whole && self.state.embedded.is_none() => {
                self.is_whole = true;
                Turn::Whole
            }
            Step::Done => Turn::Idle,
            Step::Working => Turn::More,
            Step::Changed => {
                self.next = 0;
                Turn::More
            }
        }
    }

    /// What has changed since the last answer, as [`Answer::decode`] reads it.
    pub fn answer(&mut self, more: bool) -> Vec<u8> {
        let answer = Answer {
            events: self.events,
            address: self.state.address.take(),
            title: std::mem::take(&mut self.has_new_title).then(|| self.title.clone()),
            panels: Vec::new(),
            focus: self.state.focus.take().map(str::to_owned).or_else(|| self.state.form.focus.take()),
            sight: self.state.sight.take().map(str::to_owned),
            more,
        };
        let panels: Vec<(&str, Option<Vec<u8>>)> = std::mem::take(&mut self.fresh)
            .into_iter()
            .filter_map(|at| {
                let bytes = match self.shown.get(at)? {
                    Shown::Nothing => None,
                    Shown::Bytes(bytes) => Some(bytes.clone()),
                };
                Some((self.places.get(at)?.name, bytes))
            })
            .collect();
        answer.encode_with(&panels)
    }

    /// Whether every panel has been drawn since the last event or finding.
    #[cfg(test)]
    pub(crate) fn has_drawn_all(&self) -> bool {
        self.next == self.places.len()
    }

    fn resolve(&mut self) {
        let plan = self.state.plan().clone();
        self.job = match &self.job {
            Ok(job) => job.with(plan),
            Err(_) => Job::resolve(&plan),
        };
        self.at_once = self.job.as_ref().ok().map(memory::estimate);
        self.found.asked.follow(&mut self.state, &self.job);
        self.refine();
    }

    /// Puts the plan's own replay into its answer, where it is there.
    fn refine(&mut self) {
        self.outcome = match (&self.job, &self.at_once) {
            (Ok(_), Some(estimate)) => Ok(match self.replays.whole(self.state.plan()) {
                Some(replay) => estimate.clone().refined(replay),
                None => estimate.clone(),
            }),
            (Err(problems), _) => Err(problems.clone()),
            (Ok(_), None) => Err(Vec::new()),
        };
        if let Ok(estimate) = &self.outcome {
            self.estimate = Some(estimate.clone());
        }
    }

    fn name_title(&mut self) {
        let title = format!("{} · Headroom", self.state.language.texts().plan_title(self.state.plan()));
        if title != self.title {
            self.title = title;
            self.has_new_title = true;
        }
    }

    fn draw_next(&mut self) {
        let at = self.next;
        self.next += 1;
        let page = Page {
            texts: self.state.language.texts(),
            state: &self.state,
            job: &self.job,
            outcome: &self.outcome,
            estimate: self.estimate.as_ref(),
            replays: &self.replays,
            found: &self.found,
            offered: &self.offered,
        };
        let (Some(place), Some(shown)) = (self.places.get(at), self.shown.get_mut(at)) else { return };
        let node = if place.when.holds(&self.state) { (place.draw)(&page) } else { None };
        let drawn = node.map_or(Shown::Nothing, |node| Shown::Bytes(node.to_bytes()));
        if *shown != drawn {
            *shown = drawn;
            if !self.fresh.contains(&at) {
                self.fresh.push(at);
            }
        }
    }

    /// Draws what stands further down, too: its code is there by now.
    pub fn go_on(&mut self) {
        self.is_open = true;
    }
}

#[cfg(test)]
mod tests {
    use headroom_core::link::Tab;
    use headroom_view::{Answer, Event};

    use super::{Engine, Turn};

    /// Works until the turn is `wanted`; the places of the panels that came by then.
    fn until(engine: &mut Engine, wanted: Turn) -> Vec<String> {
        let mut places = Vec::new();
        for _ in 0..100_000 {
            let turn = engine.work();
            if turn != Turn::More {
                let answer = Answer::decode(&engine.answer(turn != Turn::Idle)).unwrap_or_default();
                places.extend(answer.panels.into_iter().map(|panel| panel.place.into_owned()));
            }
            if turn == wanted {
                return places;
            }
        }
        places
    }

    #[test]
    fn the_first_view_stands_before_anything_further_down_is_drawn() {
        let mut engine = crate::reader::opened("https://example.org/", "v=1", "fr,zh-TW,en");
        let first = until(&mut engine, Turn::First);
        for place in ["form", "verdict", "advice", "header"] {
            assert!(first.iter().any(|other| other == place), "{place} is not in {first:?}");
        }
        assert!(!first.iter().any(|place| place == "footer"), "{first:?}");
        assert_eq!(engine.work(), Turn::First);
        engine.go_on();
        let rest = until(&mut engine, Turn::Idle);
        assert!(rest.iter().any(|place| place == "footer"), "{rest:?}");
        assert_eq!(engine.work(), Turn::Idle);
    }

    #[test]
    fn an_offer_that_is_taken_before_the_engine_has_made_it_waits_for_it() {
        let event = |action: &str, value: &str| Event { action: action.to_owned(), value: value.to_owned() };
        let taken = |engine: &mut Engine| Answer::decode(&engine.answer(true)).unwrap_or_default().events;
        let answered = |engine: &mut Engine| {
            until(engine, Turn::First);
            taken(engine)
        };
        let open = || crate::reader::opened("https://example.org/", "v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb", "en");
        let mut engine = open();
        let before = taken(&mut engine);
        engine.take(&[event("width chart", "900"), event("apply 0", "")]);
        assert_eq!(taken(&mut engine) - before, 1, "one of the two waits");
        assert_eq!(answered(&mut engine) - before, 2);
        assert!(engine.state.plan().per_device_train_batch_size > 1, "{:?}", engine.state.plan());
        // A number that no panel has is nothing once the first view has stood.
        engine.take(&[event("apply 4000", "")]);
        assert_eq!(answered(&mut engine) - before, 3);
        // Nor is an offer for another plan.
        let mut engine = open();
        engine.take(&[event("apply 0", ""), event("type max_length", "512")]);
        assert_eq!(answered(&mut engine) - before, 2);
        assert_eq!((engine.state.plan().per_device_train_batch_size, engine.state.plan().max_length), (1, 512));
    }

    #[test]
    fn nothing_changes_once_the_page_is_said_to_be_whole() {
        for tab in Tab::all() {
            let mut engine = crate::reader::opened("https://example.org/", &format!("v=1&tab={}", tab.name()), "en");
            until(&mut engine, Turn::First);
            engine.go_on();
            let before = until(&mut engine, Turn::Whole);
            assert!(!before.is_empty(), "{tab:?}");
            assert_eq!(until(&mut engine, Turn::Idle), [""; 0], "{tab:?}");
            if tab == Tab::Compare {
                continue;
            }
            // What another tab shows is there by then.
            engine.take(&[Event { action: "tab compare".to_owned(), value: String::new() }]);
            let shown = until(&mut engine, Turn::Whole);
            assert_eq!(shown.iter().filter(|place| *place == "comparison").count(), 1, "{tab:?}: {shown:?}");
        }
    }

    #[test]
    fn of_several_events_the_last_plan_alone_is_answered() {
        let mut engine = crate::reader::opened("https://example.org/", "v=1", "en");
        let length = |text: &str| Event { action: "type max_length".to_owned(), value: text.to_owned() };
        engine.take(&[length("2048")]);
        engine.take(&[length("4096"), length("8192")]);
        while engine.work() != Turn::Show {}
        let answer = Answer::decode(&engine.answer(true)).unwrap_or_default();
        assert_eq!(answer.events as usize, crate::reader::FETCHED.len() + 3);
        let address = answer.address.map(|address| address.fragment).unwrap_or_default();
        assert!(address.contains("max_length=8192"), "{address}");
    }
}
