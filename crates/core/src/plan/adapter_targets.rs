//! Which modules and which bare parameters get adapters, as peft resolves the names of a plan for a model.
//!
//! Since transformers 5 the experts of a layer are stacked in bare parameters and the router is one, so peft 0.19 and later
//! turn the names that earlier checkpoints gave their linear layers into `target_parameters`
//! (peft/utils/transformers_weight_conversion.py `_convert_peft_config_moe`).

use super::{
    Method, Plan, Problem, ProblemKind, Release, TargetModules, Task, TrainerName, attention_module_names, names_module,
};
use crate::model::{EarlierExperts, ExpertNames, Model, Module, ModuleKind, Role};

/// Earlier name of a linear layer, and the parameter that it is part of now.
type Conversion = &'static [(&'static str, &'static str)];

/// Mixtral's names (`_MOE_TARGET_MODULE_MAPPING`).
const MIXTRAL: Conversion = &[("gate", ROUTER), ("w1", "gate_up_proj"), ("w3", "gate_up_proj"), ("w2", "down_proj")];

/// Everyone else's.
const QWEN2_MOE: Conversion =
    &[("gate", ROUTER), ("gate_proj", "gate_up_proj"), ("up_proj", "gate_up_proj"), ("down_proj", "down_proj")];

/// The parameter that holds two earlier layers side by side, so that its rank is theirs together (`_MOE_FUSED_TARGETS`).
const FUSED: &str = "gate_up_proj";

/// The weight of a router.
const ROUTER: &str = "gate.weight";

/// What peft converts for a model.
fn conversion(model: &Model) -> Option<Conversion> {
    model.expert_names.map(|names| match names {
        ExpertNames::Mixtral => MIXTRAL,
        ExpertNames::Qwen2Moe => QWEN2_MOE,
    })
}

/// What gets an adapter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct AdapterTargets {
    /// Every linear layer inside the layers whose last name is not among the converted ones.
    all_linear: bool,
    /// Names of linear modules.
    modules: Vec<String>,
    /// Names of bare parameters.
    parameters: Vec<String>,
    /// What the model's earlier names became; `None` where nothing is converted.
    converted: Option<Conversion>,
    /// Linear layers that transformers 4 makes of experts and router, by their names in a layer.
    earlier: Vec<String>,
    /// [`FUSED`] stands for two earlier layers, each with its rank.
    doubles_fused: bool,
    /// W + dW is one `baddbmm` of the factors (peft 0.21, tuners/lora/layer.py `_LoraFactorsProxy`), and not the sum of the
    /// weight and an update of its size.
    pub(crate) folds_factors: bool,
}

impl AdapterTargets {
    pub(crate) fn of(plan: &Plan, model: &Model) -> Self {
        if plan.method == Method::Full {
            return Self::default();
        }
        let lora = &plan.lora;
        let all_linear = lora.target_modules == TargetModules::AllLinear;
        // Lists are converted since 0.19, "all-linear" since 0.20.
        let since = if all_linear { Release::new(0, 20, 0) } else { Release::new(0, 19, 0) };
        let converted = conversion(model).filter(|_| stacks_experts(plan) && peft_is_since(plan, since));
        let mut targets = Self {
            all_linear,
            parameters: lora.target_parameters.clone(),
            converted,
            earlier: if stacks_experts(plan) { Vec::new() } else { earlier_layers(model) },
            folds_factors: peft_is_since(plan, Release::new(0, 21, 0)),
            ..Self::default()
        };
        if let TargetModules::Names(names) = &lora.target_modules {
            targets.modules = names.iter().filter(|name| targets.leaves_linear(name)).cloned().collect();
        }
        let asked = |old: &str| match &lora.target_modules {
            TargetModules::AllLinear => true,
            TargetModules::Names(names) => names.iter().any(|name| names_module(old, name)),
        };
        let fused = converted.into_iter().flatten().filter(|(old, new)| *new == FUSED && asked(old)).count();
        targets.doubles_fused = fused == 2;
        for (_, new) in converted.into_iter().flatten().filter(|(old, _)| asked(old)) {
            if !targets.parameters.iter().any(|name| name == new) {
                targets.parameters.push((*new).to_owned());
            }
        }
        targets
    }

    /// The parameter that a target's name stands for now.
    fn now(&self, name: &str) -> Option<&'static str> {
        self.converted.into_iter().flatten().find(|(old, _)| names_module(old, name)).map(|(_, new)| *new)
    }

    /// Whether a linear module called `name` is a target all the same. A router that still is one (Arcee's AFMoE) keeps its adapter: its
    /// earlier name stands for its own weight. peft adds the product of the factors to that weight before it is read; here it is a
    /// linear layer's adapter, of the same parameters.
    fn leaves_linear(&self, name: &str) -> bool {
        self.now(name).is_none_or(|now| now == ROUTER)
    }

    /// Whether the linear module called `name` gets an adapter; "all-linear" leaves out what is `outside` the layers.
    pub(crate) fn has_module(&self, name: &str, outside: bool) -> bool {
        (self.all_linear && !outside && self.leaves_linear(name))
            || self.modules.iter().any(|target| names_module(target, name))
    }

    /// The rank of the adapter on each slice of `module`'s parameter `name`, where `r` is the plan's.
    pub(crate) fn rank_on(&self, module: &Module, name: &str, sizes: &[u64], r: u64) -> Option<u64> {
        let adaptable = match module.role {
            Role::RoutedExperts => sizes.len() == 3,
            Role::Router => sizes.len() == 2,
            _ => false,
        };
        if self.parameters.is_empty() || !adaptable {
            return None;
        }
        let whole = [module.name.as_str(), ".", name].concat();
        let named = self.parameters.iter().any(|target| names_module(target, &whole));
        named.then(|| if self.doubles_fused && name == FUSED { r.saturating_mul(2) } else { r })
    }

    /// Whether peft makes something of the name `name` in a list of targets, beside linear modules.
    pub(super) fn converts(&self, name: &str) -> bool {
        self.now(name).is_some() || self.earlier.iter().any(|layer| names_module(name, layer))
    }
}

/// Names of the linear layers that transformers 4 makes of experts and router.
fn earlier_layers(model: &Model) -> Vec<String> {
    let Some(EarlierExperts::Linear(linear)) = model.behaviour.earlier_experts else { return Vec::new() };
    let mut names = Vec::new();
    for module in model.layer_kinds().flat_map(|(layer, _)| &layer.modules) {
        match module.role {
            Role::RoutedExperts => names.extend(linear.names.map(|name| [module.name.as_str(), ".", name].concat())),
            Role::Router if linear.routes_linearly => names.push(module.name.clone()),
            _ => {}
        }
    }
    names
}

fn adapts_all_linear(plan: &Plan) -> bool {
    plan.method != Method::Full && plan.lora.target_modules == TargetModules::AllLinear
}

/// Whether every class stacks its routed experts in bare parameters: since transformers 5.
pub(crate) fn stacks_experts(plan: &Plan) -> bool {
    plan.transformers_release().is_none_or(|release| !release.is_before(5, 0))
}

/// Whether peft is at `release` or later: as the plan says, or the version that the trainer's measured release runs with;
/// otherwise the newest.
fn peft_is_since(plan: &Plan, release: Release) -> bool {
    let given = plan.software.peft.as_deref().and_then(Release::parse);
    let shipped = match plan.trainer.name {
        _ if !stacks_experts(plan) => Some(Release::new(0, 18, 1)),
        // Its requirements.txt: peft<=0.18.1.
        TrainerName::LlamaFactory => Some(Release::new(0, 18, 1)),
        TrainerName::MsSwift | TrainerName::Axolotl => Some(Release::new(0, 20, 0)),
        _ => None,
    };
    given.or(shipped).is_none_or(|found| found >= release)
}

/// What peft refuses of the targets, and names of parameters that the model does not have.
pub(super) fn problems(plan: &Plan, model: &Model) -> Vec<Problem> {
    let targets = AdapterTargets::of(plan, model);
    let known = || {
        let modules = model.layer_kinds().flat_map(|(layer, _)| &layer.modules);
        modules.flat_map(parameters).map(|(module, name, sizes)| (module, name, sizes.as_slice()))
    };
    let mut problems: Vec<Problem> = Vec::new();
    for name in &plan.lora.target_parameters {
        let alone = AdapterTargets { parameters: vec![name.clone()], ..AdapterTargets::default() };
        if !known().any(|(module, parameter, sizes)| alone.rank_on(module, parameter, sizes, 1).is_some()) {
            let mut names: Vec<String> = Vec::new();
            for (module, parameter, _) in known() {
                let whole = [module.name.as_str(), ".", parameter].concat();
                if !names.contains(&whole) {
                    names.push(whole);
                }
            }
            let kind = ProblemKind::NoSuchModule { name: name.clone(), known: names };
            problems.push(Problem::new("lora.target_parameters", kind));
        }
    }
    let contradiction = |field: &str, other: &str, fix: &str| {
        Problem::new(field, ProblemKind::Contradiction { other: other.to_owned(), fix: fix.to_owned() })
    };
    // tuners/lora/layer.py `ParamWrapper.update_layer`: dropout cannot be taken out of a weight.
    let adapts_parameters = known().any(|(module, name, sizes)| targets.rank_on(module, name, sizes, 1).is_some());
    if adapts_parameters && plan.lora.lora_dropout > 0.0 {
        let other = if plan.lora.target_parameters.is_empty() { "target_modules" } else { "target_parameters" };
        problems.push(contradiction("lora.lora_dropout", &["lora.", other].concat(), "0"));
    }
    // A class that transformers 4 lacked had code of its own, which mostly made linear layers of its experts: quantised one by
    // one, and found by "all-linear".
    let is_unknown = !stacks_experts(plan) && model.behaviour.earlier_experts.is_none();
    let has_experts = is_unknown && known().any(|(module, ..)| module.role == Role::RoutedExperts);
    let meets_them = plan.method == Method::Qlora || adapts_all_linear(plan);
    if has_experts && meets_them && plan.task != Task::Inference {
        let (field, newest) = match plan.trainer.name {
            TrainerName::Trl | TrainerName::Transformers if plan.software.transformers.is_none() => {
                ("trainer.version", plan.trainer.name.measured().last())
            }
            _ => ("software.transformers", TrainerName::Transformers.measured().last()),
        };
        problems.push(contradiction(field, "model", &newest.map(Release::to_string).unwrap_or_default()));
    }
    if plan.quantizes_stacked_experts() && known().any(|(module, ..)| module.role == Role::RoutedExperts) {
        problems.extend(quantized_experts(plan, model));
    }
    if breaks_all_linear(plan, model) {
        problems.push(contradiction("lora.target_modules", "software.peft", &attention_module_names(model).join(",")));
    }
    if let TargetModules::Names(names) = &plan.lora.target_modules
        && let [first, second] = fused_names(targets.converted).as_slice()
    {
        let has = |old: &str| names.iter().any(|name| names_module(old, name));
        if has(first) != has(second) {
            // `Cannot convert PEFT target(s) ... because they are fused`.
            let missing = if has(first) { second } else { first };
            let fix = [names.join(",").as_str(), ",", missing].concat();
            problems.push(contradiction("lora.target_modules", "model", &fix));
        }
    }
    problems
}

/// What cannot be done with stacked experts that are quantised.
fn quantized_experts(plan: &Plan, model: &Model) -> Option<Problem> {
    const FIELD: &str = "quantization.quantize_moe_experts";
    if plan.quantization.bits == 8 {
        // Each forward makes fp32 numbers of them (axolotl monkeypatch/moe_quant.py `Bnb8bitParametrization`).
        let kind =
            ProblemKind::NotModelled { value: "true, 8 bits".to_owned(), modelled: vec!["true, 4 bits", "false"] };
        return Some(Problem::new(FIELD, kind));
    }
    if plan.trainer.name == TrainerName::Axolotl && adapts_all_linear(plan) {
        // utils/schemas/config.py `check_quantize_moe_experts`.
        let fix = attention_module_names(model).join(",");
        let kind = ProblemKind::Contradiction { other: FIELD.to_owned(), fix };
        return Some(Problem::new("lora.target_modules", kind));
    }
    None
}

/// peft 0.19 takes the text "all-linear" for a set of letters where it converts names, and finds no such modules.
fn breaks_all_linear(plan: &Plan, model: &Model) -> bool {
    adapts_all_linear(plan)
        && conversion(model).is_some()
        && stacks_experts(plan)
        && peft_is_since(plan, Release::new(0, 19, 0))
        && !peft_is_since(plan, Release::new(0, 20, 0))
}

/// The earlier names of the layers that are fused now.
fn fused_names(converted: Option<Conversion>) -> Vec<&'static str> {
    converted.into_iter().flatten().filter(|(_, new)| *new == FUSED).map(|(old, _)| *old).collect()
}

/// The bare parameters of a module that can have adapters: experts and routers.
fn parameters(module: &Module) -> impl Iterator<Item = (&Module, &str, &Vec<u64>)> {
    let shapes = match &module.kind {
        ModuleKind::Tensors { shapes } if matches!(module.role, Role::RoutedExperts | Role::Router) => {
            shapes.as_slice()
        }
        _ => &[],
    };
    shapes.iter().map(move |(name, sizes)| (module, name.as_str(), sizes))
}
