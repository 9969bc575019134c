//! What is typed into the searchable lists.

use headroom_view::Element;

use super::{Reader, each, found, text_of};

impl Reader {
    /// Lines of the open lists, as read.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        each(&self.form, &mut |element| {
            if element.attribute("role") == Some("option") {
                lines.push(text_of(element));
            }
        });
        lines
    }

    /// Value of the line that has this text.
    fn value_of_line(&self, text: &str) -> String {
        let mut value = None;
        each(&self.form, &mut |element| {
            if element.attribute("role") == Some("option") && text_of(element).contains(text) {
                value = value.take().or_else(|| element.attribute("data-option").map(str::to_owned));
            }
        });
        value.expect("the list has it")
    }

    fn popup(&self, name: &str) -> &Element {
        let list = [&super::super::field::id_of(name), "-list"].concat();
        let has_list = |element: &Element| {
            let class = element.attribute("class").unwrap_or_default();
            class.starts_with("combobox-popup")
                && found(&element.clone().into(), &|own| own.attribute("id") == Some(&list)).is_some()
        };
        found(&self.form, &has_list).expect("the list has a popup")
    }

    /// The line that is active by itself, and which time it is said.
    fn active(&self, name: &str) -> (Option<&str>, &str) {
        let popup = self.popup(name);
        (popup.attribute("data-active"), popup.attribute("data-turn").unwrap_or_default())
    }

    fn count(&self, name: &str) -> String {
        let is_it = |element: &Element| element.attribute("class") == Some("list-count");
        text_of(found(&self.popup(name).clone().into(), &is_it).expect("a list counts"))
    }

    fn is_open(&self, name: &str) -> bool {
        self.attribute(name, "aria-expanded") == "true"
    }
}

#[test]
fn the_best_answer_is_active_and_enter_takes_it() {
    let mut reader = Reader::open("v=1");
    reader.does("seek gpu", "4090");
    assert!(reader.is_open("gpu"));
    assert_eq!(reader.active("gpu"), (Some("0"), "1"));
    assert_eq!(reader.value("gpu"), "4090");
    let lines = reader.lines();
    assert!(lines[0].starts_with("GeForce RTX 4090 23.5"), "{lines:?}");
    assert!(lines[1].contains("RTX 4090 D") && lines[2].contains("RTX 4090 Laptop"), "{lines:?}");
    reader.does("enter gpu", "4090\n");
    assert_eq!(reader.value("gpu"), "GeForce RTX 4090");
    assert!(!reader.is_open("gpu") && reader.lines().is_empty());
    assert!(reader.fragment().contains("gpu=rtx-4090"));
    // Leaving what was taken changes nothing, whatever the page still had in the input.
    let before = reader.fragment().to_owned();
    reader.does("leave gpu", "4090\n");
    assert_eq!((reader.fragment(), reader.value("gpu")), (before.as_str(), "GeForce RTX 4090"));
}

#[test]
fn leaving_takes_a_clear_answer() {
    let mut reader = Reader::open("v=1");
    reader.does("seek gpu", "4090");
    reader.does("leave gpu", "4090\n");
    assert_eq!(reader.value("gpu"), "GeForce RTX 4090");
    reader.does("seek model", "https://huggingface.co/unsloth/Llama-3.1-8B-Instruct-bnb-4bit/tree/main");
    reader.does("leave model", "https://huggingface.co/unsloth/Llama-3.1-8B-Instruct-bnb-4bit/tree/main\n");
    assert_eq!(reader.value("model"), "meta-llama/Llama-3.1-8B-Instruct");
}

#[test]
fn what_is_typed_counts_not_what_was_listed_last() {
    let mut reader = Reader::open("v=1");
    reader.does("seek gpu", "40");
    // The page's list was of less: its line is no answer to the whole text.
    reader.does("leave gpu", "4090\n");
    assert_eq!(reader.value("gpu"), "GeForce RTX 4090");
    reader.does("seek gpu", "h");
    reader.does("enter gpu", "h200\n");
    assert!(reader.value("gpu").contains("H200"));
}

#[test]
fn the_reader_can_go_to_another_line() {
    let mut reader = Reader::open("v=1");
    reader.does("seek gpu", "4090");
    reader.does("enter gpu", "4090\nrtx-4090-d");
    assert_eq!(reader.value("gpu"), "GeForce RTX 4090 D");
    reader.does("seek gpu", "24GB");
    let value = reader.value_of_line("RTX 3090 ");
    reader.does("leave gpu", &format!("24GB\n{value}"));
    assert_eq!(reader.value("gpu"), "GeForce RTX 3090");
}

#[test]
fn a_line_is_taken_from_the_list_that_the_reader_saw() {
    let mut reader = Reader::open("v=1");
    reader.does("list model", "");
    let value = reader.value_of_line("Qwen/Qwen3-8B ");
    // Typed before the click, and listed after it.
    reader.does("seek model", "qwen3-4b");
    reader.does("take model", &value);
    assert_eq!((reader.value("model"), reader.is_open("model")), ("Qwen/Qwen3-8B", false));
    reader.does("list model", "");
    reader.does("seek model", "qwen3-4b");
    reader.does("enter model", &format!("qwen3-4b\n{value}"));
    assert_eq!(reader.value("model"), "Qwen/Qwen3-8B");
}

#[test]
fn what_matches_nothing_is_told_with_the_fix_and_stays_as_typed() {
    let mut reader = Reader::open("v=1");
    reader.does("seek gpu", "abacus");
    assert!(reader.count("gpu").contains("Nothing matches"), "{}", reader.count("gpu"));
    // What would fix it stands in the list.
    let lines = reader.lines();
    assert!(lines.len() == 1 && lines[0].contains("Another GPU"), "{lines:?}");
    assert_eq!(reader.active("gpu").0, None);
    reader.does("leave gpu", "abacus\n");
    assert_eq!(reader.value("gpu"), "abacus");
    assert!(reader.is_invalid("gpu"));
    assert!(reader.described("gpu").contains("abacus is not in the catalogue; give its memory"));
    reader.does("seek gpu", "rtx4090");
    reader.does("leave gpu", "rtx4090\n");
    assert!(!reader.is_invalid("gpu"));
}

#[test]
fn a_gpu_of_the_readers_own_starts_from_the_memory_chosen_before() {
    let mut reader = Reader::open("v=1&gpu=rtx-4090");
    reader.does("seek gpu", "another");
    assert_eq!(reader.active("gpu").0, Some("0"));
    reader.does("enter gpu", "another\n");
    assert_eq!(reader.value("gpu"), "Another GPU: give its memory");
    assert_eq!(reader.value("gpu.memory_gib"), "24");
}

#[test]
fn escape_gives_back_what_was_chosen_and_nothing_typed_leaves_it() {
    let mut reader = Reader::open("v=1&gpu=h200");
    let chosen = reader.value("gpu").to_owned();
    reader.does("seek gpu", "4090");
    reader.does("escape gpu", "");
    assert_eq!(reader.value("gpu"), chosen);
    assert!(!reader.is_open("gpu"));
    reader.does("leave gpu", &format!("{chosen}\n"));
    reader.does("seek gpu", "  ");
    assert_eq!(reader.value("gpu"), "  ");
    assert_eq!(reader.active("gpu").0, None);
    reader.does("leave gpu", "  \n");
    assert_eq!(reader.value("gpu"), chosen);
    // Went through the list without typing: Enter takes a line, leaving does not.
    reader.does("list gpu", "");
    reader.does("leave gpu", &format!("{chosen}\nrtx-4090"));
    assert_eq!((reader.value("gpu"), reader.address.is_none()), (chosen.as_str(), true));
}

#[test]
fn an_opened_list_starts_at_what_is_chosen() {
    let mut reader = Reader::open("v=1&gpu=rtx-4090");
    reader.does("list gpu", "");
    let (active, turn) = reader.active("gpu");
    let active: usize = active.expect("the chosen line").parse().expect("an index");
    assert_eq!(turn, "1");
    assert!(reader.lines()[active].starts_with("GeForce RTX 4090 23.5"));
    let is_chosen = |element: &Element| element.attribute("aria-selected") == Some("true");
    let option = found(&reader.form, &is_chosen).expect("the chosen line");
    assert_eq!(option.attribute("id"), Some(format!("field-gpu-list-{active}").as_str()));
    // It is open already.
    reader.does("list gpu", "");
    assert_eq!(reader.active("gpu").1, "1");
    reader.does("enter gpu", "GeForce RTX 4090\n");
    assert!(!reader.is_open("gpu"));
    assert_eq!(reader.value("gpu"), "GeForce RTX 4090");
}

#[test]
fn a_memory_size_lists_the_gpus_of_that_size_and_leaving_asks_for_one() {
    let mut reader = Reader::open("v=1");
    reader.does("seek gpu", "24GB");
    let lines = reader.lines();
    for name in ["RTX 3090", "RTX 4090", "TITAN RTX", "L4"] {
        assert!(lines.iter().any(|line| line.contains(name)), "{name}");
    }
    assert!(!lines.iter().any(|line| line.contains("A100")));
    reader.does("leave gpu", "24GB\n");
    assert!(reader.described("gpu").contains("24GB can be titan-rtx"), "{}", reader.described("gpu"));
}

#[test]
fn a_model_that_is_not_there_is_never_taken_for_one_that_is() {
    let mut reader = Reader::open("v=1");
    reader.does("seek model", "Qwen2.5-Audio");
    assert_eq!(reader.count("model"), "Nothing has this name. The nearest:");
    assert!(reader.lines()[0].contains("Qwen/Qwen2.5"));
    assert_eq!(reader.active("model").0, None);
    reader.does("enter model", "Qwen2.5-Audio\n");
    assert_eq!(reader.value("model"), "Qwen2.5-Audio");
    let said = reader.described("model");
    assert!(said.contains("not in the catalogue; paste its config.json") && said.contains("Qwen/Qwen2.5-7B"), "{said}");
}

#[test]
fn chinese_names_are_understood() {
    let mut reader = Reader::open_in("v=1", "zh");
    reader.does("seek model", "千问");
    assert!(reader.lines()[0].contains("Qwen/Qwen3-"));
}

#[test]
fn a_very_long_text_is_refused_and_kept() {
    let mut reader = Reader::open("v=1");
    let text = "a1".repeat(5_000);
    reader.does("seek gpu", &text);
    reader.does("leave gpu", &format!("{text}\n"));
    assert_eq!(reader.value("gpu"), text);
    assert!(reader.described("gpu").contains("Longer than 256 bytes"));
    assert_eq!(reader.address, None);
    // Leaving it again as it was refused.
    reader.does("leave gpu", &format!("{text}\n"));
    assert!(reader.is_invalid("gpu") && !reader.is_open("gpu"));
    reader.does("escape gpu", "");
    assert!(!reader.is_invalid("gpu"));
}

#[test]
fn a_choice_made_elsewhere_replaces_what_was_typed() {
    let mut reader = Reader::open("v=1");
    reader.does("seek gpu", "abac");
    reader.does("type max_length", "4096");
    assert_eq!(reader.value("gpu"), "abac");
    reader.does("follow", "v=1&gpu=h200");
    assert!(reader.value("gpu").contains("H200"));
    reader.does("leave gpu", "abac\n");
    assert!(reader.value("gpu").contains("H200"));
}
