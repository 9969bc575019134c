//! One layer's weights onto the tape.

use super::builder::{Builder, Place};
use super::modules::{LayerWeights, ParameterAdapter, Part};
use crate::memory::autograd::{LayerTag, Sym, dims};
use crate::model::{ExpertsForm, FeedForward, Layer, Module, ModuleKind};
use std::rc::Rc;

impl Builder<'_> {
    /// One layer that runs block number `block` of its program.
    pub(super) fn layer(&mut self, layer: &Rc<Layer>, block: usize, tag: LayerTag) -> LayerWeights {
        let of = &self.job.model.recorded;
        let block = self.recorded(of, Part::Layer(block), (&layer.modules, Some(layer)), Place::Layer(tag));
        LayerWeights { layer: Rc::clone(layer), tag, block }
    }

    /// The adapter on each bare parameter of `module`, where it is a target.
    pub(super) fn parameter_adapters(
        &mut self,
        layer: &Layer,
        module: &Module,
        tag: LayerTag,
    ) -> Vec<Option<ParameterAdapter>> {
        let ModuleKind::Tensors { shapes } = &module.kind else { return Vec::new() };
        let is_transposed =
            matches!(&layer.feed_forward, FeedForward::Experts(experts) if experts.form == ExpertsForm::ChoiceFirst);
        let (adapts, plan) = (self.adapts(), &self.job.plan);
        let adapter = |(name, sizes): &(String, Vec<u64>)| {
            let r = self.job.targets.rank_on(module, name, sizes, plan.lora.r).filter(|_| adapts)?;
            let (slices, stacked, is_transposed, sides) = match sizes.as_slice() {
                [slices, rows, columns] => (*slices, *slices > 1, is_transposed, (*rows, *columns)),
                [rows, columns] => (1, false, false, (*rows, *columns)),
                _ => return None,
            };
            let (d_in, d_out) = if is_transposed { sides } else { (sides.1, sides.0) };
            let ranks = (Sym::ExpertRanks, r.saturating_mul(slices));
            let shapes = [dims(&[ranks, (Sym::DIn, d_in)]), dims(&[(Sym::DOut, d_out), ranks])];
            let name = [module.name.as_str(), ".", name].concat();
            let [a, b] = self.adapter_matrices(shapes, &name, tag);
            let folds_factors = self.job.targets.folds_factors;
            let is_scaled = plan.lora.lora_alpha != plan.lora.r as f64;
            Some(ParameterAdapter { name, a, b, d_in, stacked, is_transposed, folds_factors, is_scaled })
        };
        shapes.iter().map(adapter).collect()
    }
}
