//! DeepSeek-V2 and -V3 (and Kimi-K2, which is V3's class): latent attention, shared and routed experts.

use crate::model::behaviour::Behaviour;
use crate::model::config::{Config, ConfigError, HEAD_WIDTH};
use crate::model::{Attention, FeedForward, Mlp, Model, Module, Projection, Role};

use super::blocks::{gated_mlp, layer_runs, linear, norm, pre_norm_layer, rotary_attention, two_norms};
use super::experts::deepseek_mixture;
use super::figures::{Defaults, Figures, LLAMA, Parts};

/// `deepseek_v2`.
pub(super) fn deepseek_v2(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults { vocab_size: 102_400, ..LLAMA };
    decoder(config, &defaults, &MixtureDefaults { experts: 64, inner: 1_407, shared: 2, per_tok: None, dense: 0 })
}

/// `deepseek_v3`.
pub(super) fn deepseek_v3(config: &Config<'_>) -> Result<Model, Box<ConfigError>> {
    let defaults = Defaults {
        vocab_size: 129_280,
        hidden_size: 7_168,
        intermediate_size: Some(18_432),
        num_hidden_layers: 61,
        num_attention_heads: 128,
        num_key_value_heads: Some(128),
        max_position_embeddings: Some(4_096),
        ..LLAMA
    };
    let mixture = MixtureDefaults { experts: 256, inner: 2_048, shared: 1, per_tok: Some(8), dense: 3 };
    decoder(config, &defaults, &mixture)
}

/// Class defaults of a mixture in DeepSeek's words.
pub(super) struct MixtureDefaults {
    pub(super) experts: u64,
    pub(super) inner: u64,
    pub(super) shared: u64,
    /// `None`: the class has no default.
    pub(super) per_tok: Option<u64>,
    /// Layers at the start that are dense.
    pub(super) dense: u64,
}

/// Ranks and head widths of latent attention.
struct Latent {
    q_lora_rank: Option<u64>,
    kv_lora_rank: u64,
    nope: u64,
    rope: u64,
    value: u64,
    bias: bool,
}

impl Latent {
    fn read(config: &Config<'_>) -> Result<Self, Box<ConfigError>> {
        Ok(Self {
            q_lora_rank: config.optional_count(&["q_lora_rank"], Some(1_536), HEAD_WIDTH)?,
            kv_lora_rank: config.count(&["kv_lora_rank"], 512, HEAD_WIDTH)?,
            nope: config.count(&["qk_nope_head_dim"], 128, HEAD_WIDTH)?,
            rope: config.count(&["qk_rope_head_dim"], 64, HEAD_WIDTH)?,
            value: config.count(&["v_head_dim"], 128, HEAD_WIDTH)?,
            bias: config.flag(&["attention_bias"], false)?,
        })
    }

    fn modules(&self, h: u64, heads: u64) -> Vec<Module> {
        let query = heads * (self.nope + self.rope);
        let mut modules = match self.q_lora_rank {
            None => vec![linear("self_attn.q_proj", Role::Query, h, query, false)],
            Some(rank) => vec![
                linear("self_attn.q_a_proj", Role::QueryDown, h, rank, self.bias),
                norm("self_attn.q_a_layernorm", Role::QueryDownNorm, rank),
                linear("self_attn.q_b_proj", Role::Query, rank, query, false),
            ],
        };
        let compressed = self.kv_lora_rank + self.rope;
        let expanded = heads * (self.nope + self.value);
        modules.extend([
            linear("self_attn.kv_a_proj_with_mqa", Role::KeyValueDown, h, compressed, self.bias),
            norm("self_attn.kv_a_layernorm", Role::KeyValueDownNorm, self.kv_lora_rank),
            linear("self_attn.kv_b_proj", Role::KeyValueUp, self.kv_lora_rank, expanded, false),
            linear("self_attn.o_proj", Role::Output, heads * self.value, h, self.bias),
        ]);
        modules
    }

    fn attention(&self, f: &Figures) -> Attention {
        Attention {
            // Keys and values are expanded to every head before attention.
            num_key_value_heads: f.num_attention_heads,
            head_dim: self.nope + self.rope,
            value_head_dim: self.value,
            projection: Projection::Latent {
                q_lora_rank: self.q_lora_rank,
                kv_lora_rank: self.kv_lora_rank,
                qk_rope_head_dim: self.rope,
            },
            rotary_dim: self.rope,
            ..rotary_attention(f)
        }
    }
}

fn decoder(config: &Config<'_>, defaults: &Defaults, mixture: &MixtureDefaults) -> Result<Model, Box<ConfigError>> {
    let latent = Latent::read(config)?;
    // Hidden size over heads means nothing here: heads are as wide as the latent figures say.
    let defaults = Defaults { head_dim: Some(latent.nope + latent.rope), ..*defaults };
    let f = Figures::read(config, &defaults)?;
    let h = f.hidden_size;
    let mlp_bias = config.flag(&["mlp_bias"], false)?;
    let mixture = deepseek_mixture(config, &f, mixture)?;
    let layers = layer_runs(
        f.num_hidden_layers,
        |index| mixture.at(index),
        |mixture| {
            let mut modules = latent.modules(h, f.num_attention_heads);
            let feed_forward = match mixture {
                Some(mixture) => {
                    modules.extend(mixture.modules(h));
                    mixture.feed_forward()
                }
                None => {
                    modules.extend(gated_mlp("mlp", h, f.intermediate_size, mlp_bias));
                    FeedForward::Dense(Mlp::gated(f.intermediate_size, f.activation))
                }
            };
            modules.extend(two_norms(h));
            pre_norm_layer(modules, latent.attention(&f), feed_forward)
        },
    );
    let parts = Parts { layers, final_modules: vec![norm("norm", Role::FinalNorm, h)], ..Parts::default() };
    Ok(f.model_with(Behaviour::wide_router(), parts))
}
