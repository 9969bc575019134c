//! Which GPU the run is on.

use headroom_core::gpu::{find, search};
use serde_json::Value as Json;

use super::Resolver;
use crate::finding::{Finding, Kind};
use crate::trainers::Fact;

impl Resolver {
    /// Takes the GPU that the files name; one of which there are several with other memory is asked for.
    pub(super) fn gpu(&mut self) {
        let Some((name, statement)) = self.text(Fact::Gpu) else { return };
        match search(&name).one() {
            Some(id) => {
                self.set("gpu", id, &statement);
                self.without_bf16(id);
            }
            None => self.missing.push("gpu"),
        }
    }

    /// A script that asks whether the GPU has bf16 is answered by the GPU that the files name: those before Ampere compute in fp16.
    fn without_bf16(&mut self, id: &str) {
        let asks = |found: &Finding| found.kind == Kind::AssumedBf16;
        let is_older = find(id).and_then(|gpu| gpu.compute_capability).is_some_and(|(major, _)| major < 8);
        if !is_older || !self.gathered.draft.findings.iter().any(asks) {
            return;
        }
        self.gathered.draft.findings.retain(|found| !asks(found));
        for (field, wide, narrow) in [("mixed_precision", "bf16", "fp16"), ("torch_dtype", "bfloat16", "float16")] {
            if self.text_of(field) == Some(wide) {
                self.fields.insert(field, Json::from(narrow));
                let told = self.understood.iter_mut().filter(|told| told.field == field);
                told.for_each(|told| told.value = Json::from(narrow));
            }
        }
    }
}
