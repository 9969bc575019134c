//! Number formats that contradict each other, or that the GPU lacks.

use headroom_core::gpu;
use headroom_core::plan::{AttnImplementation, Dtype, GpuChoice, MixedPrecision};

use super::Linter;
use crate::finding::Kind;
use crate::import::{Rank, convert};
use crate::trainers::Fact;

impl Linter<'_> {
    pub(super) fn precision(&mut self) {
        let said = &self.imported.said;
        let on = |fact: Fact| said.fact(fact).filter(|statement| convert::flag(&statement.node) == Some(true)).cloned();
        let (bf16, fp16) = (on(Fact::Bf16), on(Fact::Fp16));
        if let (Some(_), Some(fp16)) = (&bf16, &fp16)
            && fp16.rank >= Rank::File
        {
            self.at(Kind::Fp16AndBf16, fp16, Some("false"), vec![("mixed_precision", "bf16".to_owned())]);
        }
        let deepspeed = [(Fact::DeepspeedBf16, &bf16, "bf16"), (Fact::DeepspeedFp16, &fp16, "fp16")];
        let differing: Vec<_> = deepspeed
            .into_iter()
            .filter_map(|(fact, trainer, name)| {
                let statement = on(fact)?;
                let other = self.plan.mixed_precision.name() != name;
                (trainer.is_none() && other).then_some((statement, name))
            })
            .collect();
        for (statement, name) in differing {
            let kind = Kind::DeepspeedMismatch { field: name, value: "true".to_owned(), trainer: "false".to_owned() };
            self.at(kind, &statement, Some("\"auto\""), Vec::new());
        }
        if self.names_gpu {
            self.of_the_gpu();
        }
    }

    /// What the chosen GPU does not have.
    fn of_the_gpu(&mut self) {
        let GpuChoice::Catalogue(id) = &self.plan.gpu else { return };
        let Ok(gpu) = gpu::resolve(id) else { return };
        let name = gpu.name.to_string();
        if !gpu.bf16 {
            let used = self.plan.mixed_precision == MixedPrecision::Bf16 || self.plan.torch_dtype == Dtype::Bfloat16;
            let statement =
                [Fact::Bf16, Fact::Precision, Fact::Dtype].into_iter().find_map(|fact| self.imported.said.fact(fact));
            if let Some(statement) = statement.cloned().filter(|_| used) {
                let fields = vec![("mixed_precision", "fp16".to_owned()), ("torch_dtype", "float16".to_owned())];
                self.at(Kind::Bf16Unsupported { gpu: name.clone() }, &statement, None, fields);
            }
        }
        let old = gpu.compute_capability.is_some_and(|(major, _)| major < 8);
        let flash = [Fact::Attention, Fact::FlashSwitch].into_iter().find_map(|fact| self.imported.said.fact(fact));
        if let Some(statement) =
            flash.cloned().filter(|_| old && self.plan.attn_implementation == AttnImplementation::FlashAttention2)
        {
            let text = if matches!(statement.node.value, crate::syntax::Value::Text(_)) {
                Some("sdpa")
            } else {
                Some("false")
            };
            self.at(
                Kind::FlashUnsupported { gpu: name },
                &statement,
                text,
                vec![("attn_implementation", "sdpa".to_owned())],
            );
        }
    }
}
