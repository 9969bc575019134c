//! Routed experts that are held otherwise than their program has them: in 4 bits, or as the linear layers of transformers 4.

use super::builder::{Builder, Place};
use super::linear::Linear;
use super::modules::{Bare, BaseWeight, Expert, OwnerWeights, Packed};
use crate::job::HeldExperts;
use crate::memory::autograd::{ElementType, LayerTag, Shape, Sym, Tensor, dims};
use crate::memory::term::Term;
use crate::model::{Module, ModuleKind, Role};

impl Builder<'_> {
    /// The linear layers that transformers 4 makes of `module`, where that is a mixture's experts or its router.
    pub(super) fn earlier_form(
        &mut self,
        module: &Module,
        element: ElementType,
        term: Term,
        place: Place,
    ) -> Option<OwnerWeights> {
        let HeldExperts::Linear(linear) = self.job.experts else { return None };
        let ModuleKind::Tensors { shapes } = &module.kind else { return None };
        match (module.role, shapes.as_slice()) {
            (Role::RoutedExperts, [_, (_, sizes)]) => {
                let [experts @ ..=MOST_EXPERTS, hidden, inner] = *sizes.as_slice() else { return None };
                let mut layer = |i: usize, role, (d_in, d_out)| {
                    let name = [module.name.as_str(), ".", linear.names.get(i)?].concat();
                    let kind = ModuleKind::Linear { d_in, d_out, bias: false, conv1d: false, tied: false };
                    self.projection_in(element, &Module { name, role, kind, ..module.clone() }, term, place)
                };
                let mut expert = |_| {
                    let gate = layer(0, Role::Gate, (hidden, inner))?;
                    let up = layer(1, Role::Up, (hidden, inner))?;
                    Some(Expert { gate, up, down: layer(2, Role::Down, (inner, hidden))? })
                };
                (0..experts).map(&mut expert).collect::<Option<_>>().map(OwnerWeights::Experts)
            }
            (Role::Router, [(_, sizes)]) if linear.routes_linearly => {
                let [d_out, d_in] = *sizes.as_slice() else { return None };
                let kind = ModuleKind::Linear { d_in, d_out, bias: false, conv1d: false, tied: false };
                let router = Module { kind, ..module.clone() };
                let projection = self.projection_in(element, &router, term, place)?;
                Some(OwnerWeights::Linear(Box::new(projection)))
            }
            _ => None,
        }
    }

    /// A stacked parameter in 4 bits, one set of scales for all experts.
    pub(super) fn packed_parameter(&mut self, name: &str, shape: Shape, tag: LayerTag) -> Bare {
        let (d_out, d_in) = (shape.rows().elements(), shape.width());
        let elements = shape.elements().saturating_mul(tag.repeat);
        self.built.counts.base = self.built.counts.base.saturating_add(elements);
        let linear = Linear { name, d_in, d_out, sym: Sym::DOut, bias: false };
        let weight = self.quantized(&linear, tag);
        let label = self.weight_label(Term::QuantizedWeights, name);
        let nothing = Tensor::new(self.tape, label, dims(&[(Sym::One, 0)]), ElementType::Half);
        let nested = matches!(weight, BaseWeight::FourBit { nested: true, .. });
        let nested_blocks = nested.then(|| shape.elements().div_ceil(BLOCK));
        let packed = Some(Packed { name: name.to_owned(), nested_blocks, weight });
        Bare { tensor: nothing.standing_for(shape, ElementType::Half), packed, adapter: None }
    }
}

/// Most experts of a layer that are built one by one: no config keeps the page busy for longer. Published ones have up to 512.
const MOST_EXPERTS: u64 = 4096;

/// Numbers with one scale (bitsandbytes functional.py `quantize_4bit`).
const BLOCK: u64 = 64;
