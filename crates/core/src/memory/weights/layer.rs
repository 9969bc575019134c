//! One layer's weights onto the tape.

use super::builder::{Builder, Place};
use super::modules::{BaseWeight, LayerWeights, ParameterAdapter, Part, Projection};
use crate::memory::autograd::{LayerTag, Sym, Tensor, dims};
use crate::memory::term::Term;
use crate::model::{ExpertsForm, FeedForward, Layer, Module, ModuleKind, QkNorm, Recorded, Role};
use std::rc::Rc;
use std::sync::Arc;

impl Builder<'_> {
    /// One layer, module by module; `recorded`: the block that it runs, where its code is recorded.
    pub(super) fn layer(
        &mut self,
        layer: &Rc<Layer>,
        recorded: Option<(&Arc<Recorded>, usize)>,
        tag: LayerTag,
    ) -> LayerWeights {
        let mut weights = LayerWeights {
            layer: Rc::clone(layer),
            tag,
            projections: Vec::new(),
            norms: Vec::new(),
            experts: Vec::new(),
            expert_adapters: Vec::new(),
            router_adapter: None,
            sinks: None,
            _others: Vec::new(),
            recorded: None,
        };
        if let Some((of, block)) = recorded {
            let place = Place::Layer(tag);
            weights.recorded = Some(self.recorded(of, Part::Layer(block), (&layer.modules, Some(layer)), place));
            return weights;
        }
        for module in &layer.modules {
            match &module.kind {
                ModuleKind::Norm { .. } => {
                    let kind = match (module.role, layer.attention.qk_norm) {
                        (
                            Role::QueryNorm | Role::KeyNorm,
                            Some(QkNorm::PerHead(kind) | QkNorm::WholeProjection(kind)),
                        ) => kind,
                        _ => layer.norm,
                    };
                    weights.norms.push((module.role, self.norm(module, kind, tag)));
                }
                ModuleKind::Linear { .. } => {
                    let projection = self.projection(module, term_of(module.role), Place::Layer(tag));
                    weights.projections.extend(projection.map(|projection| (module.role, projection)));
                }
                ModuleKind::Embedding { rows, width } => {
                    let shape = dims(&[(Sym::TableRows, *rows), (Sym::Width, *width)]);
                    let tensor = self.parameter(Term::AttentionWeights, &module.name, shape, tag);
                    weights._others.push(tensor);
                }
                ModuleKind::Tensors { .. } => {
                    let term = if module.role == Role::Sinks { Term::AttentionWeights } else { Term::ExpertWeights };
                    let tensors = self.tensors(module, term, tag);
                    match module.role {
                        Role::Sinks => weights.sinks = tensors.into_iter().next(),
                        Role::RoutedExperts => {
                            weights.expert_adapters.extend(self.parameter_adapters(layer, module, tag));
                            weights.experts.extend(tensors);
                        }
                        Role::Router => {
                            weights.router_adapter =
                                self.parameter_adapters(layer, module, tag).into_iter().flatten().next();
                            weights.projections.extend(self.router(module, tensors));
                        }
                        _ => weights._others.extend(tensors),
                    }
                }
            }
        }
        weights
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

    /// A router held as a bare E x h parameter, perhaps with a bias of E, multiplies like a linear layer.
    fn router(&self, module: &Module, tensors: Vec<Tensor>) -> Option<(Role, Projection)> {
        let mut tensors = tensors.into_iter();
        let (weight, bias) = (tensors.next()?, tensors.next());
        let (d_in, d_out) = match weight.shape().sizes() {
            [rows, width] => (*width, *rows),
            _ => return None,
        };
        let weight = BaseWeight::Plain(weight);
        let name = module.name.clone();
        Some((Role::Router, Projection { name, d_in, d_out, sym: Sym::E, weight, bias, adapter: None }))
    }
}

/// What the weight of a layer's linear module counts as.
fn term_of(role: Role) -> Term {
    match role {
        Role::Gate | Role::Up | Role::GateUp | Role::Down => Term::FeedForwardWeights,
        Role::Router | Role::SharedGateProjection | Role::SharedUp | Role::SharedDown | Role::SharedExpertGate => {
            Term::ExpertWeights
        }
        _ => Term::AttentionWeights,
    }
}
