//! What the reader sees of the answer, through the engine.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use headroom_core::plan::ModelChoice;
use headroom_core::units::GIB;
use headroom_view::{Answer, Content, Element, Event, Node};

use crate::{Engine, Turn};

/// A page as its reader has it.
struct Reader {
    engine: Engine,
    panels: BTreeMap<String, Node>,
    fragment: String,
}

impl Reader {
    fn opens(fragment: &str) -> Self {
        let mut engine = crate::reader::opened("https://here.example/", fragment, "en");
        engine.go_on();
        let mut reader = Self { engine, panels: BTreeMap::new(), fragment: fragment.to_owned() };
        reader.draw();
        reader
    }

    fn does(&mut self, action: &str, value: &str) {
        self.engine.take(&[Event { action: action.to_owned(), value: value.to_owned() }]);
        self.draw();
    }

    /// Takes what is shown at once: all panels, before anything is found out.
    fn draw(&mut self) {
        while !self.engine.has_drawn_all() {
            assert_ne!(self.engine.work(), Turn::Idle);
        }
        self.look();
    }

    /// Waits until the verdict is that of the plan's own replay.
    fn settle(&mut self) {
        for _ in 0..100_000 {
            if self.engine.work() != Turn::More {
                self.look();
            }
            if self.html("verdict").contains("data-basis=\"replayed\"") {
                return self.look();
            }
        }
        panic!("no replay came");
    }

    fn look(&mut self) {
        let answer = Answer::decode(&self.engine.answer(true)).unwrap();
        for panel in answer.panels {
            match panel.node {
                Some(node) => self.panels.insert(panel.place.to_string(), node),
                None => self.panels.remove(&*panel.place),
            };
        }
        if let Some(address) = answer.address {
            self.fragment = address.fragment;
        }
    }

    fn html(&self, place: &str) -> String {
        self.panels.get(place).map(Node::to_html).unwrap_or_default()
    }

    fn text(&self, place: &str) -> String {
        self.panels.get(place).map(Node::to_text).unwrap_or_default()
    }

    /// Elements of a panel for which `picks` says so.
    fn all(&self, place: &str, picks: fn(&Element) -> bool) -> Vec<&Element> {
        let mut found = Vec::new();
        let mut rest: Vec<&Node> = self.panels.get(place).into_iter().collect();
        while let Some(node) = rest.pop() {
            let Node::Element(element) = node else { continue };
            if picks(element) {
                found.push(element);
            }
            if let Content::Children(children) = &element.content {
                rest.extend(children.iter().rev());
            }
        }
        found
    }

    /// Actions of buttons that fix a problem.
    fn fixes(&self) -> Vec<String> {
        let fixes =
            self.all("verdict", |element| element.attribute("data-do").is_some_and(|act| act.starts_with("fix ")));
        fixes.iter().filter_map(|button| Some(button.attribute("data-do")?.to_owned())).collect()
    }
}

fn text_of(element: &Element) -> String {
    Node::from(element.clone()).to_text()
}

/// Hundredths of a GiB as printed; too little to print is nothing.
fn hundredths(said: &str) -> u64 {
    said.trim_end_matches(" GiB").replace('.', "").parse().unwrap_or(0)
}

#[test]
fn every_total_is_the_verdicts_figure_as_written() {
    for plan in ["v=1&model=openai-community/gpt2&method=full&max_length=512", "v=1&gpu=rtx-4090&method=qlora"] {
        let mut reader = Reader::opens(&format!("{plan}&tab=memory"));
        for replayed in [false, true] {
            if replayed {
                reader.settle();
            }
            let need = reader.all("breakdown", |element| element.attribute("class") == Some("breakdown-sum"));
            let exact = Node::from(need[0].clone()).to_html();
            let exact: String =
                exact.split("title=\"").nth(1).unwrap().chars().take_while(|letter| *letter != '"').collect();
            let need: f64 = exact.replace(|letter: char| !letter.is_ascii_digit(), "").parse().unwrap();
            let heads = reader.all("breakdown", |element| element.tag == "h3");
            let heads = heads.iter().map(|head| match &head.content {
                Content::Children(children) => hundredths(&children.last().unwrap().to_text()),
                _ => 0,
            });
            let sum: u64 = heads.sum();
            let peak = reader.all("phases", |element| element.attribute("class") == Some("peak"));
            let [peak] = peak.as_slice() else { panic!("one phase is the peak") };
            let Content::Children(cells) = &peak.content else { panic!("the row has cells") };
            let cells: Vec<u64> = cells[1..].iter().map(|cell| hundredths(&cell.to_text())).collect();
            let (total, parts) = cells.split_last().unwrap();
            assert_eq!(sum, *total, "{plan}");
            assert_eq!(parts.iter().sum::<u64>(), *total, "{plan}");
            let need = need / GIB as f64;
            assert!((need - *total as f64 / 100.0).abs() < 0.0051, "{plan}: {need}, {total}");
        }
    }
}

/// 0.3, which TRL takes, does not hold vLLM's copy of Qwen3 4B on an RTX 4090.
#[test]
fn a_share_with_which_vllm_does_not_start_is_fixed_by_the_least() {
    let mut reader = Reader::opens(
        "v=1&model=Qwen/Qwen3-4B&gpu=rtx-4090&trainer=trl&trainer_version=1.16.0&task=grpo&mixed_precision=bf16&\
         per_device_train_batch_size=8&gradient_checkpointing=true&engine=vllm&tab=memory",
    );
    assert!(reader.text("verdict").contains("It needs "), "{}", reader.text("verdict"));
    let fixes = reader.fixes();
    assert_eq!(fixes.len(), 1, "{}", reader.html("verdict"));
    reader.does(&fixes[0], "");
    assert_eq!(reader.fixes(), Vec::<String>::new());
    assert!(reader.fragment.contains("vllm_gpu_memory_utilization=0.5"), "{}", reader.fragment);
    assert!(reader.text("phases").contains("Generation"), "{}", reader.text("phases"));
}

#[test]
fn a_problem_offers_what_fixes_it() {
    let mut reader = Reader::opens("v=1&num_gpus=8&zero_stage=2&offload_param=cpu");
    assert!(reader.all("verdict", |element| element.attribute("role") == Some("alert")).len() == 1);
    assert!(reader.html("verdict").starts_with("<section class=\"panel verdict unknown\" aria-labelledby"));
    let fixes = reader.fixes();
    assert!(!fixes.is_empty(), "{}", reader.html("verdict"));
    reader.does(&fixes[0], "");
    assert_eq!(reader.fixes(), Vec::<String>::new());
    assert!(reader.html("verdict").contains("data-basis="), "{}", reader.html("verdict"));
}

#[test]
fn an_unknown_model_offers_its_candidates_by_name() {
    let mut reader = Reader::opens("v=1&model=llama");
    let fixes = reader.fixes();
    assert!(fixes.iter().all(|fix| fix.starts_with("fix model ")) && !fixes.is_empty(), "{fixes:?}");
    let name = fixes[0].trim_start_matches("fix model ").to_owned();
    assert!(reader.html("verdict").contains(&format!(">{name}</button>")));
    reader.does(&fixes[0], "");
    let ModelChoice::Catalogue(chosen) = headroom_core::link::decode(&reader.fragment).plan.model else { panic!() };
    assert_eq!(chosen, name);
    assert!(reader.html("verdict").contains("data-basis="));
}

#[test]
fn an_answer_to_an_earlier_plan_is_stale() {
    let mut reader = Reader::opens("v=1&model=nobody/nothing&tab=memory");
    assert_eq!(reader.html("answer"), "", "there never was an answer");
    for place in ["notes", "phases", "models", "breakdown", "host", "metrics"] {
        assert_eq!(reader.html(place), "");
    }
    reader.does("follow", "v=1&model=openai-community/gpt2&tab=memory");
    assert!(reader.html("answer").starts_with("<div class=\"answer\" id=\"tab-panel\" role=\"tabpanel\""));
    let breakdown = reader.html("breakdown");
    reader.does("follow", "v=1&model=nobody/nothing&tab=memory");
    assert!(reader.html("answer").starts_with("<div class=\"answer stale\""));
    assert_eq!(reader.html("breakdown"), breakdown, "the last good figures stay");
    assert!(!reader.html("verdict").contains("class=\"meter\""), "a verdict is this plan's own or none");
}

#[test]
fn a_category_leads_from_chart_and_legend_to_its_row_and_back() {
    let mut reader = Reader::opens("v=1&model=openai-community/gpt2&tab=memory");
    reader.does("width phases", "800");
    let elements = reader.all("phases", |element| element.attribute("data-do") == Some("category weights"));
    let marks = elements.iter().filter(|element| element.attribute("class") == Some("mark")).count();
    assert!(marks > 1 && elements.len() == marks + 1, "one in the legend, one in each phase: {}", elements.len());
    let said: Vec<&str> = elements.iter().filter_map(|element| element.attribute("aria-label")).collect();
    assert!(said.iter().all(|said| said.contains(" bytes)") && said.ends_with(" % of the GPU")), "{said:?}");
    reader.does("category weights", "");
    assert!(reader.html("phases").contains("data-picked=\"weights\""));
    let picked = reader.all("breakdown", |element| element.attribute("class") == Some("category-rows picked"));
    assert_eq!(picked.len(), 1);
    assert!(Node::from(picked[0].clone()).to_html().contains("id=\"breakdown-weights\""));
    assert!(reader.html("breakdown").contains("data-do=\"category weights chart\""));
    reader.does("category nothing", "");
    assert!(!reader.html("phases").contains("data-picked"));
}

#[test]
fn the_bars_of_the_breakdown_are_the_shares_of_the_need() {
    let reader = Reader::opens("v=1&model=openai-community/gpt2&tab=memory");
    let bars = reader.all("breakdown", |element| element.attribute("class").is_some_and(|c| c.starts_with("swatch-")));
    let widths: f64 = bars
        .iter()
        .filter_map(|bar| bar.attribute("data-style")?.strip_prefix("width:")?.strip_suffix('%')?.parse::<f64>().ok())
        .sum();
    assert!((widths - 100.0).abs() < 2.0, "{widths}");
    let formulas = reader.all("breakdown", |e| e.attribute("class") == Some("formula category-formula"));
    assert_eq!(formulas.len(), bars.len());
    assert!(formulas.iter().all(|formula| text_of(formula).len() > 3));
}

#[test]
fn charts_are_saved_as_pictures_and_tables_where_they_stand() {
    for (tab, place) in [("memory", "phases"), ("compare", "comparison")] {
        let mut reader = Reader::opens(&format!("v=1&model=openai-community/gpt2&tab={tab}"));
        reader.does("open comparison-chart", "true");
        for form in ["svg", "png", "csv"] {
            assert!(reader.html(place).contains(&format!("data-picture=\"{place} {form}\"")), "{place} {form}");
        }
        let files = reader.all(place, |element| element.attribute("class") == Some("chart-files"));
        let csv = files[0].attribute("data-csv").unwrap();
        assert!(csv.contains(",GPU memory (bytes),"), "{csv}");
        // The comparison is still being found.
        assert!(csv.lines().count() > 4 || tab == "compare", "{csv}");
    }
}

#[test]
fn rows_are_made_when_they_open_and_follow_the_plan() {
    let mut reader = Reader::opens("v=1&model=openai-community/gpt2&tab=memory");
    assert!(!reader.html("breakdown").contains("class=\"parts\""));
    let rows = reader.all("breakdown", |element| element.attribute("data-toggle").is_some());
    let several = rows.iter().find(|row| text_of(row).contains("× ")).unwrap();
    let open = several.attribute("data-toggle").unwrap().to_owned();
    reader.does(&open, "true");
    assert!(reader.html("breakdown").contains("class=\"parts\""));
    let part = format!("{open}:1");
    let lists = reader.all("breakdown", |element| element.tag == "dl").len();
    reader.does(&part, "true");
    assert_eq!(reader.all("breakdown", |element| element.tag == "dl").len(), lists + 1);
    let before = reader.html("breakdown");
    reader.does("follow", "v=1&model=openai-community/gpt2&max_length=256&tab=memory");
    assert_ne!(reader.html("breakdown"), before);
    assert!(reader.html("breakdown").contains("class=\"parts\""), "what is open stays open");
}

#[test]
fn a_picture_waits_for_its_width() {
    let mut reader = Reader::opens("v=1&model=openai-community/gpt2&tab=memory");
    assert!(reader.html("phases").contains("data-width=\"phases\""));
    assert!(!reader.html("phases").contains("<svg"));
    reader.does("width phases", "0");
    assert!(!reader.html("phases").contains("<svg"));
    reader.does("width phases", "643");
    let drawn = reader.html("phases");
    assert!(drawn.contains("<svg"));
    reader.does("width phases", "640");
    assert_eq!(reader.html("phases"), drawn, "a few pixels draw no other picture");
}

#[test]
fn measured_steps_come_when_they_are_asked_for() {
    let steps = headroom_core::accuracy::write(&headroom_core::accuracy::read(
        "covered 84 89\n= fit\n+ sft lora 0 none true bfloat16 no sdpa adamw_torch\n\
         meta-llama/Llama-3.2-3B 3224 1x4096x1 fit-lora-190 a337398-12 r351040+31 e339173+4\n",
    ));
    let mut reader = Reader::opens("v=1&model=openai-community/gpt2&tab=accuracy");
    let fetches = |reader: &Reader| reader.html("accuracy").contains("data-fetch-now=\"cases.txt\"");
    assert!(fetches(&reader));
    reader.does("not-fetched cases.txt", "");
    assert!(reader.html("accuracy").contains("<p role=\"alert\">"));
    reader.does("tab fix", "");
    reader.does("tab accuracy", "");
    assert!(fetches(&reader), "whoever comes back asks again");
    reader.does("fetched cases.txt", &steps);
    assert!(reader.text("accuracy").contains("meta-llama/Llama-3.2-3B"));
    assert!(!reader.html("accuracy").contains("<p role=\"alert\">") && !fetches(&reader));
    assert!(!reader.text("accuracy").contains("84"), "what follows for this plan comes with its own replay");
    for _ in 0..100_000 {
        if reader.text("accuracy").contains("84") {
            break;
        }
        reader.engine.work();
        reader.look();
    }
    assert!(reader.text("accuracy").contains("84"));
    reader.does("language", "zh");
    assert!(reader.text("accuracy").contains("准确度"));
}

#[test]
fn what_is_wrong_with_a_link_goes_when_closed() {
    let mut reader = Reader::opens("v=1&frobnicate=1");
    assert!(reader.text("link-problems").contains("frobnicate"));
    reader.does("close link-problems", "");
    assert_eq!(reader.html("link-problems"), "");
}

#[test]
fn the_header_speaks_the_language_chosen_in_it() {
    let mut reader = Reader::opens("v=1&model=openai-community/gpt2");
    let chosen = |reader: &Reader| {
        let options = reader.all("header", |element| element.attribute("selected").is_some());
        options.iter().map(|option| option.attribute("value").unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(chosen(&reader), ["en"]);
    reader.does("language", "zh");
    assert_eq!(chosen(&reader), ["zh"]);
    reader.does("language", "tlh");
    assert_eq!(chosen(&reader), ["zh"], "a language that the page does not speak");
    reader.does("start-over", "");
    assert!(!reader.html("header").contains("gpt2"), "the link to copy is that of the plan");
}

#[test]
fn a_page_takes_the_place_of_form_and_answer() {
    let mut reader = Reader::opens("v=1&model=openai-community/gpt2&tab=memory");
    assert!(reader.html("breakdown").contains("<section") && reader.html("scenarios").is_empty());
    reader.does("follow", "v=1&model=openai-community/gpt2&tab=scenarios");
    assert!(reader.html("scenarios").contains("<article"));
    for place in ["form", "verdict", "answer", "breakdown", "verdict-line"] {
        assert_eq!(reader.html(place), "", "{place}");
    }
    let links = reader.all("scenarios", |element| element.tag == "a");
    assert!(!links.is_empty() && links.iter().all(|link| link.attribute("href").is_some()));
    // The way back leads to the tab that was open, with the plan.
    let planner = reader.all("header", |element| element.tag == "a")[0].attribute("href").unwrap().to_owned();
    assert!(planner.contains("gpt2") && planner.ends_with("&tab=memory"), "{planner}");
    reader.does("follow", &planner[1..]);
    assert!(reader.html("breakdown").contains("<section") && reader.html("scenarios").is_empty());
}

#[test]
fn one_tab_is_open_and_an_edit_keeps_it() {
    let mut reader = Reader::opens("v=1&model=openai-community/gpt2&tab=limits");
    let open = reader.all("tabs", |element| element.attribute("aria-selected") == Some("true"));
    assert_eq!(open.iter().map(|tab| tab.attribute("id").unwrap()).collect::<Vec<_>>(), ["tab-limits"]);
    assert!(reader.html("map").contains("<section") && reader.html("advice").is_empty());
    reader.does("type max_length", "256");
    assert!(
        reader.fragment.contains("max_length=256") && reader.fragment.ends_with("&tab=limits"),
        "{}",
        reader.fragment
    );
    assert!(reader.html("map").contains("<section"));
    // Another plan to compare with stands in its own tab.
    reader.does("tab compare", "");
    assert!(reader.html("pair").contains("<section") && reader.html("map").is_empty());
}

#[test]
fn figures_of_a_guess_are_marked_as_rough() {
    let figures = |launched_by: &str| {
        let mut reader = Reader::opens(&format!(
            "v=1&model=Qwen/Qwen3-4B&gpu=rtx-4090&method=lora&trainer=trl&per_device_train_batch_size=16{launched_by}"
        ));
        reader.settle();
        reader.html("verdict")
    };
    let (guessed, exact) = (figures("&launched_by=unsloth"), figures(""));
    assert!(guessed.contains("≈ ") && guessed.contains("verdict-headroom\">≈ "), "{guessed}");
    assert!(!exact.contains('≈'), "{exact}");
}
