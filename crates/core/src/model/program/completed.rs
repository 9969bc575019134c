//! Keys that a class makes of others when it reads a config (`__post_init__` in each class's configuration file of transformers
//! 5.23). A `config.json` that was saved by an older version, or written by the model's maker, does not have them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::{Condition, Program};
use crate::model::config::TEXT_PARTS;

/// The part of a config that is its tower's.
const TOWER: &str = "vision_config";

/// The config with the keys that the class of `program` adds; those of its text part and of its tower too.
pub(super) fn completed<'a>(program: &Program, fields: &'a Map<String, Json>) -> Cow<'a, Map<String, Json>> {
    let mut made = completed_as(&program.model_type, (&program.aliases, &program.defaults), fields);
    // A program that was recorded from a config without a key is for configs without.
    let is_none = |condition: &&Condition| condition.is.as_ref().and_then(Json::as_u64) == Some(0);
    for condition in program.when.iter().filter(is_none) {
        if !says(fields, &condition.key) && made.contains_key(&condition.key) {
            made.to_mut().remove(&condition.key);
        }
    }
    made
}

/// The same for a class, with other names of its keys and what it takes keys to be.
fn completed_as<'a>(
    model_type: &str,
    class: (&BTreeMap<String, String>, &Map<String, Json>),
    fields: &'a Map<String, Json>,
) -> Cow<'a, Map<String, Json>> {
    let (aliases, defaults) = class;
    let mut made = Cow::Borrowed(fields);
    for (alias, key) in aliases {
        if !says(fields, key)
            && let Some(value) = fields.get(alias)
        {
            made.to_mut().insert(key.clone(), value.clone());
        }
    }
    for rule in RULES.iter().filter(|rule| rule.classes.contains(&model_type)) {
        if (rule.overrides || !says(&made, rule.key))
            && let Some(value) = (rule.make)(&Keys { said: &made, defaults })
        {
            made.to_mut().insert(rule.key.to_owned(), value);
        }
    }
    if let Some(vision) = fields.get(TOWER).and_then(Json::as_object)
        && let Some(of_tower) = vision.get("model_type").and_then(Json::as_str)
    {
        let own = |(key, value): (&String, &Json)| {
            Some((key.strip_prefix(TOWER)?.strip_prefix('.')?.to_owned(), value.clone()))
        };
        let defaults = defaults.iter().filter_map(own).collect();
        if let Cow::Owned(vision) = completed_as(of_tower, (&BTreeMap::new(), &defaults), vision) {
            made.to_mut().insert(TOWER.to_owned(), Json::Object(vision));
        }
    }
    for key in TEXT_PARTS {
        let Some(text) = fields.get(*key).and_then(Json::as_object) else { continue };
        let Some(of_text) = text.get("model_type").and_then(Json::as_str) else { continue };
        if let Cow::Owned(text) = completed_as(of_text, class, text) {
            made.to_mut().insert((*key).to_owned(), Json::Object(text));
        }
    }
    made
}

/// Whether a config says something of `key`; null is nothing.
fn says(fields: &Map<String, Json>, key: &str) -> bool {
    fields.get(key).is_some_and(|value| !value.is_null())
}

/// How a key comes about.
struct Rule {
    classes: &'static [&'static str],
    key: &'static str,
    /// Its value; `None` where the class leaves it to its default, or the config lacks what it is made of.
    make: fn(&Keys<'_>) -> Option<Json>,
    /// Whether it is made even where the config says it.
    overrides: bool,
}

/// A key that is made where the config does not say it.
const fn rule(classes: &'static [&'static str], key: &'static str, make: fn(&Keys<'_>) -> Option<Json>) -> Rule {
    Rule { classes, key, make, overrides: false }
}

/// A key that has an earlier name, which goes first.
const fn renamed(classes: &'static [&'static str], key: &'static str, make: fn(&Keys<'_>) -> Option<Json>) -> Rule {
    Rule { classes, key, make, overrides: true }
}

/// More layers than any model has: a list of them is not worth its memory.
const MOST_LAYERS: u64 = 8_192;

/// What a rule may read.
struct Keys<'a> {
    said: &'a Map<String, Json>,
    /// What the class takes a key to be where the config does not say it.
    defaults: &'a Map<String, Json>,
}

impl Keys<'_> {
    /// A number that the config says, or that its class takes it to be.
    fn number(&self, key: &str) -> Option<u64> {
        let said = self.said.get(key).filter(|value| !value.is_null());
        said.or_else(|| self.defaults.get(key))?.as_u64()
    }

    /// Half of what the config says, where it lists attention and MLP of a layer one by one.
    fn half_of_blocks(&self, key: &str) -> Option<Json> {
        let blocks = self.said.get("layer_types")?.as_array()?;
        let is_listed = blocks.iter().any(|block| block == "mlp");
        Some((self.said.get(key).filter(|_| is_listed)?.as_u64()? / 2).into())
    }

    fn layers(&self) -> Option<u64> {
        self.number("num_hidden_layers").filter(|layers| *layers <= MOST_LAYERS)
    }

    /// A list with an entry for each layer, counted from 0; `name` is also told how many layers there are.
    fn each<T: Into<Json>>(&self, name: impl Fn(u64, u64) -> T) -> Option<Json> {
        let layers = self.layers()?;
        Some(Json::Array((0..layers).map(|layer| name(layer, layers).into()).collect()))
    }

    /// Whether a Qwen config limits attention to a window at all.
    fn slides(&self) -> bool {
        let said = |key: &str| self.said.get(key);
        said("use_sliding_window").and_then(Json::as_bool) == Some(true)
            && said("sliding_window").is_none_or(|window| !window.is_null())
    }

    /// Full attention in every `nth` layer, counted from 1; of 0 in none.
    fn full_every(&self, nth: u64) -> Option<Json> {
        self.each(|layer, _| if (layer + 1).is_multiple_of(nth) { FULL } else { SLIDING })
    }

    /// Which `nth` of the layers has full attention: a number, or a letter for each layer of a period (EXAONE 4's "LLLG").
    fn period(&self, default: u64) -> u64 {
        let letters =
            self.said.get("sliding_window_pattern").and_then(Json::as_str).map(|letters| letters.len() as u64);
        letters.or_else(|| self.number("sliding_window_pattern")).unwrap_or(default).max(1)
    }

    /// A dense feed-forward in the first `dense` layers, mixtures behind them.
    fn dense_first(&self, dense: u64) -> Option<Json> {
        self.each(|layer, _| if layer < dense { "dense" } else { "sparse" })
    }

    /// Four times the first of `widths` that the config says, or what the class takes it to be.
    fn four_times(&self, widths: &[&str], default: u64) -> Option<Json> {
        let width = widths.iter().find_map(|key| self.number(key)).unwrap_or(default);
        Some(width.checked_mul(4)?.into())
    }

    /// The value of another key, taken over.
    fn other(&self, key: &str) -> Option<Json> {
        self.said.get(key).filter(|value| !value.is_null()).cloned()
    }

    /// Whether a list of numbers has `layer`.
    fn lists(&self, key: &str, layer: u64) -> Option<bool> {
        Some(self.said.get(key)?.as_array()?.iter().any(|other| other.as_u64() == Some(layer)))
    }
}

const FULL: &str = "full_attention";
const SLIDING: &str = "sliding_attention";
const LINEAR: &str = "linear_attention";

/// Rules in the order in which the classes go: a later one may read what an earlier one made.
static RULES: &[Rule] = &[
    rule(&["gpt_oss", "gemma2"], "layer_types", |keys| keys.full_every(2)),
    // Windows are off unless `use_sliding_window`, whatever a file says of their length.
    rule(&["qwen2", "qwen3"], "layer_types", |keys| {
        let first = if keys.slides() { keys.number("max_window_layers").unwrap_or(28) } else { u64::MAX };
        keys.each(|layer, _| if layer < first { FULL } else { SLIDING })
    }),
    rule(&["qwen2", "qwen3", "qwen3_moe"], "sliding_window", |keys| keys.slides().then(|| 4_096.into())),
    renamed(&["qwen3_moe"], "sliding_window", |keys| (!keys.slides()).then_some(Json::Null)),
    rule(&["gemma3_text"], "layer_types", |keys| keys.full_every(keys.period(6))),
    rule(&["olmo3"], "layer_types", |keys| keys.full_every(4)),
    rule(&["cohere2"], "layer_types", |keys| keys.full_every(keys.period(4))),
    // Without a window no layer slides.
    rule(&["exaone4", "exaone_moe"], "layer_types", |keys| {
        let slides = keys.said.get("sliding_window").is_none_or(|window| !window.is_null());
        if slides { keys.full_every(keys.period(4)) } else { keys.each(|_, _| FULL) }
    }),
    // 1 where positions are rotated.
    rule(&["smollm3"], "no_rope_layers", |keys| {
        let nth = keys.number("no_rope_layer_interval").unwrap_or(4).max(1);
        keys.each(|layer, _| u64::from(!(layer + 1).is_multiple_of(nth)))
    }),
    renamed(&["bloom", "falcon"], "hidden_size", |keys| keys.other("n_embed")),
    // Two norms are what the class makes of none where the architecture is the newer one (modeling_falcon.py
    // `FalconDecoderLayer.__init__`).
    renamed(&["falcon"], "num_ln_in_parallel_attn", |keys| {
        let is_newer = keys.said.get("new_decoder_architecture").and_then(Json::as_bool) == Some(true);
        (is_newer && keys.number("num_ln_in_parallel_attn") == Some(2)).then(|| Json::from(0))
    }),
    // Embeddings as wide as the layers are projected by nothing (modeling_opt.py `OPTDecoder.__init__`).
    renamed(&["opt"], "word_embed_proj_dim", |keys| {
        (keys.number("word_embed_proj_dim") == keys.number("hidden_size")).then(|| Json::from(0))
    }),
    rule(&["bamba"], "attn_layer_indices", |_| Some(Json::Array(Vec::new()))),
    rule(&["flint"], "layer_types", |keys| {
        keys.each(|layer, layers| if layer < 2 || layer % 4 == 1 || layer + 1 == layers { FULL } else { SLIDING })
    }),
    rule(&["flint"], "mlp_only_layers", |_| Some(vec![0, 1].into())),
    rule(&["gemma2", "vaultgemma"], "layer_types", |keys| {
        keys.each(|layer, _| if layer % 2 == 0 { SLIDING } else { FULL })
    }),
    rule(&["gemma3n_text"], "layer_types", |keys| keys.full_every(5)),
    rule(&["gemma3n_text"], "activation_sparsity_pattern", |keys| {
        keys.each(|layer, layers| if layers > 10 && layer < 10 { 0.95 } else { 0.0 })
    }),
    // The last layer's attention is full whatever the pattern says.
    rule(&["gemma4_text", "gemma4_unified_text"], "layer_types", |keys| {
        keys.each(|layer, layers| if (layer + 1) % 6 == 0 || layer + 1 == layers { FULL } else { SLIDING })
    }),
    // Of layers with full attention.
    rule(&["gemma4_text", "gemma4_unified_text"], "global_head_dim", |_| Some(512.into())),
    rule(&["gemma4_text", "gemma4_unified_text"], "num_global_key_value_heads", |keys| {
        Some(keys.other("num_key_value_heads").unwrap_or_else(|| 4.into()))
    }),
    rule(&["glm4_moe_lite", "laguna", "mimo_v2_flash"], "mlp_layer_types", |keys| keys.dense_first(1)),
    // Which layers choose tokens themselves and which read what one before them chose: a pattern of letters goes before the schedule.
    rule(&["glm_moe_dsa"], "indexer_types", |keys| {
        const NAMES: [(char, &str); 2] = [('F', "full"), ('S', "shared")];
        match keys.said.get("index_topk_pattern") {
            Some(Json::String(pattern)) => {
                let name = |letter| NAMES.iter().find(|(other, _)| *other == letter).map(|(_, name)| *name);
                Some(pattern.chars().map(name).collect::<Option<Vec<_>>>()?.into())
            }
            Some(Json::Array(listed)) => Some(Json::Array(listed.clone())),
            _ => {
                let every = keys.number("index_topk_freq").unwrap_or(1).max(1);
                let offset = keys.number("index_skip_topk_offset").unwrap_or(2);
                keys.each(
                    |layer, _| if (layer + 1).saturating_sub(offset).is_multiple_of(every) { "full" } else { "shared" },
                )
            }
        }
    }),
    // Checkpoints say how many tokens a layer compresses into one, of further layers too (deepseek_v4/configuration_deepseek_v4.py
    // `__post_init__`).
    rule(&["deepseek_v4"], "layer_types", |keys| {
        let ratios = keys.said.get("compress_ratios").and_then(Json::as_array);
        keys.each(|layer, _| {
            let ratio = ratios.and_then(|ratios| ratios.get(usize::try_from(layer).ok()?)?.as_u64());
            match ratio.unwrap_or(if layer > 2 && layer % 2 == 1 { 4 } else { 128 }) {
                0 => SLIDING,
                4 => "compressed_sparse_attention",
                _ => "heavily_compressed_attention",
            }
        })
    }),
    rule(&["deepseek_v4"], "mlp_layer_types", |keys| {
        let hashed = keys.number("num_hash_layers").unwrap_or(3);
        keys.each(|layer, _| if layer < hashed { "hash_moe" } else { "moe" })
    }),
    // The class puts the width of the rotated part in its place, whatever a file says.
    renamed(&["deepseek_v2", "deepseek_v3"], "head_dim", |keys| keys.other("qk_rope_head_dim")),
    // Four times as wide as what it reads (`config.n_inner if config.n_inner is not None else 4 * hidden_size` and its kin).
    rule(&["gpt2", "gpt_bigcode"], "n_inner", |keys| keys.four_times(&["n_embd", "hidden_size"], 768)),
    rule(&["gptj", "codegen"], "n_inner", |keys| keys.four_times(&["n_embd", "hidden_size"], 4_096)),
    rule(&["gpt_neo"], "intermediate_size", |keys| keys.four_times(&["hidden_size"], 2_048)),
    rule(&["granite_swa", "granitemoe_swa", "cwm"], "layer_types", |keys| {
        keys.each(|layer, _| if layer % 4 == 0 { FULL } else { SLIDING })
    }),
    rule(&["granitemoehybrid"], "layer_types", |keys| keys.each(|_, _| "mamba")),
    rule(&["inkling_text"], "layer_types", |keys| {
        let is_local = |layer| keys.lists("local_layer_ids", layer).unwrap_or((layer + 1) % 6 != 0);
        keys.each(|layer, _| if is_local(layer) { "hybrid_sliding" } else { "hybrid" })
    }),
    rule(&["inkling_text"], "mlp_layer_types", |keys| keys.dense_first(keys.number("dense_mlp_idx").unwrap_or(0))),
    rule(&["kimi_linear"], "layer_types", |keys| {
        // What the checkpoint's own section says goes first.
        let has_own = keys.said.get("linear_attn_config").is_some_and(Json::is_object);
        let every_fourth = keys.each(|layer, _| if layer > 0 && layer % 4 == 0 { FULL } else { LINEAR });
        every_fourth.filter(|_| !has_own)
    }),
    rule(&["kimi_linear"], "mlp_layer_types", |keys| {
        keys.dense_first(keys.number("first_k_dense_replace").unwrap_or(1))
    }),
    rule(&["kolibri1"], "layer_types", |keys| keys.full_every(5)),
    rule(&["laguna"], "layer_types", |keys| keys.each(|_, _| FULL)),
    rule(&["laguna"], "num_attention_heads_per_layer", |keys| {
        let heads = keys.number("num_attention_heads")?;
        keys.each(|_, _| heads)
    }),
    rule(&["lfm2"], "layer_types", |keys| {
        keys.each(|layer, _| if keys.lists("full_attn_idxs", layer).unwrap_or(true) { FULL } else { "conv" })
    }),
    renamed(&["lfm2"], "tie_word_embeddings", |keys| keys.other("tie_embedding")),
    renamed(&["lfm2"], "intermediate_size", |keys| keys.other("block_ff_dim")),
    rule(&["lfm3"], "layer_types", |keys| {
        keys.each(|layer, _| match layer % 4 {
            2 => FULL,
            0 if layer > 0 => SLIDING,
            _ => "conv",
        })
    }),
    rule(&["llama4_text"], "no_rope_layers", |keys| {
        let nth = keys.number("no_rope_layer_interval").unwrap_or(4).max(1);
        keys.each(|layer, _| u64::from((layer + 1) % nth != 0))
    }),
    rule(&["llama4_text"], "moe_layers", |keys| {
        let step = keys.number("interleave_moe_layer_step").unwrap_or(1).max(1);
        let mixtures: Vec<u64> = (step - 1..keys.layers()?).step_by(usize::try_from(step).ok()?).collect();
        Some(mixtures.into())
    }),
    rule(&["llama4_text"], "layer_types", |keys| {
        let rotates = |layer: u64| keys.said.get("no_rope_layers")?.get(usize::try_from(layer).ok()?)?.as_u64();
        keys.each(|layer, _| if rotates(layer) == Some(0) { FULL } else { "chunked_attention" })
    }),
    rule(&["mimo_v2_flash"], "layer_types", |keys| {
        keys.each(|layer, _| if layer == 0 || (layer + 1) % 6 == 0 { FULL } else { SLIDING })
    }),
    rule(&["minimax"], "layer_types", |keys| keys.each(|layer, _| if layer % 2 == 0 { FULL } else { LINEAR })),
    // Every fourth has full attention, counted from the last in the text, from the first in the tower, whose last has, too.
    rule(&["muse_glimmer_text"], "layer_types", |keys| {
        keys.each(|layer, layers| if (layers - 1 - layer) % 4 == 0 { FULL } else { SLIDING })
    }),
    rule(&["muse_glimmer_vision"], "merge_size", |_| Some(2.into())),
    rule(&["muse_glimmer_vision"], "layer_types", |keys| {
        keys.each(|layer, layers| if layer % 4 == 3 || layer + 1 == layers { FULL } else { "window_attention" })
    }),
    // Files list attention and MLP as blocks of their own: two of them are one layer (transformers 5.24 dory/configuration_dory.py).
    renamed(&["dory"], "num_hidden_layers", |keys| keys.half_of_blocks("num_hidden_layers")),
    renamed(&["dory"], "n_input_layers", |keys| keys.half_of_blocks("n_input_layers")),
    renamed(&["dory"], "n_output_layers", |keys| keys.half_of_blocks("n_output_layers")),
    renamed(&["dory"], "layer_types", |keys| {
        keys.half_of_blocks("num_hidden_layers")?;
        Some(Json::Array(keys.said.get("layer_types")?.as_array()?.iter().step_by(2).cloned().collect()))
    }),
    rule(&["dory"], "layer_types", |keys| keys.full_every(4)),
    rule(&["qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"], "layer_types", |keys| {
        let nth = keys.number("full_attention_interval").unwrap_or(4).max(1);
        keys.each(|layer, _| if (layer + 1).is_multiple_of(nth) { FULL } else { LINEAR })
    }),
    rule(&["olmo_hybrid"], "layer_types", |keys| {
        // One attends at least (configuration_olmo_hybrid.py).
        keys.each(
            |layer, count| {
                if (layer + 1).is_multiple_of(4) || count < 4 && layer + 1 == count { FULL } else { LINEAR }
            },
        )
    }),
    rule(&["modernbert", "modernbert-decoder"], "layer_types", |keys| {
        let nth = keys.number("global_attn_every_n_layers").unwrap_or(3).max(1);
        keys.each(|layer, _| if layer % nth == 0 { FULL } else { SLIDING })
    }),
    // One layer in five attends to images (mllama/configuration_mllama.py).
    rule(&["mllama_text_model"], "cross_attention_layers", |_| Some(vec![3, 8, 13, 18, 23, 28, 33, 38].into())),
    rule(&["nemotron_h"], "layers_block_type", |keys| {
        let pattern = keys.said.get("hybrid_override_pattern")?.as_str()?;
        let kinds = pattern.chars().map(|letter| match letter {
            'M' => Some(LINEAR),
            'E' => Some("moe"),
            '*' => Some(FULL),
            '-' => Some("mlp"),
            _ => None,
        });
        let kinds = kinds.collect::<Option<Vec<_>>>()?;
        Some(kinds.into())
    }),
    // The list alone says how many there are.
    rule(&["nemotron_h"], "num_hidden_layers", |keys| {
        Some(keys.said.get("layers_block_type").or_else(|| keys.said.get("layer_types"))?.as_array()?.len().into())
    }),
    renamed(&["nemotron_h"], "n_groups", |keys| keys.other("mamba_n_groups")),
    renamed(&["nemotron_h"], "conv_kernel", |keys| keys.other("mamba_d_conv")),
    renamed(&["nemotron_h"], "expand", |keys| keys.other("mamba_expand")),
    renamed(&["nemotron_h"], "use_conv_bias", |keys| keys.other("mamba_conv_bias")),
    renamed(&["nemotron_h"], "chunk_size", |keys| keys.other("mamba_chunk_size")),
    // `getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads` in each of their attentions.
    rule(
        &[
            "falcon_h1",
            "glm4_moe",
            "glm4v_moe_text",
            "hunyuan_v1_dense",
            "hunyuan_v1_moe",
            "llama4_text",
            "mixtral",
            "qwen3_moe",
            "qwen3_omni_moe_text",
            "qwen3_vl_moe_text",
        ],
        "head_dim",
        |keys| keys.number("hidden_size")?.checked_div(keys.number("num_attention_heads")?).map(Json::from),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn made<'a>(model_type: &str, fields: &'a Map<String, Json>) -> Cow<'a, Map<String, Json>> {
        completed_as(model_type, (&BTreeMap::new(), &Map::new()), fields)
    }

    #[track_caller]
    fn assert_made(model_type: &str, config: &Json, key: &str, expected: &Json) {
        let fields = config.as_object().cloned().unwrap_or_default();
        assert_eq!(made(model_type, &fields).get(key), Some(expected), "{config}");
    }

    #[test]
    fn what_the_config_says_stays() {
        let config = json!({"num_hidden_layers": 2, "layer_types": ["conv", "conv"], "full_attn_idxs": [1]});
        assert_made("lfm2", &config, "layer_types", &json!(["conv", "conv"]));
        let other = json!({"num_hidden_layers": 2});
        let fields = other.as_object().cloned().unwrap_or_default();
        assert!(matches!(made("llama", &fields), Cow::Borrowed(_)));
    }

    #[test]
    fn layers_are_named_as_the_class_names_them() {
        let types = json!(["conv", "full_attention"]);
        assert_made("lfm2", &json!({"num_hidden_layers": 2, "full_attn_idxs": [1]}), "layer_types", &types);
        let config = json!({"num_hidden_layers": 5, "interleave_moe_layer_step": 2, "no_rope_layers": null});
        assert_made("llama4_text", &config, "moe_layers", &json!([1, 3]));
        assert_made("llama4_text", &config, "no_rope_layers", &json!([1, 1, 1, 0, 1]));
        let interval = json!({"num_hidden_layers": 3, "full_attention_interval": 2});
        assert_made("qwen3_next", &interval, "layer_types", &json!([LINEAR, FULL, LINEAR]));
        let pattern = json!({"hybrid_override_pattern": "M-*E"});
        let blocks = json!(["linear_attention", "mlp", "full_attention", "moe"]);
        assert_made("nemotron_h", &pattern, "layers_block_type", &blocks);
        assert_made("nemotron_h", &pattern, "num_hidden_layers", &json!(4));
        let wrong = json!({"hybrid_override_pattern": "MX"}).as_object().cloned().unwrap_or_default();
        assert_eq!(made("nemotron_h", &wrong).get("layers_block_type"), None);
    }

    #[test]
    fn indices_are_shared_as_a_schedule_or_a_pattern_says() {
        let schedule = json!({"num_hidden_layers": 8, "index_topk_freq": 4, "index_skip_topk_offset": 3});
        let types = json!(["full", "full", "full", "shared", "shared", "shared", "full", "shared"]);
        assert_made("glm_moe_dsa", &schedule, "indexer_types", &types);
        assert_made("glm_moe_dsa", &json!({"num_hidden_layers": 2}), "indexer_types", &json!(["full", "full"]));
        assert_made("glm_moe_dsa", &json!({"index_topk_pattern": "FS"}), "indexer_types", &json!(["full", "shared"]));
    }

    #[test]
    fn a_text_part_is_completed_by_its_own_class() {
        let text = json!({"model_type": "llama4_text", "num_hidden_layers": 2});
        let config = json!({"model_type": "llama4", "text_config": text}).as_object().cloned().unwrap_or_default();
        let made = made("llama4", &config);
        assert_eq!(made.get("text_config").and_then(|text| text.get("moe_layers")), Some(&json!([0, 1])));
    }

    #[test]
    fn a_tower_is_completed_by_its_own_class_with_its_own_defaults() {
        let of = |said: Json, defaults: Json| {
            let config =
                json!({"model_type": "muse_glimmer", "vision_config": said}).as_object().cloned().unwrap_or_default();
            let defaults = defaults.as_object().cloned().unwrap_or_default();
            let made = completed_as("muse_glimmer", (&BTreeMap::new(), &defaults), &config);
            made.get("vision_config").and_then(|tower| tower.get("layer_types")).cloned()
        };
        let (window, full) = ("window_attention", FULL);
        let tower = json!({"model_type": "muse_glimmer_vision", "num_hidden_layers": 6});
        assert_eq!(of(tower, json!({})), Some(json!([window, window, window, full, window, full])));
        // Not the text's number.
        let tower = json!({"model_type": "muse_glimmer_vision"});
        assert_eq!(of(tower.clone(), json!({"num_hidden_layers": 52})), None);
        assert_eq!(of(tower, json!({"vision_config.num_hidden_layers": 1})), Some(json!([full])));
        let config =
            json!({"vision_config": {"model_type": "muse_glimmer_vision"}}).as_object().cloned().unwrap_or_default();
        let made = made("muse_glimmer", &config);
        assert_eq!(made.get("vision_config").and_then(|tower| tower.get("merge_size")), Some(&json!(2)));
    }
}
