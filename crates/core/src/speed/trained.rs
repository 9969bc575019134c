//! How much trains: elements and tensors, of the base and of adapters.

use super::inputs::TimingInputs;
use crate::model::{Module, ModuleKind};
use crate::plan::Method;

/// What trains, and what each layer holds.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trained {
    /// Elements in the base's dtype.
    pub(super) base: f64,
    /// Elements of adapters.
    pub(super) adapters: f64,
    /// Tensors.
    pub(super) tensors: f64,
    /// Elements of matrices inside the layers: what GaLore, APOLLO and Muon treat as such.
    pub(super) matrices: f64,
    /// Bytes of all weights as they are held, in the dtype they are gathered in.
    pub(super) weight_bytes: f64,
    /// Elements of the largest layer.
    pub(super) layer: f64,
    /// Modules with parameters, all layers.
    pub(super) modules: f64,
}

impl Trained {
    pub(super) fn of(inputs: &TimingInputs) -> Self {
        let model = inputs.model;
        let mut all = Self::default();
        for (kind, count) in model.layer_kinds() {
            for module in &kind.modules {
                all.module(inputs, module, count as f64, false);
            }
            all.layer = all.layer.max(kind.param_count() as f64);
        }
        for module in model.embeddings.iter().chain(&model.final_modules).chain(&model.head) {
            all.module(inputs, module, 1.0, true);
        }
        if inputs.scores && inputs.training {
            all.base += (model.hidden_size * inputs.job.plan.num_labels) as f64;
            all.tensors += 1.0;
        }
        all
    }

    fn module(&mut self, inputs: &TimingInputs, module: &Module, count: f64, outside: bool) {
        let elements = module.kind.param_count() as f64 * count;
        let linear = matches!(module.kind, ModuleKind::Linear { .. });
        let held = match (inputs.quantizes(outside) && linear, inputs.bits) {
            (true, 8) => 1.0,
            // Half a byte and the share of a block's scale.
            (true, _) => 0.5625,
            (false, _) => inputs.weight,
        };
        self.weight_bytes += elements * held;
        self.modules += count;
        if inputs.trains_base(module) {
            self.base += elements;
            self.tensors += count;
            if linear && !outside && inputs.method == Method::Full {
                self.matrices += elements;
            }
        }
        if let ModuleKind::Linear { d_in, d_out, .. } = module.kind
            && inputs.adapts(module, outside)
        {
            self.adapters += (inputs.job.plan.lora.r * (d_in + d_out)) as f64 * count;
            self.tensors += 2.0 * count;
        }
        self.adapted_parameters(inputs, module, count);
    }

    /// Adapters on stacked experts and routers: each slice has its own (peft/tuners/lora/layer.py ParamWrapper).
    fn adapted_parameters(&mut self, inputs: &TimingInputs, module: &Module, count: f64) {
        let ModuleKind::Tensors { shapes } = &module.kind else { return };
        if !inputs.adapters || inputs.method == Method::Full {
            return;
        }
        for (name, sizes) in shapes {
            let Some(rank) = inputs.job.targets.rank_on(module, name, sizes, inputs.job.plan.lora.r) else { continue };
            let (slices, sides) = sizes.split_at(sizes.len().saturating_sub(2));
            let elements = rank * slices.iter().product::<u64>() * sides.iter().sum::<u64>();
            self.adapters += elements as f64 * count;
            self.tensors += 2.0 * count;
        }
    }

    pub(super) fn elements(&self) -> f64 {
        self.base + self.adapters
    }
}
