//! A config.json of the reader's own.

use headroom_view::Element;

use super::{Reader, text_of};

// A Llama of 1.1 billion parameters under no name that a catalogue would know.
const CONFIG: &str = r#"{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 2048,
    "intermediate_size": 5632, "num_hidden_layers": 22, "num_attention_heads": 32, "num_key_value_heads": 4,
    "vocab_size": 32000, "max_position_embeddings": 2048, "tie_word_embeddings": false}"#;
const PARAMETERS: &str = "1,100,048,384";

impl Reader {
    fn text_box(&self) -> &Element {
        self.seen("own-config-text").expect("the box is in the form")
    }

    fn in_box(&self) -> &str {
        self.text_box().attribute("value").unwrap_or_default()
    }

    fn complaint(&self) -> String {
        text_of(self.seen("own-config-error").expect("errors have their place"))
    }

    fn is_open_box(&self) -> bool {
        let is_it = |element: &Element| element.attribute("class") == Some("own-config");
        super::found(&self.form, &is_it).is_some_and(|own| own.attribute("open").is_some())
    }
}

#[test]
fn a_pasted_config_becomes_the_model_and_travels_in_the_link() {
    let mut reader = Reader::folded("v=1");
    assert!(!reader.is_open_box());
    assert!(reader.seen("own-config-text").is_none(), "nothing of it is drawn before it is unfolded");
    reader.does("open own-config", "true");
    reader.does("config-text", CONFIG);
    reader.does("config-name", "our/tiny");
    reader.does("config-use", "");
    assert_eq!(reader.value("model"), "our/tiny");
    assert!(reader.form.to_text().contains(PARAMETERS));

    let colleague = Reader::open(reader.fragment());
    assert_eq!(colleague.value("model"), "our/tiny");
    assert!(colleague.form.to_text().contains(PARAMETERS));
    assert!(colleague.is_open_box());
    assert!(colleague.in_box().contains("\"hidden_size\": 2048"), "{}", colleague.in_box());
    assert_eq!(colleague.seen("own-config-name").and_then(|name| name.attribute("value")), Some("our/tiny"));
}

#[test]
fn the_box_is_filled_only_by_what_is_brought() {
    let mut reader = Reader::open("v=1");
    let times = |reader: &Reader| reader.text_box().attribute("data-brought").map(str::to_owned);
    let before = times(&reader);
    reader.does("config-text", "{ ");
    reader.does("config-use", "");
    reader.does("type max_length", "4096");
    assert_eq!(times(&reader), before);
    reader.does("config-text", CONFIG);
    reader.does("config-use", "");
    let taken = times(&reader);
    assert_ne!(taken, before);
    // Another model leaves the box as it is.
    reader.does("choose model", "Qwen/Qwen3-4B");
    assert_eq!(times(&reader), taken);
    // Folded, it keeps what is typed in it.
    reader.does("open own-config", "false");
    assert!(!reader.is_open_box());
    assert_eq!(times(&reader), taken);
}

#[test]
fn a_file_is_read_under_its_name() {
    let mut reader = Reader::open("v=1");
    reader.does("config-file", &format!("our-tiny.json\n{CONFIG}"));
    assert_eq!(reader.value("model"), "our-tiny");
    let mut reader = Reader::open("v=1");
    reader.does("config-file", &format!("config.json\n{CONFIG}"));
    assert_eq!(reader.value("model"), headroom_text::Language::English.texts().own_model);
    // A file that cannot be taken stands in the box, to be corrected.
    reader.does("config-file", "config.json\n{ \"model_type\":");
    assert_eq!(reader.in_box(), "{ \"model_type\":");
    assert!(reader.complaint().contains("Not JSON"), "{}", reader.complaint());
}

#[test]
fn what_cannot_be_read_says_why_and_nothing_is_lost() {
    let mut reader = Reader::open("v=1");
    reader.does("config-use", "");
    assert!(reader.complaint().contains("Paste the text"));
    reader.does("config-text", "{ \"model_type\": \"llama\", ");
    assert_eq!(reader.complaint(), "");
    reader.does("config-use", "");
    assert!(reader.complaint().contains("Not JSON at line 1, column"));
    assert_eq!(reader.text_box().attribute("aria-invalid"), Some("true"));
    reader.does("config-text", "{ \"model_type\": \"llama\", \"hidden_size\": -3 }");
    reader.does("config-use", "");
    assert!(reader.complaint().contains("hidden_size"));
    reader.does("config-unreadable", "");
    assert!(!reader.complaint().is_empty());
    assert_eq!((reader.value("model"), reader.address.is_none()), ("Qwen/Qwen3-4B", true));
}

#[test]
fn what_is_too_large_is_refused_until_the_box_has_less() {
    let mut reader = Reader::open("v=1");
    reader.does("config-text", CONFIG);
    reader.does("config-too-large", "5242880");
    assert!(reader.complaint().contains("5.0 MiB") && reader.complaint().contains("never above 1 MiB"));
    reader.does("config-use", "");
    assert!(reader.complaint().contains("5.0 MiB"));
    assert_eq!(reader.value("model"), "Qwen/Qwen3-4B");
    reader.does("config-text", CONFIG);
    reader.does("config-use", "");
    assert_eq!(reader.complaint(), "");
    assert!(reader.form.to_text().contains(PARAMETERS));
    // The page is to measure, but need not be trusted.
    reader.does("config-text", &" ".repeat((1 << 20) + 1));
    reader.does("config-use", "");
    assert!(reader.complaint().contains("1 MiB"));
}

#[test]
fn what_the_config_leaves_open_is_listed() {
    let mut reader = Reader::open("v=1");
    reader.does("config-text", &CONFIG.replace("\"num_hidden_layers\": 22,", ""));
    reader.does("config-use", "");
    let said = reader.form.to_text();
    for part in ["Read as llama", "32 layers", "num_hidden_layers = 32"] {
        assert!(said.contains(part), "{part}");
    }
    reader.does("config-text", CONFIG);
    reader.does("config-use", "");
    let said = reader.form.to_text();
    assert!(said.contains("22 layers") && said.contains("It says everything that decides the model's size."));
}

#[test]
fn labels_by_the_thousand_are_read_without_them() {
    let labels: Vec<String> = (0..20_000).map(|label| format!("\"{label}\": \"a label of many letters\"")).collect();
    let text = CONFIG.replacen('{', &format!("{{\"id2label\": {{{}}}, ", labels.join(",")), 1);
    let mut reader = Reader::open("v=1");
    reader.does("config-text", &text);
    reader.does("config-use", "");
    assert!(reader.in_box().contains("\"num_labels\": 20000") && !reader.in_box().contains("id2label"));
}

const HUB: &str = "https://huggingface.co";

/// What the form asks the page to fetch.
fn fetching(reader: &Reader) -> Option<String> {
    let is_it = |element: &Element| element.attribute("data-fetch-now").is_some();
    super::found(&reader.form, &is_it).and_then(|note| note.attribute("data-fetch-now").map(str::to_owned))
}

#[test]
fn a_config_is_fetched_from_hugging_face_once_it_is_asked_for() {
    let mut reader = Reader::open("v=1");
    reader.does("hub-id", "org/tiny");
    assert_eq!(fetching(&reader), None);
    reader.does("hub-load", "");
    let config = format!("{HUB}/org/tiny/resolve/main/config.json");
    assert_eq!(fetching(&reader), Some(config.clone()));
    // What comes from elsewhere, or late, is nothing.
    reader.does(&format!("fetched {HUB}/other/tiny/resolve/main/config.json"), "{}");
    assert_eq!(fetching(&reader), Some(config.clone()));
    reader.does(&format!("fetched {config}"), CONFIG);
    assert_eq!(reader.value("model"), "org/tiny");
    let facts = format!("{HUB}/api/models/org/tiny");
    assert_eq!(fetching(&reader), Some(facts.clone()));
    reader.does(&format!("fetched {facts}"), r#"{"safetensors":{"total":7}}"#);
    assert_eq!(fetching(&reader), None);
    assert!(reader.form.to_text().contains("Hugging Face counts 7 parameters"), "{}", reader.form.to_text());
    reader.does("choose model", "Qwen/Qwen3-4B");
    assert!(!reader.form.to_text().contains("Hugging Face counts"));
}

#[test]
fn what_hugging_face_does_not_give_is_said_and_the_plan_stays() {
    let mut reader = Reader::open("v=1");
    let before = reader.value("model").to_owned();
    let config = format!("{HUB}/org/tiny/resolve/main/config.json");
    for (status, said) in [
        ("401", "gated"),
        ("403", "gated"),
        ("404", "has no config.json"),
        ("500", "answered 500"),
        ("", "could not be reached"),
    ] {
        reader.does("hub-id", "org/tiny");
        reader.does("hub-load", "");
        assert_eq!(fetching(&reader), Some(config.clone()));
        reader.does(&format!("not-fetched {config}"), status);
        assert_eq!(fetching(&reader), None);
        assert!(text_of(reader.seen("hub-error").expect("errors have their place")).contains(said), "{status}");
        assert_eq!(reader.value("model"), before);
    }
    reader.does("hub-id", "org/../x");
    reader.does("hub-load", "");
    assert_eq!(fetching(&reader), None);
    assert!(text_of(reader.seen("hub-error").expect("errors have their place")).contains("owner/name"));
    // A config that comes and cannot be read is refused like any other.
    reader.does("hub-id", "org/tiny");
    reader.does("hub-load", "");
    reader.does(&format!("fetched {config}"), "<html>");
    assert!(reader.complaint().contains("JSON"), "{}", reader.complaint());
}

/// A class that nothing here knows, with the program of one that was recorded.
fn unknown() -> (String, String) {
    let program =
        include_str!("../../../../../static/programs/minimax_m2.json").replace("\"minimax_m2\"", "\"my_moe\"");
    let config = r#"{"model_type":"my_moe","hidden_size":3072,"intermediate_size":1536,"num_hidden_layers":4,"num_attention_heads":48,
        "num_key_value_heads":8,"head_dim":128,"num_local_experts":256,"num_experts_per_tok":8,"vocab_size":200064}"#;
    (config.to_owned(), program)
}

#[test]
fn a_class_that_nothing_knows_is_recorded_by_the_reader_and_then_read() {
    let (config, program) = unknown();
    let mut reader = Reader::open("v=1");
    assert!(reader.seen("program-text").is_none());
    reader.does("config-text", &config);
    reader.does("config-use", "");
    let text = reader.form.to_text();
    assert!(
        text.contains("my_moe has not been recorded")
            && text.contains("python -m headroom.record my_moe --out my_moe.json"),
        "{text}"
    );
    for (given, said) in [
        ("", "Paste the text"),
        ("{", "no program that can be used"),
        (include_str!("../../../../../static/programs/mamba2.json"), "is of mamba2, and the config is of my_moe"),
    ] {
        reader.does("program-text", given);
        reader.does("program-use", "");
        assert!(text_of(reader.seen("program-error").expect("errors have their place")).contains(said), "{given:.40}");
    }
    // On either box: a program that is dropped where configs go takes no config's place.
    reader.does("config-file", &format!("my_moe.json\n{program}"));
    assert!(reader.seen("program-text").is_none());
    assert!(!reader.in_box().contains("programs"));
    assert!(reader.form.to_text().contains("Read as my_moe: 4 layers"), "{}", reader.form.to_text());
}

#[test]
fn a_program_that_is_pasted_over_a_config_is_taken_and_the_config_comes_back() {
    let (config, program) = unknown();
    let mut reader = Reader::open("v=1");
    // Nothing waits for a program yet: it is told what to do, and keeps what was pasted.
    reader.does("config-text", &program);
    reader.does("config-use", "");
    assert!(reader.complaint().contains("not a config.json"), "{}", reader.complaint());
    reader.does("config-file", &format!("my_moe.json\n{program}"));
    assert!(reader.complaint().contains("not a config.json"), "{}", reader.complaint());
    reader.does("config-text", &config);
    reader.does("config-use", "");
    assert!(reader.seen("program-text").is_some());
    reader.does("config-text", &program);
    reader.does("config-use", "");
    assert_eq!(reader.complaint(), "");
    assert!(reader.seen("program-text").is_none());
    assert!(reader.in_box().contains("my_moe") && !reader.in_box().contains("programs"), "{}", reader.in_box());
    assert!(reader.form.to_text().contains("Read as my_moe: 4 layers"), "{}", reader.form.to_text());
}

#[test]
fn a_config_that_nothing_can_read_asks_for_its_program_and_is_taken_with_it() {
    let (_, program) = unknown();
    // Its class gives all figures; Llama's would need more.
    let config = r#"{"model_type":"my_moe","num_hidden_layers":4}"#;
    let mut reader = Reader::open("v=1");
    reader.does("config-text", config);
    reader.does("config-use", "");
    assert!(reader.complaint().contains("The class my_moe is not known here"), "{}", reader.complaint());
    assert!(reader.seen("program-text").is_some());
    reader.does("program-file", &format!("p.json\n{program}"));
    assert_eq!(reader.complaint(), "");
    assert!(reader.form.to_text().contains("Read as my_moe"), "{}", reader.form.to_text());
}
