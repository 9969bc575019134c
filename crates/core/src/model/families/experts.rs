//! Mixtures of experts, as transformers 5 stores them: each layer's routed experts stacked in two bare tensors.

use crate::model::config::{Config, ConfigError, EXPERTS};
use crate::model::{Experts, ExpertsForm, FeedForward, Mlp, Module, Role};

use super::blocks::{linear, tensors};

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
pub(super) const PER_TOKEN: &[&str] = &["num_experts_per_tok", "num_experts_per_token", "moe_topk", "top_k_experts", "moe_k"];

/// `num_experts_per_tok`, which cannot exceed the experts there are.
pub(super) fn experts_per_tok(config: &Config<'_>, default: u64, num_experts: u64) -> Result<u64, Box<ConfigError>> {
    let per_tok = config.count(PER_TOKEN, default, EXPERTS)?;
    if per_tok > num_experts {
        let why = format!("{per_tok} experts a token, but a layer has {num_experts}; choose at most that many");
        return Err(ConfigError::new("num_experts_per_tok", why));
    }
    Ok(per_tok)
}
