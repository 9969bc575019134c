//! Every tensor of every family: name and shape as transformers 5.23 builds them.
//!
//! `models/tensors.jsonl` was written by `models/list_parameters.py` on the meta device.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use headroom_core::model::{Model, Module, ModuleKind};
use serde_json::Value;

/// The tensors of a module: suffix and shape.
fn tensors(module: &Module) -> Vec<(String, Vec<u64>)> {
    let name = |suffix: &str| match module.name.as_str() {
        "" => suffix.to_owned(),
        name => format!("{name}.{suffix}"),
    };
    match &module.kind {
        ModuleKind::Linear { tied: true, .. } => Vec::new(),
        ModuleKind::Linear { d_in, d_out, bias, conv1d, .. } => {
            let weight = if *conv1d { vec![*d_in, *d_out] } else { vec![*d_out, *d_in] };
            let bias = bias.then(|| (name("bias"), vec![*d_out]));
            [(name("weight"), weight)].into_iter().chain(bias).collect()
        }
        ModuleKind::Embedding { rows, width } => vec![(name("weight"), vec![*rows, *width])],
        ModuleKind::Norm { width, weight, bias } => {
            let weight = weight.then(|| (name("weight"), vec![*width]));
            let bias = bias.then(|| (name("bias"), vec![*width]));
            weight.into_iter().chain(bias).collect()
        }
        ModuleKind::Tensors { shapes } => shapes.iter().map(|(suffix, shape)| (name(suffix), shape.clone())).collect(),
    }
}

/// Every tensor of the model under its name in the checkpoint, without the prefix before the layers.
fn all_tensors(model: &Model) -> BTreeMap<String, Vec<u64>> {
    // Of classes with a head of several layers the head's names stand beside the model's.
    let plain = |name: String| {
        let prefixes = ["bert.", "roberta.", "distilbert."];
        prefixes.iter().find_map(|prefix| name.strip_prefix(prefix)).map(str::to_owned).unwrap_or(name)
    };
    let outside = model.embeddings.iter().chain(&model.final_modules).chain(&model.head).flat_map(tensors);
    let mut all: BTreeMap<_, _> = outside.map(|(name, shape)| (plain(name), shape)).collect();
    let layers = model.layers.iter().flat_map(|run| (0..run.count).map(|_| &run.layer));
    for (index, layer) in layers.enumerate() {
        for (name, shape) in layer.modules.iter().flat_map(tensors) {
            let previous = all.insert(format!("layers.{index}.{name}"), shape);
            assert_eq!(previous, None, "layers.{index}.{name} listed twice");
        }
    }
    all
}

fn expected(tensors: &Value) -> BTreeMap<String, Vec<u64>> {
    let entries = tensors.as_object().unwrap().iter();
    entries.map(|(name, shape)| (name.clone(), serde_json::from_value(shape.clone()).unwrap())).collect()
}

#[test]
fn every_tensor_has_the_name_and_shape_that_the_class_gives_it() {
    let mut cases = 0;
    for line in include_str!("models/tensors.jsonl").lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let config = &case["config"];
        let model = Model::from_config("test", config);
        let model = model.unwrap_or_else(|error| panic!("{config}: {error}"));
        let (actual, expected) = (all_tensors(&model), expected(&case["tensors"]));
        for (name, shape) in &expected {
            assert_eq!(actual.get(name), Some(shape), "{config}: {name}");
        }
        for name in actual.keys() {
            assert!(expected.contains_key(name), "{config}: {name} does not exist");
        }
        // The table counts the text part alone.
        let idle: u64 = model.idle.iter().map(|module| module.kind.param_count()).sum();
        assert_eq!(model.param_count() - idle, case["param_count"].as_u64().unwrap(), "{config}");
        cases += 1;
    }
    assert!(cases > 60);
}
