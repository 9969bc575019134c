//! Which GPU the run is on.

use headroom_core::gpu::{find, search};
use headroom_core::plan::TrainerName;
use serde_json::Value as Json;

use super::Resolver;
use crate::finding::{Finding, Kind};
use crate::trainers::Fact;

impl Resolver {
    /// Takes the GPU that the files name; one of which there are several with other memory is asked for.
    pub(super) fn gpu(&mut self) {
        let printed = self.flag(Fact::HasBf16).is_some_and(|(has, _)| !has);
        let named = self.text(Fact::Gpu).map(|(name, statement)| (search(&name).one(), statement));
        let is_older = |id| find(id).and_then(|gpu| gpu.compute_capability).is_some_and(|(major, _)| major < 8);
        if printed || matches!(named, Some((Some(id), _)) if is_older(id)) {
            self.without_bf16();
        }
        match named {
            Some((Some(id), statement)) => self.set("gpu", id, &statement),
            Some((None, _)) => self.missing.push("gpu"),
            None => {}
        }
    }

    /// GPUs before Ampere have no bf16: a script that asks computes in fp16 there, and so does Unsloth wherever nothing says otherwise
    /// (unsloth models/loader.py, models/rl.py).
    fn without_bf16(&mut self) {
        let asks = |found: &Finding| found.kind == Kind::AssumedBf16;
        let is_asked = self.gathered.draft.findings.iter().any(asks);
        self.gathered.draft.findings.retain(|found| !asks(found));
        let by_itself = self.named == TrainerName::Unsloth;
        for (field, wide, narrow) in [("mixed_precision", "bf16", "fp16"), ("torch_dtype", "bfloat16", "float16")] {
            let is_told = self.understood.iter().any(|told| told.field == field);
            let is_open = by_itself && !is_told && self.text_of(field).is_none_or(|value| value == wide);
            if is_open || is_asked && self.text_of(field) == Some(wide) {
                self.fields.insert(field, Json::from(narrow));
                let told = self.understood.iter_mut().filter(|told| told.field == field);
                told.for_each(|told| told.value = Json::from(narrow));
            }
        }
    }
}
