//! Links: old ones open for ever, and nothing a link holds can do harm.
#![allow(clippy::unwrap_used)]

mod any_plan;

use any_plan::{any_plan, any_value, as_json};
use headroom_core::link::{MAX_LINK_BYTES, decode, encode};
use headroom_core::plan::{
    GpuChoice, Kind, Method, ModelChoice, Optimizer, Plan, PolicyUpdate, Problem, ProblemKind, TargetModules, field,
    fields,
};
use headroom_text::problem_line;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Links of version 1: the literal link, what it means in canonical form, and the fields it reports problems of. Only ever add lines.
const CORPUS: &str = include_str!("../../../tests/links/v1.txt");

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
