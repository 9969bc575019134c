//! Links: old ones open for ever, and nothing a link holds can do harm.
#![allow(clippy::unwrap_used, clippy::panic)]

mod any_plan;

use any_plan::{any_plan, any_value, as_json};
use headroom_core::link::{Decoded, Link, MAX_LINK_BYTES, Shown, Tab, Theme, View, decode, encode};
use headroom_core::plan::{
    GpuChoice, Kind, Method, ModelChoice, Optimizer, Plan, PolicyUpdate, Problem, ProblemKind, TargetModules, field,
    fields,
};
use headroom_text::problem_line;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Links of version 1: the literal link, what it means in canonical form, and the fields it reports problems of. Only ever add lines.
const CORPUS: &str = include_str!("../../../tests/links/v1.txt");

/// Links with the plan that each must give: its fields where they differ from `DEFAULTS`, `null` where it has none. Only ever
/// add lines.
const PLANS: &str = include_str!("../../../tests/links/plans.jsonl");
/// Every field of a plan of version 1 of which a link says nothing, as they were when the first line was added.
const DEFAULTS: &str = include_str!("../../../tests/links/defaults.json");

fn said(problems: &[Problem]) -> String {
    problems.iter().map(problem_line).collect::<Vec<_>>().join(" | ")
}

#[test]
fn old_links_mean_what_they_meant() {
    let mut links = 0;
    for line in CORPUS.lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        let mut columns = line.split('\t');
        let (link, canonical) = (columns.next().unwrap(), columns.next().unwrap());
        let decoded = decode(link);
        assert_eq!(encode(&decoded.plan), canonical, "{link}");
        let fields: Vec<&str> = decoded.problems.iter().map(|problem| problem.field.as_str()).collect();
        assert_eq!(fields.join(" "), columns.next().unwrap_or_default(), "{link}");
        let again = decode(canonical);
        assert_eq!((again.plan, again.problems), (decoded.plan, Vec::new()), "{link}");
        links += 1;
    }
    assert!(links >= 30, "lines were lost: {links} left");
}

#[test]
fn links_give_the_plans_that_they_always_gave() {
    let defaults: Map<String, Value> = serde_json::from_str(DEFAULTS).unwrap();
    let mut links = 0;
    for line in PLANS.lines() {
        let row: Map<String, Value> = serde_json::from_str(line).unwrap();
        let link = row["link"].as_str().unwrap();
        let decoded = decode(link);
        assert_eq!(said(&decoded.problems), "", "{link}");
        let mut expected = defaults.clone();
        overlay(&mut expected, &row["plan"]);
        assert_eq!(fields_of(&decoded.plan, &defaults), expected, "{link}");
        if let Some(differs) = row.get("other") {
            overlay(&mut expected, differs);
        }
        assert_eq!(decoded.other.is_some(), row.contains_key("other"), "{link}");
        assert_eq!(fields_of(decoded.other.as_ref().unwrap_or(&decoded.plan), &defaults), expected, "{link}");
        let said = |key: &str| row.get(key).map(|value| value.as_str().unwrap());
        let Shown { view, lang, theme, .. } = &decoded.shown;
        assert_eq!(view.map(View::name), said("view"), "{link}");
        assert_eq!((lang.as_deref(), theme.map(Theme::name)), (said("lang"), said("theme")), "{link}");
        let Decoded { plan, other, shown, .. } = decoded;
        let again = decode(&Link { plan: plan.clone(), other: other.clone(), shown: shown.clone() }.encode());
        assert_eq!(again, Decoded { plan, other, shown, problems: Vec::new() }, "{link}");
        links += 1;
    }
    assert!(links >= 600, "lines were lost: {links} left");
}

/// Sets what `differs` says in `fields`.
fn overlay(fields: &mut Map<String, Value>, differs: &Value) {
    for (name, value) in differs.as_object().unwrap() {
        if value.is_null() {
            fields.remove(name);
        } else {
            fields.insert(name.clone(), value.clone());
        }
    }
}

/// The fields of `plan` that have a value; those that were added since the corpus was begun only where they are not at their
/// default.
fn fields_of(plan: &Plan, recorded: &Map<String, Value>) -> Map<String, Value> {
    let defaults = decode("v=1").plan;
    let is_news = |name: &str, value: &Value| {
        recorded.contains_key(name) || *value != field(name).map_or(Value::Null, |field| field.value(&defaults))
    };
    fields()
        .iter()
        .map(|field| (field.name.to_owned(), field.value(plan)))
        .filter(|(name, value)| !value.is_null() && is_news(name, value))
        .collect()
}

/// The corpus compares links with links; this holds the meaning of one against the plan itself.
#[test]
fn a_link_sets_the_fields_it_names_and_no_others() {
    let link = "v=1&model=meta-llama/Llama-3.1-8B&method=qlora&r=64&target_modules=q_proj,v_proj&bits=8&max_length=4096\
                &optim=paged_adamw_8bit&memory_gib=22.5&compute_capability=8.9&gpu_name=L4&torch=2.10.0&beta=0.1";
    let mut plan = Plan {
        model: ModelChoice::Catalogue("meta-llama/Llama-3.1-8B".to_owned()),
        method: Method::Qlora,
        max_length: 4096,
        optim: Optimizer::PagedAdamw8bit,
        gpu: GpuChoice::Custom { name: Some("L4".to_owned()), memory_gib: 22.5, compute_capability: (8, 9) },
        policy: PolicyUpdate { beta: Some(0.1), ..PolicyUpdate::default() },
        ..Plan::default()
    };
    plan.lora.r = 64;
    plan.lora.target_modules = TargetModules::Names(vec!["q_proj".to_owned(), "v_proj".to_owned()]);
    plan.quantization.bits = 8;
    plan.software.torch = Some("2.10.0".to_owned());
    let decoded = decode(link);
    assert_eq!((decoded.plan, decoded.problems), (plan, Vec::new()));
}

#[test]
fn every_field_travels_alone() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for field in fields().iter().filter(|field| !field.name.starts_with("model") && !field.name.starts_with("gpu")) {
        for _ in 0..20 {
            let value = any_value(field).new_tree(&mut runner).unwrap().current();
            let mut plan = Plan::default();
            field.set_value(&mut plan, &value).unwrap();
            let link = encode(&plan);
            assert_eq!(decode(&link).plan, plan, "{link}");
            let pairs = 2 + usize::from(plan != Plan::default());
            assert_eq!(link.matches('&').count(), pairs, "{} = {value} makes {link}", field.name);
        }
    }
}

#[test]
fn too_long_a_link_is_cut_and_said_to_be() {
    let decoded = decode(&format!("v=1&r=8&name={}", "x".repeat(MAX_LINK_BYTES)));
    assert_eq!(decoded.plan.lora.r, 8);
    assert_eq!(said(&decoded.problems), "link: longer than 65536 bytes; shorten it");
    assert!(decode(&"显".repeat(MAX_LINK_BYTES)).problems.len() == 1);
}

#[test]
fn thousands_of_wrong_pairs_are_cut_short() {
    let link: String = (0..8000).map(|i| format!("&k{i}=1")).collect();
    assert_eq!(decode(&link).problems.len(), 100);
    // Each such key would cost a search for what it was meant to be, were they not counted.
    let unknown = "&an_unknown_key_of_some_length=%20".repeat(1900);
    let before = std::time::Instant::now();
    assert_eq!(decode(&format!("v=1{unknown}")).problems.len(), 1);
    assert!(before.elapsed().as_secs() < 5, "{:?}", before.elapsed());
    let same = "&r=1".repeat(10_000);
    assert_eq!(said(&decode(&format!("v=1{same}")).problems), "lora.r: given more than once; give it once");
}

#[test]
fn the_longest_plan_fits_a_link() {
    let names: Vec<String> = (0..64).map(|i| format!("{i:0>128}")).collect();
    let name = "显".repeat(85);
    // Characters of one byte that all have to be escaped.
    let text = "{".repeat(13_900);
    let mut value = json!({
        "model": {"config": {"a": text}, "name": name},
        "gpu": {"memory_gib": 0.250_000_000_000_000_06, "name": name},
        "lora": {"target_modules": names, "modules_to_save": names}
    });
    let mut longest = Plan::from_value(&value).unwrap();
    for field in fields().iter().filter(|field| !field.name.starts_with("model") && !field.name.starts_with("gpu")) {
        let text = match field.kind {
            Kind::Integer { max, .. } | Kind::OptionalInteger { max, .. } | Kind::Bucket { max } => max.to_string(),
            Kind::Number { .. } | Kind::OptionalNumber { .. } => "0.26123456789012345".to_owned(),
            Kind::Version => "2.15.0+aaaaaaaaaaaaaaaaaaaaaaaaa".to_owned(),
            _ => continue,
        };
        field.set_text(&mut longest, &text).unwrap();
    }
    let link = encode(&longest);
    assert!(link.len() <= MAX_LINK_BYTES, "{}", link.len());
    assert_eq!(decode(&link).plan, longest);
    value["value_model"] = json!("x".repeat(200));
    let refused = Plan::from_value(&value).unwrap_err();
    assert!(matches!(refused[0].kind, ProblemKind::TooLong { .. }), "{refused:?}");
}

#[test]
fn a_fragment_is_found_wherever_it_stands() {
    let plan = decode("v=1&model=a/b&r=8").plan;
    for text in ["#v=1&model=a/b&r=8", "https://x.org/y/?embed=1#v=1&model=a/b&r=8", "  v=1&model=a/b&&r=8&\n"] {
        let decoded = decode(text);
        assert_eq!((&decoded.plan, decoded.problems.len()), (&plan, 0), "{text}");
    }
    for nothing in ["", "#", "https://x.org/y/?embed=1", "https://x.org/#"] {
        let decoded = decode(nothing);
        assert_eq!((decoded.plan, decoded.problems), (Plan::default(), Vec::new()), "{nothing}");
    }
    assert!(field("link").is_none());
}

proptest! {
    #![proptest_config(any_plan::config())]

    #[test]
    fn a_plan_comes_back_from_its_link(plan in any_plan()) {
        let link = encode(&plan);
        let safe = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:,@%&=".contains(&byte);
        prop_assert!(link.bytes().all(safe), "{}", link);
        let decoded = decode(&link);
        prop_assert_eq!(&decoded.problems, &Vec::new(), "{}", link);
        prop_assert_eq!(&decoded.plan, &plan, "{}", link);
        prop_assert_eq!(encode(&decoded.plan), link);
    }

    #[test]
    fn two_plans_come_back_from_their_link(
        plan in any_plan(), other in any_plan(), view in prop::sample::select(&View::ALL[..]), is_near in any::<bool>(),
        tab in prop::option::of(prop::sample::select(&Tab::ANSWER[..]))
    ) {
        // Mostly two plans have something in common.
        let other = if is_near {
            let mut near = plan.clone();
            for field in fields().iter().step_by(7) {
                let _ = field.set_value(&mut near, &field.value(&other));
            }
            near
        } else {
            other
        };
        let shown = Shown { view: Some(view), tab, ..Shown::default() };
        let link = Link { plan, other: Some(other), shown };
        let text = link.encode();
        let decoded = decode(&text);
        prop_assert_eq!(&decoded.problems, &Vec::new(), "{}", text);
        let Link { plan, other, shown } = link;
        prop_assert_eq!((decoded.plan, decoded.other, decoded.shown), (plan, other, shown), "{}", text);
    }

    #[test]
    fn a_damaged_link_is_read_as_far_as_it_goes(plan in any_plan(), cut in any::<prop::sample::Index>(), junk in ".{0,5}") {
        let link = encode(&plan);
        let (head, tail) = link.split_at(cut.index(link.len()));
        for damaged in [head.to_owned(), tail.to_owned(), format!("{head}{junk}{tail}")] {
            let read = decode(&damaged).plan;
            // Whatever was read is a plan that links carry.
            prop_assert_eq!(decode(&encode(&read)).plan, read);
        }
    }

    #[test]
    fn any_text_opens(text in ".*", pairs in prop::collection::vec((0..fields().len(), ".{0,20}"), 0..20)) {
        let _ = decode(&text);
        let link: String = pairs.iter().map(|(place, text)| format!("&{}={text}", fields()[*place].link)).collect();
        let read = decode(&link).plan;
        prop_assert_eq!(&decode(&encode(&read)).plan, &read);
        prop_assert_eq!(&Plan::from_value(&read.to_value()).unwrap(), &read);
    }

    #[test]
    fn models_beside_the_policy_keep_their_spelling(
        value in any_plan::any_companion(), list in prop::collection::vec(any_plan::any_companion(), 0..4)
    ) {
        let [model, critic, others] = ["model", "value_model", "reward_models"].map(|name| field(name).unwrap());
        let others = (others, Value::from(list));
        let given = as_json(&[(model, Value::from("m")), (critic, value.clone()), others.clone()]);
        let plan = Plan::from_value(&given).unwrap();
        prop_assert_eq!(critic.value(&plan), value);
        prop_assert_eq!(others.0.value(&plan), others.1);
        prop_assert_eq!(decode(&encode(&plan)).plan, plan);
    }
}

fn linked(plan: Plan, other: Option<Plan>) -> Link {
    Link { plan, other, shown: Shown::default() }
}

#[test]
fn a_link_of_two_plans_says_what_differs_in_the_second() {
    let link = "v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&r=64&label_tokens=100";
    for (differs, canonical) in [
        ("vs.method=qlora&vs.r=8", "vs.method=qlora&vs.r=8"),
        ("vs.gpu=L40S&vs.label_tokens=", "vs.gpu=l40s&vs.label_tokens="),
        ("vs.memory_gib=24", "vs.memory_gib=24&vs.compute_capability=8.0"),
        ("vs.r=64", "vs.model=Qwen/Qwen3-8B"),
        ("vs.config={}&vs.name=mine", "vs.config=%7B%7D&vs.name=mine"),
    ] {
        let decoded = decode(&format!("{link}&{differs}"));
        assert_eq!(said(&decoded.problems), "", "{differs}");
        let again = linked(decoded.plan.clone(), decoded.other.clone()).encode();
        assert_eq!(again, format!("v=1&model=Qwen/Qwen3-8B&gpu=rtx-4090&r=64&label_tokens=100&{canonical}"));
        assert_eq!(decoded.plan, decode(link).plan);
        assert_eq!(decode(&again).other, decoded.other);
    }
    let wrong = decode(&format!("{link}&vs.r=many&vs.methd=lora&vs.gpu=t4&vs.memory_gib=3&vs.r=9"));
    assert_eq!(
        said(&wrong.problems),
        "vs.methd: unknown key; did you mean vs.method? | vs.lora.r: given more than once; give it once | \
         vs.gpu: given more than once; give it once | vs.lora.r: write a whole number here"
    );
    assert_eq!(decode(link).other, None);
}

#[test]
fn a_link_may_say_how_it_opens() {
    let decoded = decode("v=1&view=map&lang=zh-Hans&theme=dark&tab=glossary&r=8&inputs=gpu, lora.r,gpu");
    let shown = Shown {
        view: Some(View::Map),
        lang: Some("zh-Hans".to_owned()),
        theme: Some(Theme::Dark),
        inputs: vec!["gpu", "lora.r"],
        tab: Some(Tab::Glossary),
    };
    assert_eq!((decoded.shown.clone(), said(&decoded.problems)), (shown, String::new()));
    let link = Link { plan: decoded.plan, other: None, shown: decoded.shown };
    assert_eq!(
        link.encode(),
        "v=1&model=Qwen/Qwen3-4B&gpu=a100-80gb&r=8&view=map&lang=zh-Hans&theme=dark&inputs=gpu,r&tab=glossary"
    );
    let wrong = decode("v=1&view=mpa&lang=<b>&theme=blue&veiw=map&inputs=metod&tab=limit");
    assert_eq!(
        said(&wrong.problems),
        "veiw: unknown key; did you mean view? | \
         view: mpa is not one of verdict, comparison, phases, map, table; did you mean map? | \
         lang: write a language tag such as en or zh-Hans here | theme: blue is not one of light, dark | inputs: metod is not one of the keys of links; did you mean method? | \
         tab: limit is not one of fix, compare, limits, memory, run, scenarios, how-it-works, accuracy, glossary; did you mean limits?"
    );
    assert_eq!(wrong.shown, Shown::default());
}

#[test]
fn what_is_too_long_to_be_read_is_compressed() {
    // As zlib makes it, by the program in LINKS.md.
    let packed = "S87PS8tMt61Wys1PSc2JL6ksSFWyUlDKyUnMTVTSUVDKyExJSc2LL86sAokbGZhYAAXz8kvAqkwNVI1MFVSNzBRy84tSQcrzSnPjoVpyEitTi4qBygzNagE";
    let decoded = decode(&format!("v=1&name=my%20model&z={packed}"));
    let ModelChoice::Config { name, config } = &decoded.plan.model else { panic!("{decoded:?}") };
    assert_eq!(
        (name.as_str(), &config["note"], said(&decoded.problems)),
        ("my model", &json!("50% & more"), String::new())
    );

    let config = json!({"model_type": "llama", "hidden_size": 2048, "layer_types": vec!["full_attention"; 80]});
    let plan = Plan::from_value(&json!({"model": {"config": config, "name": "a & b"}, "lora": {"r": 64}})).unwrap();
    let link = encode(&plan);
    assert!(link.starts_with("v=1&name=a%20%26%20b&gpu=a100-80gb&r=64&z="), "{link}");
    assert!(link.len() < 250, "{}", link.len());
    let decoded = decode(&link);
    assert_eq!((decoded.plan, decoded.problems), (plan.clone(), Vec::new()));
    let pair = linked(Plan::default(), Some(plan));
    assert_eq!(decode(&pair.encode()).other, pair.other);

    let damaged = decode(&format!("{}*", link.replace("&r=64", "&r=8")));
    assert_eq!(damaged.plan.lora.r, 8);
    assert_eq!(damaged.problems[0].field, "z");
}

/// The table of `LINKS.md`: every key with its values and its default.
fn table_of_keys() -> String {
    let mut table = "| key | field | values | default |\n| --- | --- | --- | --- |\n".to_owned();
    let defaults = decode("v=1").plan;
    for field in fields() {
        let default = match field.text(&defaults) {
            text if text.is_empty() => String::new(),
            text => format!("`{text}`"),
        };
        let unit = field.unit.map_or_else(String::new, |unit| format!(", {}", unit.name()));
        table.push_str(&format!(
            "| `{}` | `{}` | {}{unit} | {default} |\n",
            field.link,
            field.name,
            values(field.kind)
        ));
    }
    table
}

fn values(kind: Kind) -> String {
    let choices = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match kind {
        Kind::Integer { min, max } | Kind::OptionalInteger { min, max } => format!("{min} to {max}"),
        Kind::Number { min, max } | Kind::OptionalNumber { min, max } => format!("{min} to {max}"),
        Kind::Bucket { max } => format!("`default`, `auto`, 0 to {max}"),
        Kind::Flag | Kind::OptionalFlag => choices(&["true", "false"]),
        Kind::AutoFlag => choices(&["auto", "true", "false"]),
        Kind::Choice(names) | Kind::OptionalChoice(names) => choices(names),
        Kind::Version => "a version".to_owned(),
        Kind::Text => "text".to_owned(),
        Kind::ModelId => "a model".to_owned(),
        Kind::GpuId => "a GPU".to_owned(),
        Kind::ComputeCapability => "`8.9`".to_owned(),
        Kind::Names => "names".to_owned(),
        Kind::TargetModules => "`all-linear`, names".to_owned(),
        Kind::Json => "a `config.json`".to_owned(),
        Kind::Companion => "a model, or JSON".to_owned(),
        Kind::Companions => "JSON".to_owned(),
    }
}

#[test]
fn every_key_is_specified() {
    let specified = include_str!("../../../LINKS.md");
    let table = table_of_keys();
    assert!(specified.ends_with(&table), "LINKS.md should end with:\n{table}");
}
