//! What is known of a recorded block as the rest of Headroom asks for it: modules with their roles, heads, experts. Memory
//! goes by the operators; these serve names, adapters' targets, times and generation.

use super::config::Figures;
use super::sound::{HEADS, KEY_VALUE_HEADS};
use super::{Action, BatchSizes, Code, Owner, Recorded, SLIDING_MASK};
use crate::model::config::ConfigError;
use crate::model::{Attention, Experts, ExpertsForm, FeedForward, Latent, Mlp, ModelPart, Module, ModuleKind, Role};

/// Keys that say how many experts a token visits.
const VISITED: &[&str] =
    &["num_experts_per_tok", "num_experts_per_token", "moe_k", "moe_topk", "top_k_experts", "top_k"];

/// Sizes that are the same for every batch.
pub(super) struct Facts<'a> {
    recorded: &'a Recorded,
    dims: Vec<u64>,
    /// Width of the residual stream.
    pub(super) hidden: Option<u64>,
    visited: u64,
    /// Tokens that a windowed layer looks back.
    window: Option<u64>,
    /// Heads and those of keys and values, where no layer has attention as one operator, which would say it.
    heads: Option<(u64, u64)>,
    /// Width of a head, where the config says it.
    head_dim: Option<u64>,
    /// Scores go through tanh, for which the class refuses PyTorch's kernels.
    softcaps: bool,
}

impl<'a> Facts<'a> {
    pub(super) fn new(recorded: &'a Recorded, figures: &Figures<'_>) -> Result<Self, Box<ConfigError>> {
        let dims = recorded.dimensions(BatchSizes::ONE).into_iter().map(|(_, size)| size).collect();
        let mut visited = None;
        for key in VISITED {
            visited = visited.or(figures.optional(key)?);
        }
        let hidden = figures.optional("hidden_size")?.or(figures.optional("n_embd")?).or(figures.optional("d_model")?);
        let hidden = hidden.filter(|hidden| *hidden >= 1.0).map(|hidden| hidden as u64);
        let window = figures.optional("sliding_window")?.filter(|window| *window >= 1.0).map(|window| window as u64);
        let heads = if recorded.program.attends() { None } else { heads(figures) };
        let head_dim = figures.optional("head_dim")?.filter(|width| *width >= 1.0).map(|width| width as u64);
        let softcaps = !recorded.program.supports_sdpa && figures.says("attn_logit_softcapping");
        let visited = visited.unwrap_or(1.0).max(1.0) as u64;
        Ok(Self { recorded, dims, hidden, visited, window, heads, head_dim, softcaps })
    }

    fn dim(&self, dim: usize) -> u64 {
        self.dims.get(dim).copied().unwrap_or(0)
    }

    pub(super) fn shape(&self, shape: usize) -> Vec<u64> {
        let dims = self.recorded.shapes().get(shape);
        dims.into_iter().flatten().map(|dim| self.dim(*dim)).collect()
    }
}

/// Heads, and heads of keys and values, as the class reads them.
fn heads(figures: &Figures<'_>) -> Option<(u64, u64)> {
    let read = |keys| figures.read_among(keys).map(|(_, count)| count as u64).filter(|count| *count >= 1);
    let all = read(HEADS)?;
    Some((all, read(KEY_VALUE_HEADS).unwrap_or(all)))
}

/// Modules with their exact shapes, without buffers; `layers`: of those of a layer the list that it is in and the list's part, as against
/// those that stand by themselves.
pub(super) fn modules(facts: &Facts<'_>, owners: &[Owner], layers: Option<(&str, ModelPart)>) -> Vec<Module> {
    let program = &facts.recorded.program;
    let of = |owner: &Owner, module: Module| {
        let beside = Some(program.part_of(&owner.name)).filter(|part| *part != ModelPart::LanguageModel);
        let part = beside.or(layers.map(|(_, part)| part)).unwrap_or_default();
        // What joins a tower to the text stands in a layer by its own name.
        let path = layers.filter(|_| beside.is_none() && !program.stands_alone(&owner.name));
        // The whole model may have parameters under no module (LLaVA-NeXT's `image_newline`).
        let own = if owner.name.is_empty() { owner.parameters.first().map(|own| &own.name) } else { Some(&owner.name) };
        let path = path.map(|(list, _)| list).or(own.map(String::as_str)).unwrap_or_default().to_owned();
        Module { part, path, ..module }
    };
    owners.iter().filter_map(|owner| Some(of(owner, module(facts, owner)?))).collect()
}

/// A module's parameters by what they are; `None` where it has buffers alone.
fn module(facts: &Facts<'_>, owner: &Owner) -> Option<Module> {
    let own = owner.parameters.iter().filter(|one| !one.is_buffer && facts.recorded.has(one));
    let shapes: Vec<(String, Vec<u64>)> =
        own.map(|parameter| (parameter.name.clone(), facts.shape(parameter.shape))).collect();
    let first = shapes.first()?;
    let bias = shapes.get(1).is_some_and(|(name, _)| name == "bias");
    let tied = owner.parameters.iter().any(|parameter| parameter.of.is_some());
    let kind = match (owner.class.as_str(), first.1.as_slice(), shapes.len()) {
        ("Linear", [d_out, d_in], _) => ModuleKind::Linear { d_in: *d_in, d_out: *d_out, bias, conv1d: false, tied },
        ("Conv1D", [d_in, d_out], _) => ModuleKind::Linear { d_in: *d_in, d_out: *d_out, bias, conv1d: true, tied },
        (class, [rows, width], 1) if class.contains("Embedding") => {
            ModuleKind::Embedding { rows: *rows, width: *width }
        }
        (class, [width], count) if class.contains("Norm") && count == 1 + usize::from(bias) && is_plain(owner) => {
            ModuleKind::Norm { width: *width, weight: true, bias }
        }
        _ => ModuleKind::Tensors { shapes },
    };
    let role = role(owner, &kind);
    Some(Module { name: owner.name.clone(), role, kind, part: ModelPart::default(), path: String::new() })
}

/// Whether every parameter is in the model's dtype.
fn is_plain(owner: &Owner) -> bool {
    owner.parameters.iter().all(|parameter| parameter.is_buffer || parameter.held == super::Held::Model)
}

/// What a module does, by its name and class.
fn role(owner: &Owner, kind: &ModuleKind) -> Role {
    let last = owner.name.rsplit('.').next().unwrap_or_default();
    let is_shared = owner.name.contains("shared");
    match kind {
        ModuleKind::Linear { .. } => match (last, is_shared) {
            ("gate_proj", true) => Role::SharedGateProjection,
            ("up_proj", true) => Role::SharedUp,
            ("down_proj", true) => Role::SharedDown,
            ("shared_expert_gate", _) => Role::SharedExpertGate,
            ("q_proj" | "q_b_proj" | "query" | "q_lin", _) => Role::Query,
            ("q_a_proj", _) => Role::QueryDown,
            ("k_proj" | "key" | "k_lin", _) => Role::Key,
            ("v_proj" | "value" | "v_lin", _) => Role::Value,
            ("kv_a_proj_with_mqa", _) => Role::KeyValueDown,
            ("kv_b_proj", _) => Role::KeyValueUp,
            ("qkv_proj" | "query_key_value" | "c_attn" | "qkv", _) => Role::QueryKeyValue,
            ("o_proj" | "out_proj" | "out_lin", _) => Role::Output,
            // GPT-2 and BERT say by the part around it what a module of the same name does.
            ("c_proj" | "dense", _) if owner.name.contains("attn") || owner.name.contains("attention") => Role::Output,
            ("dense", _) if owner.name.contains("intermediate") => Role::Up,
            ("gate_proj" | "w1", _) => Role::Gate,
            ("up_proj" | "w3" | "fc1" | "c_fc" | "fc_in" | "dense_h_to_4h" | "lin1", _) => Role::Up,
            ("gate_up_proj", _) => Role::GateUp,
            ("down_proj" | "w2" | "fc2" | "fc_out" | "dense_4h_to_h" | "lin2" | "c_proj", _) => Role::Down,
            ("dense", _) if owner.name.contains("output") => Role::Down,
            ("router" | "gate", _) => Role::Router,
            _ => Role::Other,
        },
        ModuleKind::Norm { .. } => match last {
            "input_layernorm" => Role::InputNorm,
            "q_norm" | "q_layernorm" | "query_layernorm" => Role::QueryNorm,
            "k_norm" | "k_layernorm" | "key_layernorm" => Role::KeyNorm,
            "post_attention_layernorm" => Role::FeedForwardNorm,
            _ => Role::Other,
        },
        ModuleKind::Tensors { shapes } => match shapes.first() {
            Some((_, shape)) if shape.len() == 3 && owner.region == super::Region::Experts => Role::RoutedExperts,
            Some((_, shape)) if shape.len() == 2 && owner.region == super::Region::Router => Role::Router,
            _ => Role::Other,
        },
        ModuleKind::Embedding { .. } => Role::Other,
    }
}

/// Attention as the block's operator has it, or as the config says it where the class runs it in operators of its own; of none else.
pub(super) fn attention(facts: &Facts<'_>, code: &Code, modules: &[Module]) -> Attention {
    let attend = code.all().into_iter().find_map(|op| match &op.action {
        Action::Attention(attend) => Some(&**attend),
        _ => None,
    });
    let attends = modules.iter().any(|module| module.name.contains("attn") || module.name.contains("attention"));
    let (heads, kv_heads) = facts.heads.filter(|_| attends).unwrap_or_default();
    let own_width = facts.head_dim.unwrap_or_else(|| facts.hidden.unwrap_or(0).checked_div(heads).unwrap_or(0));
    let size = |of: fn(&super::Attend) -> usize, own: u64| attend.map_or(own, |attend| facts.dim(of(attend)));
    let head_dim = size(|attend| attend.width, own_width);
    let own_window = attend.and_then(|attend| attend.window).map(|window| facts.dim(window));
    // Where attention is in the block's own operators, the mask that it takes says whether it has a window.
    let masks_window = code.takes.iter().any(|name| name == SLIDING_MASK);
    Attention {
        num_attention_heads: size(|attend| attend.heads, heads),
        num_key_value_heads: size(|attend| attend.kv_heads, kv_heads),
        head_dim,
        value_head_dim: size(|attend| attend.value_width, own_width),
        latent: latent(modules),
        sliding_window: own_window.filter(|size| *size > 0).or(facts.window.filter(|_| masks_window)),
        logit_softcapping: facts.softcaps,
        dropout: 0.0,
    }
}

/// Latent attention as its modules have it: one compresses keys and values together with the rotated part of the keys, the other
/// expands them (transformers 5.23 modeling_deepseek_v3.py `DeepseekV3Attention`).
fn latent(modules: &[Module]) -> Option<Latent> {
    let sizes = |role| match modules.iter().find(|module| module.role == role)?.kind {
        ModuleKind::Linear { d_in, d_out, .. } => Some((d_in, d_out)),
        _ => None,
    };
    let ((_, compressed), (kv_lora_rank, _)) = (sizes(Role::KeyValueDown)?, sizes(Role::KeyValueUp)?);
    Some(Latent { kv_lora_rank, qk_rope_head_dim: compressed.saturating_sub(kv_lora_rank) })
}

/// The feed-forward part as its modules have it.
pub(super) fn feed_forward(facts: &Facts<'_>, code: &Code, modules: &[Module]) -> FeedForward {
    let find = |role| modules.iter().find(|module| module.role == role);
    let width = |role| match find(role).map(|module| &module.kind) {
        Some(ModuleKind::Linear { d_out, .. }) => Some(*d_out),
        _ => None,
    };
    let activation = code.activation();
    if let Some(ModuleKind::Tensors { shapes }) = find(Role::RoutedExperts).map(|module| &module.kind)
        && let Some((name, sizes)) = shapes.first()
        && let [num_experts, rows, columns] = *sizes.as_slice()
    {
        let both = if facts.hidden == Some(rows) { columns } else { rows };
        // gpt-oss's experts lie the other way round, and come with what goes with it.
        let lies_across = facts.hidden == Some(rows) && facts.hidden != Some(columns);
        let form = if lies_across { ExpertsForm::ChoiceFirst } else { ExpertsForm::SoftmaxFirst };
        let intermediate_size = if name.contains("gate") { both / 2 } else { both };
        return FeedForward::Experts(Experts {
            num_experts,
            num_experts_per_tok: facts.visited.min(num_experts.max(1)),
            expert: Mlp { intermediate_size, activation },
            form,
        });
    }
    let fused = width(Role::GateUp).map(|both| both / 2);
    FeedForward::Dense(Mlp { intermediate_size: fused.or(width(Role::Up)).unwrap_or(0), activation })
}
