//! A reader for tests: does what a page would, and reads what the engine draws.

#![allow(clippy::unwrap_used, clippy::panic)]

use headroom_core::model::Program;
use headroom_text::Language;
use headroom_view::{Answer, Event, Node};

use crate::engine::{Engine, Turn};
use crate::state::State;

/// Far more turns than any test needs.
const MOST_TURNS: u32 = 200_000;

/// Classes whose programs a reader of tests has fetched before.
pub(crate) const FETCHED: &[&str] = &[
    "bert",
    "cohere2",
    "deepseek_v3",
    "gemma2",
    "gemma3_text",
    "gpt2",
    "gpt_oss",
    "llama",
    "mistral",
    "mixtral",
    "phi",
    "phi3",
    "qwen2",
    "qwen2_moe",
    "qwen3",
    "qwen3_moe",
];

/// The engine with the plan of `fragment`, of which the page has fetched these programs.
pub(crate) fn opened(page: &str, fragment: &str, languages: &str) -> Engine {
    let mut engine = Engine::new(page, fragment, languages);
    let fetched =
        FETCHED.iter().map(|name| Event { action: format!("fetched programs/{name}.json"), value: program(name) });
    engine.take(&fetched.collect::<Vec<_>>());
    engine
}

/// What the reader entered in `fragment`, with the programs that the page has fetched.
pub(crate) fn state(page: &str, fragment: &str) -> State {
    let mut state = State::open(page, fragment, Language::English);
    for name in FETCHED {
        state.give_program(Program::from_json(&program(name)).unwrap());
    }
    state
}

/// The file of a class's program.
pub(crate) fn program(name: &str) -> String {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../static/programs");
    std::fs::read_to_string(folder.join(name).with_extension("json")).unwrap()
}

/// Someone at the page.
pub(crate) struct Reader {
    engine: Engine,
    panels: Vec<(String, Option<Node>)>,
    /// The element that took the focus last.
    pub(crate) focus: Option<String>,
    /// The plan in the address, where it has changed.
    pub(crate) fragment: Option<String>,
}

impl Reader {
    /// Opens the page with the plan of `fragment`.
    pub(crate) fn open(fragment: &str) -> Self {
        let mut engine = opened("https://example.org/", fragment, "en");
        engine.go_on();
        let mut reader = Self { engine, panels: Vec::new(), focus: None, fragment: None };
        reader.look();
        reader
    }

    /// Does what an element with this action does, and looks at what is there before more is found out.
    pub(crate) fn act(&mut self, action: &str, value: &str) {
        self.engine.take(&[Event { action: action.to_owned(), value: value.to_owned() }]);
        self.look();
    }

    /// Brings a file.
    pub(crate) fn bring(&mut self, name: &str, bytes: Vec<u8>, size: u64, is_last: bool) {
        self.engine.bring(name, bytes, size, is_last);
        self.look();
    }

    /// Opens another plan, as the address brings it.
    pub(crate) fn follow(&mut self, fragment: &str) {
        self.act("follow", fragment);
    }

    /// Presses the button of a panel whose markup holds `label`.
    pub(crate) fn press(&mut self, place: &str, label: &str) {
        let html = self.html(place);
        let button =
            html.split("<button").skip(1).find(|button| button.split("</button>").next().unwrap().contains(label));
        let button = button.unwrap_or_else(|| panic!("no button {label} in {html}"));
        let action = button.split("data-do=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        self.act(&action, "");
    }

    /// Draws every panel once.
    fn look(&mut self) {
        while !self.engine.has_drawn_all() {
            self.engine.work();
        }
        self.read();
    }

    /// Waits until the panel at `place` holds `text`; what it is then.
    pub(crate) fn wait(&mut self, place: &str, text: &str) -> String {
        for _ in 0..MOST_TURNS {
            let turn = self.engine.work();
            if turn != Turn::More {
                self.read();
            }
            let html = self.html(place);
            if html.contains(text) {
                return html;
            }
            assert!(turn != Turn::Idle, "{text} is not in {html}");
        }
        panic!("{text} never came");
    }

    /// One turn of the engine's.
    pub(crate) fn turn(&mut self) -> Turn {
        let turn = self.engine.work();
        self.read();
        turn
    }

    fn read(&mut self) {
        let answer = Answer::decode(&self.engine.answer(true)).unwrap();
        for panel in answer.panels {
            self.panels.retain(|(place, _)| *place != panel.place);
            self.panels.push((panel.place.into_owned(), panel.node));
        }
        self.focus = answer.focus.or(self.focus.take());
        self.fragment = answer.address.map(|address| address.fragment).or(self.fragment.take());
    }

    fn node(&self, place: &str) -> Option<&Node> {
        self.panels.iter().find(|(own, _)| own == place)?.1.as_ref()
    }

    /// The panel at `place` as HTML; empty where nothing stands.
    pub(crate) fn html(&self, place: &str) -> String {
        self.node(place).map(Node::to_html).unwrap_or_default()
    }

    /// The words of the panel at `place`.
    pub(crate) fn text(&self, place: &str) -> String {
        self.node(place).map(Node::to_text).unwrap_or_default()
    }
}
