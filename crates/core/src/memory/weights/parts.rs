//! Parts of a model one after the other, as a class builds them: a program lists what stands before, in and behind the layers
//! by when it runs.

use super::builder::Builder;
use crate::memory::autograd::Extent;
use crate::model::{ModelPart, Module};

/// How much was on the tape and in the lists when a module of a part began.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartStart {
    part: ModelPart,
    events: usize,
    parameters: usize,
    quantized: usize,
    trainable: usize,
}

/// Towers are built before what brings their features to the text, and that before the text (transformers
/// modeling_qwen3_omni_moe.py `Qwen3OmniMoeThinkerModel.__init__`, modeling_llava.py `LlavaModel.__init__`). Llama 3.2 Vision and
/// Gemma 4 build the layer or two that bring features to the text, and Gemma 4 its audio tower, behind the text: no measured step
/// is nearer for it.
const BUILT: [ModelPart; 4] =
    [ModelPart::AudioTower, ModelPart::VisionTower, ModelPart::MultiModalProjector, ModelPart::LanguageModel];

impl Builder<'_> {
    /// What comes from here on belongs to `module`, or to the text.
    pub(super) fn begin(&mut self, module: Option<&Module>) {
        let part = module.map(|module| module.part).unwrap_or_default();
        self.part = part;
        self.stays = module.map_or_else(|| self.job.freezes_part(part), |module| self.job.freezes(module));
        self.parts.push(PartStart {
            part,
            events: self.tape.events_so_far(),
            parameters: self.built.parameters.len(),
            quantized: self.built.quantized.len(),
            trainable: self.built.trainable.len(),
        });
    }

    /// What comes from here on is the text's, and belongs to no module that the class has.
    pub(super) fn leave(&mut self) {
        self.part = ModelPart::default();
        self.stays = self.job.freezes_part(self.part);
    }

    /// Brings everything into the order in which the class builds it, and optimizers meet it; `start`: the first event of the
    /// model. A replay alone goes by it.
    pub(super) fn put_parts_in_order(&mut self, start: usize) {
        let mut parts = std::mem::take(&mut self.parts);
        if self.tape.extent != Extent::Whole || parts.iter().all(|one| one.part == ModelPart::LanguageModel) {
            return;
        }
        parts.iter_mut().for_each(|one| one.events = one.events.saturating_sub(start));
        self.tape.rewrite(start, |_, events, _| in_order(events, &parts, |one| one.events));
        let built = &mut self.built;
        built.parameters = in_order(std::mem::take(&mut built.parameters), &parts, |one| one.parameters);
        built.quantized = in_order(std::mem::take(&mut built.quantized), &parts, |one| one.quantized);
        built.trainable = in_order(std::mem::take(&mut built.trainable), &parts, |one| one.trainable);
    }
}

/// `items` part by part; `first`: which of them is the first that came after a module began.
fn in_order<T>(items: Vec<T>, parts: &[PartStart], first: fn(&PartStart) -> usize) -> Vec<T> {
    let mut built = BUILT.map(|_| Vec::new());
    for (i, item) in items.into_iter().enumerate() {
        if let Some(part) = built.get_mut(turn(i, parts, first)) {
            part.push(item);
        }
    }
    let [mut all, vision, projector, text] = built;
    [vision, projector, text].into_iter().for_each(|part| all.extend(part));
    all
}

/// When the part is built that an item is of: a place in [`BUILT`].
fn turn(item: usize, parts: &[PartStart], first: fn(&PartStart) -> usize) -> usize {
    let began = parts.partition_point(|one| first(one) <= item);
    let part = began.checked_sub(1).and_then(|last| parts.get(last)).map(|one| one.part).unwrap_or_default();
    BUILT.iter().position(|built| *built == part).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{ModelPart, PartStart, in_order};

    #[test]
    fn what_sees_stands_before_what_reads() {
        use ModelPart::{AudioTower, LanguageModel, MultiModalProjector, VisionTower};
        let starts =
            [(LanguageModel, 1), (VisionTower, 2), (LanguageModel, 4), (MultiModalProjector, 5), (AudioTower, 6)];
        let start = |(part, events)| PartStart { part, events, parameters: 0, quantized: 0, trainable: 0 };
        let parts = starts.map(start);
        // What came before the first module is the text's; the order within a part stays.
        assert_eq!(in_order((0..8).collect(), &parts, |one| one.events), [6, 7, 2, 3, 5, 0, 1, 4]);
        assert_eq!(in_order(vec![0, 1], &[], |one| one.events), [0, 1]);
    }
}
