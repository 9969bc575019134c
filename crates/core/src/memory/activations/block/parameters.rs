//! Bare parameters of a recorded block as its operators read them: those with adapters, and those that a config lacks.

use super::super::super::autograd::{ElementType, Sym, Tensor, dims};
use super::super::super::term::Term;
use super::super::super::weights::{Bare, OwnerWeights, Packed};
use super::super::ForwardContext;
use super::super::merged_weight::Update;
use super::Runner;

/// Parametrizations of the module that runs. With an adapter, or in 4 bits, a parameter is built when it is first read, and kept until
/// the module has run (peft/tuners/lora/layer.py `ParamWrapper`, bitsandbytes nn/parametrize.py
/// `_enable_parametrization_cache`, `torch.nn.utils.parametrize.cached`).
#[derive(Default)]
pub(super) struct Parametrized<'a> {
    /// Module that the parametrizations are of.
    module: Option<usize>,
    /// By place.
    updates: Vec<(usize, Update<'a>)>,
    built: Vec<(usize, Tensor)>,
}

impl Runner<'_> {
    /// Registers the adapters of all of a module's bare parameters, which its wrappers do before it runs: the wrapper of the last
    /// parameter is the outermost.
    pub(super) fn parametrize(&mut self, module: usize) {
        if self.parametrized.module == Some(module) {
            return;
        }
        let (context, block) = (self.context, self.block);
        let mut updates = Vec::new();
        if let Some(OwnerWeights::Bare(own)) = block.owners.get(module) {
            for (place, own) in own.iter().enumerate().rev() {
                if let Some(bare) = own
                    && let Some(adapter) = &bare.adapter
                {
                    updates.push((place, Update::register(context, adapter, &unpacked(context, bare))));
                }
            }
        }
        self.parametrized = Parametrized { module: Some(module), updates, built: Vec::new() };
    }

    /// A bare parameter of module `module` at `place`.
    pub(super) fn bare(&mut self, (module, place): (usize, usize), bare: &Bare) -> Tensor {
        if bare.adapter.is_none() && bare.packed.is_none() {
            return bare.tensor.clone();
        }
        self.parametrize(module);
        let Parametrized { updates, built, .. } = &mut self.parametrized;
        if let Some((_, known)) = built.iter().find(|(other, _)| *other == place) {
            return known.clone();
        }
        let whole = unpacked(self.context, bare);
        let merged = match updates.iter().find(|(other, _)| *other == place) {
            Some((_, update)) => update.merge(self.context, &whole),
            None => whole,
        };
        built.push((place, merged.clone()));
        merged
    }

    /// Stands for a parameter that the config lacks, where a kernel takes it: a bias that is `None`.
    pub(super) fn absent(&self, module: usize, place: usize) -> Option<Tensor> {
        let parameter = self.block.block()?.modules.get(module)?.parameters.get(place)?;
        parameter.given_if.as_ref()?;
        let element = parameter.held.element(self.context.loaded);
        let nothing = Tensor::new(&self.context.tape, self.context.passing(), dims(&[(Sym::One, 0)]), element);
        Some(nothing.standing_for(self.sizes.shape(parameter.shape), element))
    }
}

/// A bare parameter's numbers: 4-bit ones are dequantised, their scales first where these are quantised as well
/// (functional.py `dequantize_4bit`).
fn unpacked(context: &ForwardContext, bare: &Bare) -> Tensor {
    let Some(Packed { name, nested_blocks, .. }) = &bare.packed else { return bare.tensor.clone() };
    let label = context.label(Term::DequantizedWeights, name);
    let scales = nested_blocks
        .map(|blocks| Tensor::new(&context.tape, label, dims(&[(Sym::WeightBlocks, blocks)]), ElementType::F32));
    let whole = Tensor::new(&context.tape, label, bare.tensor.shape(), bare.tensor.element());
    drop(scales);
    whole
}
