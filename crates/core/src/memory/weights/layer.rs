//! One layer's weights onto the tape.

use super::builder::{Builder, Place};
use super::modules::{BaseWeight, LayerWeights, Projection};
use crate::memory::autograd::{LayerTag, Sym, Tensor, dims};
use crate::memory::term::Term;
use crate::model::{Layer, Module, ModuleKind, QkNorm, Role};
use std::rc::Rc;

impl Builder<'_> {
    /// One layer, module by module.
    pub(super) fn layer(&mut self, layer: &Rc<Layer>, tag: LayerTag) -> LayerWeights {
        let mut weights = LayerWeights {
            layer: Rc::clone(layer),
            tag,
            projections: Vec::new(),
            norms: Vec::new(),
            experts: Vec::new(),
            sinks: None,
            _others: Vec::new(),
        };
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
                        Role::RoutedExperts => weights.experts.extend(tensors),
                        Role::Router => weights.projections.extend(self.router(module, tensors)),
                        _ => weights._others.extend(tensors),
                    }
                }
            }
        }
        weights
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
