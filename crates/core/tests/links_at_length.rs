//! Links in numbers that a suite has no time for: `cargo xtask check-links`. The suite runs a hundredth of each.
#![allow(clippy::unwrap_used, clippy::panic)]

mod any_plan;

use std::time::{Duration, Instant};

use any_plan::{any_plan, any_settings, as_json};
use headroom_core::link::{Link, Shown, decode, encode};
use headroom_core::plan::{Kind, Plan};
use headroom_core::{gpu, model};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngSeed, TestRunner};
use serde_json::{Value, json};

const CORPUS: &str = include_str!("../../../tests/links/v1.txt");

/// Slower than this on any machine, however busy, a link hangs the page.
const LONGEST: Duration = Duration::from_secs(5);

/// A hundredth of `all`, unless `HEADROOM_ALL_LINKS` asks for all.
fn some_of(all: usize) -> usize {
    if std::env::var_os("HEADROOM_ALL_LINKS").is_some() { all } else { all / 100 }
}

fn runner() -> TestRunner {
    let seed = RngSeed::Fixed(20_261_123);
    TestRunner::new(ProptestConfig { rng_seed: seed, ..any_plan::config() })
}

#[test]
fn random_plans_come_back() {
    let mut runner = runner();
    let (strategy, plans) = (any_plan(), some_of(100_000));
    let mut other = Plan::default();
    for _ in 0..plans {
        let plan = strategy.new_tree(&mut runner).unwrap().current();
        let link = encode(&plan);
        let decoded = decode(&link);
        assert_eq!((&decoded.plan, decoded.problems), (&plan, Vec::new()), "{link}");
        assert_eq!(encode(&decoded.plan), link);
        let pair = Link { plan, other: Some(other), shown: Shown::default() };
        let link = pair.encode();
        let decoded = decode(&link);
        assert_eq!((&decoded.plan, &decoded.other, decoded.problems), (&pair.plan, &pair.other, Vec::new()), "{link}");
        other = pair.plan;
    }
    println!("{plans} random plans, and as many pairs of them, come back from their links");
}

/// Any plan with a model and a GPU of the catalogue, its lists no longer than anyone's.
fn any_catalogue_plan() -> impl Strategy<Value = Plan> {
    let models: Vec<&str> = model::catalogue().iter().map(|model| model.id).collect();
    let gpus: Vec<String> = gpu::catalogue().iter().map(|gpu| gpu.id.to_string()).collect();
    (any_settings(), prop::sample::select(models), prop::sample::select(gpus)).prop_map(|(settings, model, gpu)| {
        let is_kept = |name: &str, kind| {
            !name.starts_with("model")
                && !name.starts_with("gpu")
                && !matches!(kind, Kind::Companion | Kind::Companions)
        };
        let mut settings: Vec<_> = settings.into_iter().filter(|(field, _)| is_kept(field.name, field.kind)).collect();
        for (name, value) in [("model", Value::from(model)), ("gpu", Value::from(gpu))] {
            settings.push((headroom_core::plan::field(name).unwrap(), value));
        }
        Plan::from_value(&as_json(&settings)).unwrap()
    })
}

#[test]
fn plans_of_the_catalogue_have_short_links() {
    let mut runner = runner();
    let (strategy, plans) = (any_catalogue_plan(), some_of(20_000));
    let mut longest = 0;
    for _ in 0..plans {
        let link = encode(&strategy.new_tree(&mut runner).unwrap().current());
        longest = longest.max(link.len());
        assert!(link.len() <= 2000, "{}: {link}", link.len());
    }
    println!("{plans} random plans of the catalogue: the longest link has {longest} characters (bar 2000)");
}

#[test]
fn pasted_models_have_short_links() {
    let mut longest = 0;
    let configs = model::catalogue().iter().map(|model| serde_json::from_str::<Value>(model.config).unwrap());
    for config in configs.chain([large_config()]) {
        let plan = json!({"model": {"config": config, "name": "A model of our own, second try"}, "method": "qlora",
            "gpu": "rtx-4090", "per_device_train_batch_size": 4, "max_length": 4096, "gradient_checkpointing": true});
        let link = encode(&Plan::from_value(&plan).unwrap());
        longest = longest.max(link.len());
        assert!(link.len() <= 4000, "{}: {link}", link.len());
    }
    println!("pasted models: the longest link has {longest} characters (bar 4000)");
}

/// About as much as a `config.json` says: lists by layer, rotary factors, labels, what quantised it.
fn large_config() -> Value {
    let factors: Vec<f64> = (0..48u32).map(|at| 1.0 + f64::from(at * at) * 0.0237).collect();
    let kinds: Vec<&str> = (0..80).map(|at| if at % 6 == 5 { "full_attention" } else { "sliding_attention" }).collect();
    let labels: serde_json::Map<String, Value> =
        (0..40).map(|at| (at.to_string(), Value::from(format!("LABEL_{at}")))).collect();
    json!({
        "architectures": ["OwnForCausalLM"], "model_type": "own", "auto_map": {"AutoConfig": "configuration_own.OwnConfig",
        "AutoModelForCausalLM": "modeling_own.OwnForCausalLM"}, "attention_bias": false, "attention_dropout": 0.0,
        "bos_token_id": 1, "eos_token_id": [2, 32000, 32007], "hidden_act": "silu", "hidden_size": 3072,
        "initializer_range": 0.02, "intermediate_size": 8192, "layer_types": kinds, "id2label": labels,
        "max_position_embeddings": 131_072, "num_attention_heads": 32, "num_hidden_layers": 80, "num_key_value_heads": 8,
        "original_max_position_embeddings": 4096, "rms_norm_eps": 1e-05, "rope_theta": 10_000.0, "vocab_size": 32_064,
        "rope_scaling": {"long_factor": factors, "short_factor": factors, "type": "longrope"},
        "quantization_config": {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8",
        "weight_block_size": [128, 128], "modules_to_not_convert": ["lm_head", "model.embed_tokens"]},
        "torch_dtype": "bfloat16", "transformers_version": "4.57.1", "use_cache": true
    })
}

/// What people and programs put where it does not belong.
const HOSTILE: &[&str] = &[
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "javascript:alert(1)",
    "\" onload=\"alert(1)",
    "&amp;",
    "%3Cb%3E",
    "%00",
    "%",
    "%C3%28",
    "%F0%9F%92%A9",
    "\u{202e}",
    "\u{0}",
    "\n",
    "显存",
    "&",
    "=",
    "#",
    "+",
    " ",
    "&v=2",
    "&z=",
    "z=AAAA",
    "vs.",
    "&vs.vs.r=1",
    "{",
    "[[[[[[[[",
    "}",
    "\"",
    "1e999",
    "-0",
    "NaN",
    "9007199254740993",
    "..",
    "null",
    "true",
    "&config=",
    "&reward_models=[",
    "&value_model=%7B",
    "&memory_gib=1e308",
    "&model=",
    "a:b@c",
    ",,,,",
];

#[test]
fn mutated_links_do_no_harm() {
    let mut runner = runner();
    let links = some_of(1_000_000);
    let strategy = any_plan();
    let mut seeds: Vec<String> = CORPUS.lines().filter_map(|line| line.split('\t').next()).map(str::to_owned).collect();
    for _ in 0..200 {
        let [plan, other] = [0, 1].map(|_| strategy.new_tree(&mut runner).unwrap().current());
        seeds.push(encode(&plan));
        seeds.push(Link { plan, other: Some(other), shown: Shown::default() }.encode());
    }
    let mut draw = Draw(0x5eed_2026_1123);
    let mut slowest = Duration::ZERO;
    for _ in 0..links {
        let link = draw.mutated(&seeds);
        let before = Instant::now();
        let decoded = decode(&link);
        let again = encode(&decoded.plan);
        slowest = slowest.max(before.elapsed());
        assert!(slowest < LONGEST, "{slowest:?}: {link}");
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~/:,@%&=".contains(&byte);
        assert!(again.bytes().all(is_plain), "{link}: {again}");
        assert_eq!(decode(&again).plan, decoded.plan, "{link}");
    }
    println!("{links} mutated links: no panic, no markup, the slowest read and written in {slowest:?}");
}

/// A generator of numbers (SplitMix64), and what it makes of links.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end.max(1) as u64).unwrap()
    }

    fn of<'a>(&mut self, all: &'a [String]) -> &'a str {
        &all[self.below(all.len())]
    }

    fn mutated(&mut self, seeds: &[String]) -> String {
        let mut bytes = self.of(seeds).as_bytes().to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            match self.below(7) {
                0 if at < bytes.len() => bytes[at] = (self.next() % 256) as u8,
                1 => bytes.truncate(at),
                2 => drop(bytes.drain(..at)),
                3 => {
                    let other = self.of(seeds).as_bytes();
                    let (from, to) = (self.below(other.len()), self.below(other.len()));
                    bytes.splice(at..at, other[from.min(to)..from.max(to)].iter().copied());
                }
                4 => {
                    let end = (at + self.below(30)).min(bytes.len());
                    let again = bytes[at..end].repeat(1 + self.below(20));
                    bytes.splice(at..at, again);
                }
                _ => {
                    let hostile = HOSTILE[self.below(HOSTILE.len())];
                    bytes.splice(at..at, hostile.bytes());
                }
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}
