//! Arbitrary plans, generated from the table of fields.
#![allow(dead_code, reason = "each test file is a crate of its own and takes what it needs")]

use headroom_core::plan::{Field, InstanceRole, Kind, Offload, Plan, fields};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Without a file of past failures: those become tests of their own.
pub(crate) fn config() -> ProptestConfig {
    ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() }
}

/// Any JSON, a few levels deep.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(|number| json!(number)),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

/// Any model beside the policy, spelled in any of the ways that JSON has.
pub(crate) fn any_companion() -> impl Strategy<Value = Value> {
    fn object(parts: impl IntoIterator<Item = (&'static str, Option<Value>)>) -> Value {
        Value::Object(parts.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect())
    }
    let id = ".{1,24}".prop_map(Value::from);
    // Few, so that what a plan keeps stays below what links carry.
    let config = prop::collection::btree_map(".{0,8}", any_json(), 0..2)
        .prop_map(|entries| Value::Object(entries.into_iter().collect()));
    let described = (prop::option::of(id.clone()), prop::option::of(config))
        .prop_filter("one of both", |(name, config)| name.is_some() || config.is_some())
        .prop_map(|(name, config)| object([("name", name), ("config", config)]));
    let model = prop_oneof![id, described];
    let parts = (
        prop::option::of(model.clone()),
        prop::option::of(any_of(InstanceRole::NAMES)),
        prop::option::of(prop_oneof![Just(json!(4)), Just(json!(8))]),
        prop::option::of(any::<bool>().prop_map(Value::from)),
        prop::option::of(any_of(Offload::NAMES)),
    );
    let parts = parts.prop_map(|(model, role, bits, shared, placement)| {
        object([("model", model), ("role", role), ("bits", bits), ("shared", shared), ("placement", placement)])
    });
    prop_oneof![model, parts]
}

fn any_number(min: f64, max: f64) -> BoxedStrategy<Value> {
    prop_oneof![
        Just(min),
        Just(max),
        min..=max,
        (min..=max).prop_map(f64::floor).prop_filter("in range", move |n| *n >= min)
    ]
    .prop_map(|number| json!(number))
    .boxed()
}

fn any_integer(min: u64, max: u64) -> BoxedStrategy<Value> {
    prop_oneof![Just(min), Just(max), min..=max, min..=max.min(min.saturating_add(9))].prop_map(Value::from).boxed()
}

fn any_of(names: &'static [&'static str]) -> BoxedStrategy<Value> {
    prop::sample::select(names).prop_map(Value::from).boxed()
}

fn any_names(fewest: usize) -> impl Strategy<Value = Value> {
    prop::collection::vec("[A-Za-z_][A-Za-z0-9_.-]{0,20}", fewest..5).prop_map(Value::from)
}

/// Any value that `field` takes.
pub(crate) fn any_value(field: &Field) -> BoxedStrategy<Value> {
    match field.kind {
        Kind::Integer { min, max } | Kind::OptionalInteger { min, max } => any_integer(min, max),
        Kind::Number { min, max } | Kind::OptionalNumber { min, max } => any_number(min, max),
        Kind::Bucket { max } => prop_oneof![any_integer(0, max), any_of(&["default", "auto"])].boxed(),
        Kind::Flag | Kind::OptionalFlag => any::<bool>().prop_map(Value::from).boxed(),
        Kind::AutoFlag => prop_oneof![any::<bool>().prop_map(Value::from), Just(json!("auto"))].boxed(),
        Kind::Choice(names) | Kind::OptionalChoice(names) => any_of(names),
        Kind::Version => "[0-9]{1,2}\\.[0-9]{1,2}(\\.[0-9]{1,2})?(\\+cu[0-9]{3})?".prop_map(Value::from).boxed(),
        Kind::Text | Kind::ModelId | Kind::GpuId => {
            ".{1,24}".prop_filter("not blank", |text| !text.trim().is_empty()).prop_map(Value::from).boxed()
        }
        Kind::ComputeCapability => (1u8..=99, 0u8..=9).prop_map(|(a, b)| json!(format!("{a}.{b}"))).boxed(),
        Kind::Names => any_names(0).boxed(),
        Kind::TargetModules => prop_oneof![Just(json!("all-linear")), any_names(1)].boxed(),
        Kind::Json if field.name == "model.config" => prop::collection::btree_map(".{0,8}", any_json(), 0..4)
            .prop_map(|entries| Value::Object(entries.into_iter().collect()))
            .boxed(),
        Kind::Json => any_json().boxed(),
        Kind::Companion => any_companion().boxed(),
        Kind::Companions => prop::collection::vec(any_companion(), 0..4).prop_map(Value::from).boxed(),
    }
}

/// Any plan that can be read from JSON, as the fields set in it.
pub(crate) fn any_settings() -> impl Strategy<Value = Vec<(&'static Field, Value)>> {
    let described = (any::<bool>(), any::<bool>());
    let settings: Vec<_> = fields().iter().map(|field| prop::option::weighted(0.4, any_value(field))).collect();
    (described, settings).prop_map(|((own_model, own_gpu), values)| {
        let part = |section: &str, name: &str| name.starts_with(section) && name.len() > section.len();
        let kept = |field: &&Field| match field.name {
            "model" => !own_model,
            "gpu" => !own_gpu,
            name if part("model.", name) => own_model,
            name if part("gpu.", name) => own_gpu,
            _ => true,
        };
        let fill = |field: &'static Field, value: Option<Value>| match (field.name, value) {
            (_, Some(value)) => Some((field, value)),
            ("model", None) => Some((field, json!("Qwen/Qwen3-4B"))),
            ("model.config", None) => Some((field, json!({"model_type": "llama"}))),
            ("gpu.memory_gib", None) => Some((field, json!(24))),
            _ => None,
        };
        fields()
            .iter()
            .zip(values)
            .filter(|(field, _)| kept(field))
            .filter_map(|(field, value)| fill(field, value))
            .collect()
    })
}

/// `settings` as the JSON of a plan.
pub(crate) fn as_json(settings: &[(&'static Field, Value)]) -> Value {
    fn put(object: &mut Map<String, Value>, name: &str, value: &Value) {
        match name.split_once('.') {
            None => {
                object.insert(name.to_owned(), value.clone());
            }
            Some((section, rest)) => {
                let inner = object.entry(section).or_insert_with(|| json!({})).as_object_mut().unwrap();
                put(inner, rest, value);
            }
        }
    }
    let mut root = Map::new();
    for (field, value) in settings {
        put(&mut root, field.name, value);
    }
    Value::Object(root)
}

/// Any plan that can be read from JSON.
pub(crate) fn any_plan() -> impl Strategy<Value = Plan> {
    any_settings().prop_map(|settings| Plan::from_value(&as_json(&settings)).unwrap())
}
