//! Mixtures of experts, as transformers 5 stores them: each layer's routed experts stacked in two bare tensors.

use crate::model::config::{Config, ConfigError, EXPERTS, EXPERTS_OR_NONE, INNER_WIDTH, LAYER_INDEX};
use crate::model::{Experts, ExpertsForm, FeedForward, Mlp, Module, Role};

use super::blocks::{linear, tensors};
use super::deepseek::MixtureDefaults;
use super::figures::Figures;

/// One mixture, with the names its class gives the parts.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mixture {
    pub(super) experts: Experts,
    /// `mlp.gate`, `block_sparse_moe.router`.
    pub(super) router: &'static str,
    /// `mlp.experts`.
    pub(super) routed: &'static str,
    /// `mlp.shared_expert` or `mlp.shared_experts`.
    pub(super) shared: &'static str,
    /// Whether the class registers the router before the experts.
    pub(super) router_first: bool,
    /// Whether the router corrects its choice by a parameter that is never trained (ERNIE's `moe_statics`).
    pub(super) router_statics: bool,
}

impl Mixture {
    /// A mixture named as most classes name it, without shared experts.
    pub(super) fn routed(num_experts: u64, num_experts_per_tok: u64, expert: Mlp) -> Self {
        Self {
            experts: Experts {
                num_experts,
                num_experts_per_tok,
                expert,
                shared: None,
                shared_gate: false,
                form: ExpertsForm::SoftmaxFirst,
            },
            router: "mlp.gate",
            routed: "mlp.experts",
            shared: "mlp.shared_experts",
            router_first: false,
            router_statics: false,
        }
    }

    /// The facts.
    pub(super) fn feed_forward(&self) -> FeedForward {
        FeedForward::Experts(self.experts.clone())
    }

    /// The modules, for a residual stream of width `hidden`.
    pub(super) fn modules(&self, hidden: u64) -> Vec<Module> {
        let Experts { num_experts: e, expert, shared, shared_gate, .. } = &self.experts;
        let (e, inner) = (*e, expert.intermediate_size);
        let router = tensors(self.router, Role::Router, &[("weight", &[e, hidden])]);
        let routed = tensors(
            self.routed,
            Role::RoutedExperts,
            &[("gate_up_proj", &[e, 2 * inner, hidden]), ("down_proj", &[e, hidden, inner])],
        );
        let mut modules = if self.router_first { vec![router, routed] } else { vec![routed, router] };
        if self.router_statics {
            let shapes: &[(&str, &[u64])] = &[("e_score_correction_bias", &[1, e])];
            let at = if self.router_first { 1 } else { modules.len() };
            modules.insert(at, tensors(format!("{}.moe_statics", self.router), Role::RouterStatics, shapes));
        }
        if let Some(shared) = shared {
            let (prefix, inner) = (self.shared, shared.intermediate_size);
            modules.extend([
                linear(format!("{prefix}.gate_proj"), Role::SharedGateProjection, hidden, inner, false),
                linear(format!("{prefix}.up_proj"), Role::SharedUp, hidden, inner, false),
                linear(format!("{prefix}.down_proj"), Role::SharedDown, inner, hidden, false),
            ]);
        }
        if *shared_gate {
            modules.push(linear(format!("{}_gate", self.shared), Role::SharedExpertGate, hidden, 1, false));
        }
        modules
    }
}

/// What configs call the experts that a token visits: Gemma 4 `top_k_experts`, ERNIE `moe_k`.
const PER_TOKEN: &[&str] = &["num_experts_per_tok", "num_experts_per_token", "moe_topk", "top_k_experts", "moe_k"];

/// `num_experts_per_tok`, which cannot exceed the experts there are.
pub(super) fn experts_per_tok(config: &Config<'_>, default: u64, num_experts: u64) -> Result<u64, Box<ConfigError>> {
    let per_tok = config.count(PER_TOKEN, default, EXPERTS)?;
    if per_tok > num_experts {
        let why = format!("{per_tok} experts a token, but a layer has {num_experts}; choose at most that many");
        return Err(ConfigError::new("num_experts_per_tok", why));
    }
    Ok(per_tok)
}

/// The mixture of a DeepSeek-like config, and the layers that have it.
pub(super) struct SparseLayers {
    mixture: Option<Mixture>,
    sparse: Vec<bool>,
}

impl SparseLayers {
    /// The mixture at layer `index`, if it has one.
    pub(super) fn at(&self, index: u64) -> Option<&Mixture> {
        self.mixture.as_ref().filter(|_| self.sparse.get(index as usize) == Some(&true))
    }

    /// As a Llama-shaped class takes it.
    pub(super) fn into_parts(self) -> Option<(Mixture, Vec<bool>)> {
        self.mixture.map(|mixture| (mixture, self.sparse))
    }
}

/// Reads a mixture in DeepSeek's words: routed and shared experts, the first layers dense.
pub(super) fn deepseek_mixture(
    config: &Config<'_>,
    f: &Figures,
    defaults: &MixtureDefaults,
) -> Result<SparseLayers, Box<ConfigError>> {
    const EXPERT_COUNT: &[&str] = &["n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts"];
    let Some(num_experts) = config.optional_count(EXPERT_COUNT, Some(defaults.experts), EXPERTS)? else {
        return Ok(SparseLayers { mixture: None, sparse: Vec::new() });
    };
    if defaults.per_tok.is_none() {
        config.required_count(PER_TOKEN, EXPERTS)?;
    }
    let per_tok = experts_per_tok(config, defaults.per_tok.unwrap_or(1), num_experts)?;
    let inner = config.count(&["moe_intermediate_size"], defaults.inner, INNER_WIDTH)?;
    let shared = config.optional_count(&["n_shared_experts"], Some(defaults.shared), EXPERTS_OR_NONE)?.unwrap_or(0);
    let mut mixture = Mixture::routed(num_experts, per_tok, Mlp::gated(inner, f.activation));
    // The shared experts are built as one MLP, so many times as wide.
    mixture.experts.shared = (shared > 0).then(|| Mlp::gated(shared * inner, f.activation));
    let dense = config.count(&["first_k_dense_replace"], defaults.dense, LAYER_INDEX)?;
    // transformers ignores `moe_layer_freq`, which is 1 in every published model; DeepSeek's own class skips by it.
    let step = config.count(&["moe_layer_freq"], 1, LAYER_INDEX)?.max(1);
    let sparse = (0..f.num_hidden_layers).map(|index| index >= dense && index.is_multiple_of(step)).collect();
    Ok(SparseLayers { mixture: Some(mixture), sparse })
}
